//! What reads a row of the instruction table.

#[path = "../src/machine/table/row.rs"]
pub mod row;
