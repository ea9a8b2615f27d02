//! Integer arithmetic of both dialects by one name, so that transfer functions are written once.

use super::leaf::Leaf;
use crate::dialect::meaning::{Meaning, Sign, Unit};
use crate::dialect::resolve::{Attributes, Given};
use crate::dialect::{OpKind, cuda_tile, enums, nv_tileas, nvvm};
use crate::scalar::int::IntRounding;
use crate::scalar::{IntBinary, IntUnary, Signedness};

/// How an integer quotient is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Division {
    Zero,
    Down,
    Up,
}

/// An integer operation, whichever dialect it was written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arith {
    /// `signed`: the sum does not wrap as a signed number (the same for the others).
    Add {
        nsw: bool,
    },
    Sub {
        nsw: bool,
    },
    Mul {
        nsw: bool,
    },
    Neg,
    Abs,
    Div {
        signed: bool,
        rounding: Division,
    },
    Rem {
        signed: bool,
    },
    Min {
        signed: bool,
    },
    Max {
        signed: bool,
    },
    And,
    Or,
    Xor,
    Shl {
        nsw: bool,
    },
    Shr {
        signed: bool,
    },
    MulHi,
    Ext {
        signed: bool,
    },
    Trunc,
    /// Predicate of `enums::CMP_PREDICATE`.
    Cmp {
        predicate: u8,
        signed: bool,
    },
    Select,
    /// Pointer plus elements (`cuda_tile.offset`) or bytes (`nvvm.ptr_add`).
    Offset {
        bytes: bool,
    },
    /// The same elements, perhaps repeated or in another order or place.
    Same,
    /// A bit count.
    Count,
    Iota,
}

/// The integer operation that `kind` with these attributes is.
pub fn arith_of(kind: OpKind, leaf: &dyn Fn(usize) -> Leaf) -> Option<Arith> {
    let row = kind.def();
    let Some(meaning) = row.meaning else {
        return moved(kind);
    };
    let value = |i| Given::from(leaf(i));
    let attributes = Attributes { row, value: &value };
    if let Some(op) = meaning.int_binary(attributes).ok()? {
        // Case 1 and 3 of `OVERFLOW` promise that no signed wrap happens.
        let nsw = matches!(attributes.case(&enums::OVERFLOW), Some(1 | 3));
        return Arith::of_binary(op, nsw);
    }
    let signed = |sign| match sign {
        Sign::Attribute => attributes.case(&enums::SIGNEDNESS) == Some(1),
        Sign::Always(sign) => sign == Signedness::Signed,
    };
    Some(match meaning {
        Meaning::Int1(IntUnary::Neg) => Arith::Neg,
        Meaning::Int1(IntUnary::Abs) => Arith::Abs,
        Meaning::Int1(IntUnary::CountOnes | IntUnary::LeadingZeros) => Arith::Count,
        Meaning::Widen(sign) => Arith::Ext {
            signed: signed(sign),
        },
        Meaning::Narrow => Arith::Trunc,
        Meaning::IntCompare => Arith::Cmp {
            predicate: attributes.case(&enums::CMP_PREDICATE)?,
            signed: signed(Sign::Attribute),
        },
        Meaning::Select => Arith::Select,
        Meaning::Advance(unit) => Arith::Offset {
            bytes: unit == Unit::Byte,
        },
        // A bitcast may be from a float, of which nothing is known.
        Meaning::Copy if is_address_cast(kind) => Arith::Same,
        _ => return None,
    })
}

fn is_address_cast(kind: OpKind) -> bool {
    use cuda_tile::Op;
    matches!(
        Op::of(kind),
        Some(Op::PtrToInt | Op::IntToPtr | Op::PtrToPtr)
    )
}

/// Operations that compute nothing: the same elements elsewhere, repeated or in another order.
fn moved(kind: OpKind) -> Option<Arith> {
    use cuda_tile::Op as Tile;
    if let Some(op) = Tile::of(kind) {
        return match op {
            Tile::Broadcast | Tile::Reshape | Tile::Permute | Tile::Extract => Some(Arith::Same),
            Tile::Iota => Some(Arith::Iota),
            _ => None,
        };
    }
    let same = matches!(nvvm::Op::of(kind), Some(nvvm::Op::Splat | nvvm::Op::Take))
        || nv_tileas::Op::of(kind) == Some(nv_tileas::Op::ConvertLayout);
    same.then_some(Arith::Same)
}

impl Arith {
    fn of_binary(op: IntBinary, nsw: bool) -> Option<Arith> {
        let signed = |sign| sign == Signedness::Signed;
        Some(match op {
            IntBinary::Add => Arith::Add { nsw },
            IntBinary::Sub => Arith::Sub { nsw },
            IntBinary::Mul => Arith::Mul { nsw },
            IntBinary::MulHi(Signedness::Unsigned) => Arith::MulHi,
            IntBinary::MulHi(Signedness::Signed) => return None,
            IntBinary::Div(sign, rounding) => Arith::Div {
                signed: signed(sign),
                rounding: match rounding {
                    IntRounding::Zero => Division::Zero,
                    IntRounding::NegativeInf => Division::Down,
                    IntRounding::PositiveInf => Division::Up,
                },
            },
            IntBinary::Rem(sign) => Arith::Rem {
                signed: signed(sign),
            },
            IntBinary::Min(sign) => Arith::Min {
                signed: signed(sign),
            },
            IntBinary::Max(sign) => Arith::Max {
                signed: signed(sign),
            },
            IntBinary::And => Arith::And,
            IntBinary::Or => Arith::Or,
            IntBinary::Xor => Arith::Xor,
            IntBinary::Shl => Arith::Shl { nsw },
            IntBinary::Shr(sign) => Arith::Shr {
                signed: signed(sign),
            },
        })
    }
}
