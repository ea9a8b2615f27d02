//! What rules and instructions ask of a target.

#[path = "../src/target/feature.rs"]
mod feature;
#[path = "../src/target/name.rs"]
mod name;

pub use feature::Feature;
pub use name::PtxVersion;
