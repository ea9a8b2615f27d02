//! The machine: PTX instructions as data, and functions made of them.
//!
//! [`class`] names kinds of registers; [`table`] is `isel/ptx.insn`, what each instruction is, as [`rows`]; [`mir`] is a
//! function of such instructions on virtual registers; [`dump`] shows it. [`crate::isel`] chooses the instructions,
//! [`crate::ptx`] writes their text.

pub mod class;
pub mod dump;
pub mod mir;
pub mod rows;
pub mod table;
