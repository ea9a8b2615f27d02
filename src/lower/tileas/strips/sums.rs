//! Reductions over a dimension that is cut: the parts are combined element by element as they come, and what they amount to is
//! reduced behind the loop.
//!
//! ```text
//! x = load : 1x524288           acc = identity : 1x8192
//! s = reduce x dim=1       →    for part in 0..64 { x = load : 1x8192; acc = f(x, acc) }
//!                               s = reduce acc dim=1
//! ```
//! As every reduction here, this takes the elements in an order of its own (Tile IR, `reduce`: the order is not specified).

use super::parts::{Parts, retype};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view as tile;
use crate::ir::{BlockId, Module, OpBuilder, OpId, Type, ValueId};
use crate::lower::build::constant;
use crate::lower::tileas::missed::Refusal;
use crate::lower::tileas::pipeline::slice::{Map, copy};

/// Whether an operation reduces the dimension that is cut.
pub fn reduces(m: &Module, op: OpId, parts: &Parts) -> bool {
    tile::Reduce::of(m.op(op)).is_some_and(|v| {
        let dim = usize::try_from(v.dim()).ok();
        let cut = |s: &ValueId| dim.is_some() && parts.dims.get(s).copied() == dim;
        v.operands().iter().any(cut)
    })
}

/// Whether parts of what `reduce` reduces can be combined element by element.
pub fn check(m: &Module, reduce: OpId) -> Result<(), Refusal> {
    let no = |why: &str| Err((reduce, why.to_owned()));
    let Some(body) = m.body_of(reduce, 0) else {
        return no("a reduction without a body");
    };
    let of_each = |&op: &OpId| {
        let data = m.op(op);
        let plain = matches!(C::of(data.kind), Some(C::Constant | C::Yield))
            || data.def().traits.has(Traits::ELEMENTWISE);
        let own = |v: &ValueId| match m.def_op(*v) {
            Some(by) => m.op(by).block == body,
            None => m.block(body).args.contains(v),
        };
        plain && data.regions.is_empty() && data.operands.iter().all(own)
    };
    if !m.block(body).ops.iter().all(of_each) {
        return no("its body does more than combine two elements by operations on each");
    }
    match identities(m, reduce) {
        Some(_) => Ok(()),
        None => no("its identities are not numbers of the elements' types"),
    }
}

/// The bits of the identities of what is reduced.
fn identities(m: &Module, reduce: OpId) -> Option<Vec<i64>> {
    let v = tile::Reduce::of(m.op(reduce))?;
    let numbers = v.identities().numbers()?;
    let each = || v.operands().iter().zip(&numbers);
    let narrow = |v: &ValueId| {
        let elem = m.types.elem(m.ty(*v));
        matches!(m.types.get(elem), Type::Int(bits) if *bits < 8)
    };
    let plain = v.operands().len() == numbers.len() && each().all(|(v, &n)| !narrow(v) || n == 0);
    plain.then_some(numbers)
}

/// What there is in front of the first part of each tile that `reduce` reduces.
pub fn start(b: &mut OpBuilder<'_>, reduce: OpId, parts: &Parts) -> Vec<ValueId> {
    let sources = b.module.op(reduce).operands.to_vec();
    let identities = identities(b.module, reduce).unwrap_or_default();
    let both = sources.into_iter().zip(identities);
    both.map(|(source, identity)| {
        let ty = parts.part_type(b.module, source);
        constant(b, identity, ty)
    })
    .collect()
}

/// Appends to `block` what combines the parts that `reduce` reads with what there is `so_far`.
pub fn combine(m: &mut Module, reduce: OpId, block: BlockId, so_far: &[ValueId]) -> Vec<ValueId> {
    let Some(body) = m.body_of(reduce, 0) else {
        return so_far.to_vec();
    };
    let new = m.op(reduce).operands.to_vec();
    let pairs = so_far.iter().zip(&new).flat_map(|(&a, &b)| [a, b]);
    let args = m.block(body).args.to_vec();
    let mut map: Map = args.into_iter().zip(pairs).collect();
    let shape = match new.first().map(|&v| m.types.get(m.ty(v))) {
        Some(Type::Tile { shape, .. }) => shape.clone(),
        _ => return so_far.to_vec(),
    };
    for op in m.block(body).ops.clone() {
        if C::of(m.op(op).kind) == Some(C::Yield) {
            let yielded = m.op(op).operands.iter();
            return yielded.filter_map(|v| map.get(v).copied()).collect();
        }
        let copied = copy(m, op, block, &mut map);
        for result in m.op(copied).results.clone() {
            let elem = m.types.elem(m.ty(result));
            let ty = m.types.tile(elem, &shape);
            retype(m, result, ty);
        }
    }
    so_far.to_vec()
}
