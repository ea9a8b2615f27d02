//! The reference interpreter of `cuda_tile`: what a kernel's right answer is.
//!
//! An entry (`program`) is decoded once (`decode`) into a tree of steps (`code`): operations with their
//! types resolved and their arithmetic chosen. A grid then runs its blocks over the cores (`grid`), each
//! a `machine::Machine` walking the tree; memory is shared and atomic ([`memory`]).
//!
//! | operations | module |
//! |---|---|
//! | arithmetic, comparisons, conversions, `select`, `iota`, `constant` | `elementwise` |
//! | `reshape`, `broadcast`, `permute`, `cat`, `extract`, `insert`, `pack`, `unpack` | `shape` |
//! | `mmaf`, `mmaf_scaled`, `mmai` | `mma` |
//! | `reduce`, `scan` | `fold` |
//! | views, their loads, stores and reductions | `views`, `selection` |
//! | pointer loads, stores, atomics, `alloca`, globals | `pointers` |
//! | `assume`, `assert`, `print_tko`, block coordinates, tokens | `misc` |
//! | `for`, `loop`, `if` and terminators | `code`, `machine` |
//!
//! Arithmetic is that of [`crate::scalar`]: rounded once. Matrix products accumulate in `f64`
//! (`i64` for integers) and round once per operation. Where Tile IR leaves a value undefined the
//! result is what [`crate::scalar`] documents, and 0 for elements that were not loaded. What
//! would be undefined behaviour and can be seen is an error: accesses outside buffers or to
//! misaligned addresses, false assumptions, failed assertions, slices that do not exist, steps
//! that are not positive.

mod code;
mod context;
mod decode;
mod elementwise;
mod fold;
mod grid;
mod machine;
pub mod memory;
mod misc;
mod mma;
mod operation;
mod pointers;
mod print;
mod program;
mod selection;
mod shape;
pub mod types;
mod value;
mod views;

#[cfg(test)]
mod tests;

pub use grid::Hooks;
pub use memory::Memory;
pub use program::{Argument, Launch, Program};
pub use types::Elem;
