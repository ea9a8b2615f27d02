//! What rules ask of a target.

#[path = "../src/target/feature.rs"]
mod feature;

pub use feature::Feature;
