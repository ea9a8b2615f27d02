//! Which operands and results share a type, shape, rank or element type, as data.
//!
//! Element-wise operations of one type need no row: their traits say it.

use std::sync::LazyLock;

use super::Ctx;
use crate::dialect::cuda_tile::Op;
use crate::ir::{TypeId, ValueId};
use crate::verify::{Check, ensure, relaid};

/// What is the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Same {
    Type,
    Shape,
    Rank,
    Elem,
}

impl Same {
    fn words(self) -> &'static str {
        match self {
            Same::Type => "have same type",
            Same::Shape => "have same shape",
            Same::Rank => "have same rank",
            Same::Elem => "have the same element type",
        }
    }
}

#[rustfmt::skip]
static ROWS: &[(Op, Same, &[&str])] = &[
    (Op::AtomicCas, Same::Shape, &["pointers", "cmp", "val", "result"]),
    (Op::AtomicCas, Same::Type, &["cmp", "val", "result"]),
    (Op::AtomicRmw, Same::Shape, &["pointers", "arg", "result"]),
    (Op::AtomicRmw, Same::Type, &["arg", "result"]),
    (Op::Broadcast, Same::Elem, &["source", "result"]),
    (Op::Broadcast, Same::Rank, &["source", "result"]),
    (Op::Cat, Same::Rank, &["lhs", "rhs", "result"]),
    (Op::Cat, Same::Elem, &["lhs", "rhs", "result"]),
    (Op::CmpF, Same::Type, &["lhs", "rhs"]),
    (Op::CmpI, Same::Type, &["lhs", "rhs"]),
    (Op::Extract, Same::Rank, &["source", "result"]),
    (Op::For, Same::Type, &["lowerBound", "upperBound", "step"]),
    (Op::FPowI, Same::Shape, &["source", "exponent"]),
    (Op::FPowI, Same::Type, &["result", "source"]),
    (Op::Insert, Same::Rank, &["source", "destination"]),
    (Op::Insert, Same::Type, &["destination", "result"]),
    (Op::MmaF, Same::Type, &["acc", "result"]),
    (Op::MmaF, Same::Elem, &["lhs", "rhs"]),
    (Op::MmaF, Same::Rank, &["lhs", "rhs", "acc"]),
    (Op::MmaFScaled, Same::Type, &["acc", "result"]),
    (Op::MmaFScaled, Same::Elem, &["lhs", "rhs"]),
    (Op::MmaFScaled, Same::Elem, &["lhs_scale", "rhs_scale"]),
    (Op::MmaFScaled, Same::Rank, &["lhs", "rhs", "acc", "lhs_scale", "rhs_scale"]),
    (Op::MmaI, Same::Type, &["acc", "result"]),
    (Op::MmaI, Same::Elem, &["lhs", "rhs"]),
    (Op::MmaI, Same::Rank, &["lhs", "rhs", "acc"]),
    (Op::Pack, Same::Rank, &["source", "result"]),
    (Op::Permute, Same::Elem, &["source", "result"]),
    (Op::Permute, Same::Rank, &["source", "result"]),
    (Op::Reduce, Same::Shape, &["operands"]),
    (Op::Reshape, Same::Elem, &["source", "result"]),
    (Op::Scan, Same::Shape, &["operands"]),
    (Op::Select, Same::Type, &["val_if_true", "val_if_false", "result"]),
    (Op::Select, Same::Shape, &["cond", "val_if_true", "val_if_false", "result"]),
    (Op::Unpack, Same::Rank, &["source", "result"]),
];

pub fn check(c: &Ctx) -> Check {
    type Relation = (Same, &'static [&'static str]);
    static BY_OP: LazyLock<Vec<Vec<Relation>>> = LazyLock::new(|| {
        let rows = |op: Op| ROWS.iter().filter(move |r| r.0 == op).map(|r| (r.1, r.2));
        Op::ALL.iter().map(|&op| rows(op).collect()).collect()
    });
    let mut rows = BY_OP[c.kind as usize].iter();
    rows.try_for_each(|(same, names)| holds(c, *same, names))
}

fn holds(c: &Ctx, same: Same, names: &[&str]) -> Check {
    let mut types = names
        .iter()
        .flat_map(|name| values(c, name))
        .map(|&v| c.module.ty(v));
    let Some(first) = types.next() else {
        return Ok(());
    };
    let tile = |ty: TypeId| c.module.types.as_tile(ty);
    let equal = |ty: TypeId| match same {
        Same::Type => ty == first || relaid(c.module, ty, first),
        Same::Shape => tile(ty).map(|t| t.1) == tile(first).map(|t| t.1),
        Same::Rank => tile(ty).map(|t| t.1.len()) == tile(first).map(|t| t.1.len()),
        Same::Elem => tile(ty).map(|t| t.0) == tile(first).map(|t| t.0),
    };
    ensure(types.all(equal), || {
        if names.len() == 1 {
            return "requires the same shape for all operands".into();
        }
        if same == Same::Elem && matches!(c.kind, Op::Broadcast | Op::Reshape) {
            return "requires the same element type for all operands and results".into();
        }
        format!(
            "failed to verify that all of {{{}}} {}",
            names.join(", "),
            same.words()
        )
    })
}

fn values<'c>(c: &'c Ctx, name: &str) -> &'c [ValueId] {
    let def = c.op.def();
    if let Some(i) = def.operands.iter().position(|o| o.name == name) {
        return c.op.group(i);
    }
    let result = def.results.iter().position(|r| r.name == name);
    result.and_then(|i| c.op.results.get(i..=i)).unwrap_or(&[])
}
