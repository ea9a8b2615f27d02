//! What rules are once read.

#[path = "../src/egraph/head.rs"]
pub mod head;
#[path = "../src/egraph/rule.rs"]
pub mod rule;
