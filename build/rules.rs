//! The rule language.

#[path = "../src/rules/expand.rs"]
mod expand;
#[path = "../src/rules/group.rs"]
pub mod group;
#[path = "../src/rules/lower/mod.rs"]
mod lower;
#[path = "../src/rules/names.rs"]
mod names;
#[path = "../src/rules/parse.rs"]
mod parse;
