//! Tiles that are reduced to one number are reduced along their rows first.
//!
//! ```text
//! c = reduce max t, dim 0 : 256x128 → 128          r = reduce max t, dim 1 : 256x128 → 256
//! m = reduce max c, dim 0 : 128 → 1         →      m = reduce max r, dim 0 : 256 → 1
//! ```
//! A thread has several elements of a row in every layout, and of an accumulator in tensor memory the whole row. Columns go over
//! lanes and warps. Front ends reduce the first dimension first. Which comes first does not matter where the combination is exact.

use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::Overflow;
use crate::ir::{Attr, BlockId, Module, OpId};

/// Combinations of which any order gives the same.
const EXACT: [C; 9] = [
    C::MaxF,
    C::MinF,
    C::MaxI,
    C::MinI,
    C::AddI,
    C::MulI,
    C::AndI,
    C::OrI,
    C::XOrI,
];

/// Turns every such chain of reductions under `body` around.
pub fn reduce(m: &mut Module, body: BlockId) {
    for op in m.ops_under(body) {
        if let Some(chain) = chain(m, op, |dim| dim == 0) {
            turn(m, &chain);
        }
    }
}

/// The reductions of such dimensions, one after the other, that make one number of what `first` reduces, in any order.
pub fn chain(m: &Module, first: OpId, of: impl Fn(i64) -> bool) -> Option<Vec<OpId>> {
    let how = combination(m, first, &of)?;
    let mut rank = m.types.as_tile(m.ty(m.source(first)))?.1.len();
    let mut chain = vec![first];
    while rank > 1 {
        let made = m.result(*chain.last()?);
        let &[next] = &m.users(made)[..] else {
            return None;
        };
        if combination(m, next, &of)? != how {
            return None;
        }
        chain.push(next);
        rank -= 1;
    }
    (chain.len() > 1).then_some(chain)
}

/// How a reduction of such a dimension combines two elements, if that is exact.
fn combination(m: &Module, op: OpId, of: &impl Fn(i64) -> bool) -> Option<(C, Vec<Option<Attr>>)> {
    let reduce = view::Reduce::of(m.op(op))?;
    let body = m.body_of(op, 0)?;
    let &[combine, end] = &m.block(body).ops[..] else {
        return None;
    };
    let data = m.op(combine);
    let kind = C::of(data.kind).filter(|kind| EXACT.contains(kind))?;
    // What does not wrap in one order may in another.
    let wraps = data.enum_named("overflow").and_then(Overflow::of);
    if wraps.is_some_and(|o| o != Overflow::None) {
        return None;
    }
    let args = &m.block(body).args;
    let both = args.len() == 2 && args.iter().all(|a| data.operands.contains(a));
    let yielded = m.op(end).operands[..] == data.results[..];
    let alone = of(reduce.dim()) && both && yielded;
    alone.then(|| (kind, data.attrs.to_vec()))
}

/// Lets each reduction of a chain fold the last dimension that is left.
fn turn(m: &mut Module, chain: &[OpId]) {
    let i32_ty = m.types.int(32);
    let Some((elem, extents)) = m.types.as_tile(m.ty(m.source(chain[0]))) else {
        return;
    };
    let mut left = extents.to_vec();
    for &op in chain {
        left.pop();
        let dim = Attr::Int {
            value: left.len() as i64,
            ty: i32_ty,
        };
        *m.attr_mut(op, "dim") = Some(dim);
        let (result, ty) = (m.result(op), m.types.tile(elem, &left));
        m.value_mut(result).ty = ty;
    }
}
