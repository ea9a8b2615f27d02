//! The cuda_tile assembly form, as `tileirdisasm` prints it.

mod formats;
mod print;

pub use print::print_pretty;
