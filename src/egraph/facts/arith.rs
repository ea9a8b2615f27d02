//! Integer arithmetic of both dialects by one name, so that transfer functions are written once.

use super::transfer::Leaf;
use crate::dialect::{OpKind, cuda_tile, enums::rounding, nv_tileas, nvvm};

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
    cuda_tile::Op::of(kind)
        .and_then(|op| tile(op, leaf))
        .or_else(|| nvvm::Op::of(kind).and_then(|op| thread(op, leaf)))
        .or_else(|| distributed(kind))
}

fn distributed(kind: OpKind) -> Option<Arith> {
    match nv_tileas::Op::of(kind)? {
        nv_tileas::Op::ConvertLayout => Some(Arith::Same),
        _ => None,
    }
}

fn signed(leaf: Leaf) -> bool {
    leaf == Leaf::Enum(1)
}

/// Case 1 and 3 of `enums::OVERFLOW` promise that no signed wrap happens.
fn nsw(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Enum(1 | 3))
}

fn tile(op: cuda_tile::Op, leaf: &dyn Fn(usize) -> Leaf) -> Option<Arith> {
    use cuda_tile::Op;
    Some(match op {
        Op::AddI => Arith::Add { nsw: nsw(leaf(0)) },
        Op::SubI => Arith::Sub { nsw: nsw(leaf(0)) },
        Op::MulI => Arith::Mul { nsw: nsw(leaf(0)) },
        Op::NegI => Arith::Neg,
        Op::AbsI => Arith::Abs,
        Op::DivI => Arith::Div {
            signed: signed(leaf(0)),
            rounding: match leaf(1) {
                Leaf::Enum(rounding::NEGATIVE_INF) => Division::Down,
                Leaf::Enum(rounding::POSITIVE_INF) => Division::Up,
                _ => Division::Zero,
            },
        },
        Op::RemI => Arith::Rem {
            signed: signed(leaf(0)),
        },
        Op::MinI => Arith::Min {
            signed: signed(leaf(0)),
        },
        Op::MaxI => Arith::Max {
            signed: signed(leaf(0)),
        },
        Op::AndI => Arith::And,
        Op::OrI => Arith::Or,
        Op::XOrI => Arith::Xor,
        Op::ShLI => Arith::Shl { nsw: nsw(leaf(0)) },
        Op::ShRI => Arith::Shr {
            signed: signed(leaf(0)),
        },
        Op::MulhiI => Arith::MulHi,
        Op::ExtI => Arith::Ext {
            signed: signed(leaf(0)),
        },
        Op::TruncI => Arith::Trunc,
        Op::CmpI => Arith::Cmp {
            predicate: match leaf(0) {
                Leaf::Enum(p) => p,
                _ => return None,
            },
            signed: signed(leaf(1)),
        },
        Op::Select => Arith::Select,
        Op::Offset => Arith::Offset { bytes: false },
        Op::Broadcast
        | Op::Reshape
        | Op::Permute
        | Op::Extract
        | Op::PtrToInt
        | Op::IntToPtr
        | Op::PtrToPtr => Arith::Same,
        Op::Iota => Arith::Iota,
        _ => return None,
    })
}

fn thread(op: nvvm::Op, leaf: &dyn Fn(usize) -> Leaf) -> Option<Arith> {
    use nvvm::Op;
    Some(match op {
        Op::Add => Arith::Add { nsw: false },
        Op::Sub => Arith::Sub { nsw: false },
        Op::Mul => Arith::Mul { nsw: false },
        Op::Abs => Arith::Abs,
        Op::DivS => Arith::Div {
            signed: true,
            rounding: Division::Zero,
        },
        Op::DivU => Arith::Div {
            signed: false,
            rounding: Division::Zero,
        },
        Op::RemS => Arith::Rem { signed: true },
        Op::RemU => Arith::Rem { signed: false },
        Op::MinS => Arith::Min { signed: true },
        Op::MinU => Arith::Min { signed: false },
        Op::MaxS => Arith::Max { signed: true },
        Op::MaxU => Arith::Max { signed: false },
        Op::And => Arith::And,
        Op::Or => Arith::Or,
        Op::Xor => Arith::Xor,
        Op::Shl => Arith::Shl { nsw: false },
        Op::ShrS => Arith::Shr { signed: true },
        Op::ShrU => Arith::Shr { signed: false },
        Op::MulHi => Arith::MulHi,
        Op::ZExt => Arith::Ext { signed: false },
        Op::SExt => Arith::Ext { signed: true },
        Op::Trunc => Arith::Trunc,
        Op::ICmp => Arith::Cmp {
            predicate: match leaf(0) {
                Leaf::Enum(p) => p,
                _ => return None,
            },
            signed: signed(leaf(1)),
        },
        Op::Select => Arith::Select,
        Op::PtrAdd => Arith::Offset { bytes: true },
        Op::Splat | Op::Take => Arith::Same,
        Op::Popc | Op::Clz => Arith::Count,
        _ => return None,
    })
}
