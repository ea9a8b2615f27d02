//! The text of modules.
//!
//! Every dialect has MLIR's generic form (`%1 = "cuda_tile.addi"(%a, %b) <{…}> : (…) -> …`,
//! [`print_generic`]).

mod attrs;
mod float;
mod generic;
mod types;
mod writer;

pub use generic::{print_generic, print_op_generic};
pub use types::{TypeText, type_text};
