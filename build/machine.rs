//! The instruction table.

#[path = "../src/machine/class.rs"]
pub mod class;
#[path = "../src/machine/rows.rs"]
pub mod rows;
#[path = "table.rs"]
pub mod table;
