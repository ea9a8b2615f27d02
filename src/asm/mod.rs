//! The text of modules.
//!
//! Every dialect has MLIR's generic form (`%1 = "cuda_tile.addi"(%a, %b) <{…}> : (…) -> …`,
//! [`print_generic`]). cuda_tile has an assembly form besides ([`print_pretty`]), declared per
//! operation in `pretty::formats`.

mod attrs;
mod float;
mod generic;
mod parse;
mod pretty;
mod types;
mod writer;

pub use generic::{print_generic, print_op_generic};
pub use parse::{parse, parse_file};
pub use pretty::print_pretty;
pub use types::{TypeText, simple_type_name, type_text};
