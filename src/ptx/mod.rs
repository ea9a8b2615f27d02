//! PTX text of machine functions.

mod text;

pub use text::{Text, constant, write};
