//! The selection tables.

#[path = "../src/isel/table/mod.rs"]
pub mod table;
