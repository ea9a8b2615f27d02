//! What attributes are in rules.

#[allow(dead_code)]
#[path = "../src/facts/leaf.rs"]
mod leaf;

pub use leaf::Leaf;
