//! What pure operations compute, element by element, by the interpreter's own arithmetic.

use crate::dialect::OpKind;
use crate::egraph::facts::{Facts, Leaf};
use crate::ir::{TypeId, Types};

/// The constant that an operation of constants is, if its arithmetic is exact.
pub fn fold(
    _types: &Types,
    _kind: OpKind,
    _leaf: &dyn Fn(usize) -> Leaf,
    _operands: &[(&Facts, TypeId)],
    _result: TypeId,
) -> Option<u64> {
    None
}
