//! What pure operations compute, element by element, by the interpreter's own arithmetic.
//!
//! Constant folding and the soundness check of rules use these. Elements are bits in the low end of
//! a `u64`, of a [`Scalar`] type.

mod special;
mod undefined;

use smallvec::SmallVec;

use crate::dialect::resolve::{Attributes, Given};
use crate::dialect::{OpKind, Traits};
use crate::facts::{Facts, Leaf};
use crate::ir::{Type, TypeId, Types};
pub use crate::scalar::Element as Scalar;
use undefined::undefined;

/// The element type of `ty`, if arithmetic is defined on it.
pub fn element_type(types: &Types, ty: TypeId) -> Option<Scalar> {
    Some(match types.get(types.elem(ty)) {
        Type::Int(bits) => Scalar::Int(*bits),
        Type::Float(float) => Scalar::Float(*float),
        Type::Ptr { pointee, .. } => match types.bits(*pointee)? {
            1 => Scalar::Ptr(8),
            bits => Scalar::Ptr(bits),
        },
        Type::SharedPtr => Scalar::Shared,
        _ => return None,
    })
}

/// A typed element.
pub type Element = (u64, Scalar);

/// What an operation makes of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Value(u64),
    /// The dialect leaves the result open.
    Undefined,
    /// There is no semantics here for the operation on these types.
    Unknown,
}

impl From<Option<u64>> for Outcome {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Outcome::Unknown, Outcome::Value)
    }
}

/// Attributes of an operation by position.
#[derive(Clone, Copy)]
pub struct Attrs<'a>(pub &'a dyn Fn(usize) -> Leaf);

/// One element of the result of `kind`.
pub fn eval(kind: OpKind, attrs: Attrs, args: &[Element], result: Scalar) -> Outcome {
    let row = kind.def();
    let Some(meaning) = row.meaning else {
        return special::eval(kind, attrs, args).into();
    };
    let value = |i| Given::from((attrs.0)(i));
    let attributes = Attributes { row, value: &value };
    let (bits, types): (SmallVec<[u64; 3]>, SmallVec<[Scalar; 3]>) = args.iter().copied().unzip();
    let Ok(function) = meaning.function(attributes, &types, result) else {
        return Outcome::Unknown;
    };
    if undefined(kind.dialect, attributes, function, &bits) {
        return Outcome::Undefined;
    }
    function.element(&bits).into()
}

impl From<Leaf> for Given {
    fn from(leaf: Leaf) -> Given {
        match leaf {
            Leaf::Absent => Given::Absent,
            Leaf::Unit => Given::Unit,
            Leaf::Enum(case) => Given::Case(case),
            _ => Given::Other,
        }
    }
}

/// The constant that an elementwise operation of constants is.
pub fn fold(
    types: &Types,
    kind: OpKind,
    leaf: &dyn Fn(usize) -> Leaf,
    operands: &[(&Facts, TypeId)],
    result: TypeId,
) -> Option<u64> {
    if !kind.def().traits.has(Traits::ELEMENTWISE) || operands.is_empty() {
        return None;
    }
    let result = element_type(types, result)?;
    let args: Option<SmallVec<[Element; 3]>> = operands
        .iter()
        .map(|(facts, ty)| Some((facts.constant?, element_type(types, *ty)?)))
        .collect();
    match eval(kind, Attrs(leaf), &args?, result) {
        Outcome::Value(bits) => Some(bits),
        _ => None,
    }
}
