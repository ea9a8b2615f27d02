//! Exact arithmetic on bit patterns: formats, rounding, and operations that round once in any direction.
//!
//! Nothing here knows of registers or instructions. PTX ISA 9.7.3-9.7.5 and 9.7.9.22 (`cvt`) say what is wanted.

pub mod exact;
pub mod format;
pub mod int;
pub mod op;

pub use format::{Format, Overflow, Round};
