//! The text of modules.
//!
//! Every dialect has MLIR's generic form (`%1 = "cuda_tile.addi"(%a, %b) <{…}> : (…) -> …`,
//! [`print_generic`]). cuda_tile has an assembly form besides ([`print_pretty`]), declared per
//! operation in `pretty::formats`.

mod attrs;
mod float;
mod generic;
mod inline;
mod layouts;
mod locations;
mod parse;
mod pretty;
mod quote;
mod types;
mod writer;

pub use generic::{print_generic, print_op_generic};
pub use inline::debug_info;
pub use parse::{diagnose, parse, parse_file};
pub use pretty::{print_disassembly, print_pretty};
pub use types::{TypeText, simple_type_name, type_text};

use crate::ir::{LocId, Module};

/// The two forms of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The cuda_tile assembly form.
    Pretty,
    /// MLIR's generic form.
    Generic,
}

/// The module's text, and for each line the location of the operation that begins or ends there.
pub fn print_with_places(module: &Module, form: Form) -> (String, Vec<LocId>) {
    match form {
        Form::Pretty => pretty::print_with_places(module),
        Form::Generic => generic::write(module, writer::Writer::new(module)).finish_with_places(),
    }
}

/// The module with its locations and debug info, which [`print_pretty`] and [`print_generic`]
/// leave out.
pub fn print_with_debug_info(module: &Module, form: Form) -> String {
    match form {
        Form::Pretty => pretty::print(module, true),
        Form::Generic => generic::print(module, true),
    }
}
