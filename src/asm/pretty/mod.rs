//! The cuda_tile assembly form, as `tileirdisasm` prints it.

pub(super) mod formats;
mod names;
mod print;

pub use print::{print, print_disassembly, print_pretty, print_with_places};
