//! PTX text of machine functions.

mod lines;
mod text;

pub use lines::{Debug, Lines};
pub use text::{Text, constant, immediate, write};
