//! Exact scalar arithmetic on bit patterns, for every element type of Tile IR.
//!
//! A value is its bit pattern in the low bits of a `u64`; its type is a width ([`int`]) or a
//! [`FloatFormat`]. Nothing here knows the IR: the interpreter and the soundness harness of the
//! rewrite rules share this arithmetic, so what a rule is checked against is what runs.
//!
//! | module | subject |
//! |---|---|
//! | [`int`] | two's complement arithmetic of any width up to 64 |
//! | [`mod@format`] | the float formats as a table; bits to exact value and back, every rounding |
//! | [`exact`] | sum, product, quotient, root and fused product-sum of exact values |
//! | [`float`] | IEEE operations on bit patterns: special values, flushing, minimum, comparison |
//! | [`math`] | elementary functions |
//! | [`convert`] | float to float, float to integer, integer to float |
//! | [`element`] | element types |
//! | [`lanes`] | arrays of patterns at their storage width, one value repeated or many |
//! | [`vector`] | the operations above over arrays, native where that is exact |
//! | [`function`] | one operation with its types and modes, computed on an element or on arrays |
//!
//! Every float operation rounds once: [`exact`] carries enough bits and a sticky bit, so a result
//! is the correctly rounded one in each of the five directions.

pub mod convert;
pub mod element;
pub mod exact;
pub mod float;
pub mod format;
pub mod function;
pub mod int;
pub mod lanes;
pub mod math;
pub mod vector;

#[cfg(test)]
mod tests;

pub use element::Element;
pub use exact::Exact;
pub use float::{Compare, FloatBinary, FloatMode, FloatUnary, Ordering};
pub use format::{FloatFormat, Overflow, Rounding, Unpacked};
pub use function::Function;
pub use int::{IntBinary, IntUnary, Signedness};
pub use lanes::Lanes;
pub use math::{MathBinary, MathUnary};
