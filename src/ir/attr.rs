//! Attribute values. Which attributes an operation has, and in which order, is in its table entry.

use super::{Name, TypeId};

/// A value of an enumeration declared in [`crate::dialect`]: the enumeration is known from the
/// operation's table entry, so only the index of the case is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EnumAttr(pub u8);

/// Constant data of a tile or global: raw little-endian elements, or strings.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Dense {
    /// Element bytes in row-major order. One element alone means a splat over the type's shape.
    /// Elements take whole bytes: i1 is a byte 0 or 1, i4 and f4 the low bits of a byte, tf32 the
    /// four bytes of its f32 pattern.
    Bytes(Vec<u8>),
    Strings(Vec<Name>),
}

/// What `cuda_tile.assume` promises.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AssumePredicate {
    /// Divisible by `divisor`; `every`/`along` restrict it to each `every`-th element along a dimension.
    DivBy {
        divisor: u64,
        every: Option<i64>,
        along: Option<i64>,
    },
    SameElements(Vec<i64>),
    /// Within the closed interval; a missing end is unbounded.
    Bounded {
        lower: Option<i64>,
        upper: Option<i64>,
    },
}

/// An attribute value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Attr {
    /// A present unit attribute (absent ones are `None` in the operation).
    Unit,
    Bool(bool),
    /// An integer with its type; the value is sign-extended from the type's width.
    Int {
        value: i64,
        ty: TypeId,
    },
    /// A float as the bit pattern of its type (tf32: of f32).
    Float {
        bits: u64,
        ty: TypeId,
    },
    Enum(EnumAttr),
    Type(TypeId),
    Str(Name),
    /// A reference to a symbol (`@name`).
    Symbol(Name),
    Array(Vec<Attr>),
    I32s(Vec<i32>),
    I64s(Vec<i64>),
    Bools(Vec<bool>),
    Dense {
        data: Dense,
        ty: TypeId,
    },
    Assume(AssumePredicate),
    Dict(Vec<(Name, Attr)>),
    /// Optimization hints: architecture name to dictionary.
    Hints(Vec<(Name, Attr)>),
}

impl Attr {
    /// The bits of each number of a list: integers sign-extended, floats as the pattern of their type.
    pub fn numbers(&self) -> Option<Vec<i64>> {
        let Attr::Array(list) = self else {
            return None;
        };
        let bits = |number: &Attr| match number {
            Attr::Int { value, .. } => Some(*value),
            Attr::Float { bits, .. } => Some(*bits as i64),
            _ => None,
        };
        list.iter().map(bits).collect()
    }
}
