//! Chains of matmuls, each of which adds to what the one before it has summed up.
//!
//! ```text
//! for … acc {
//!   x = dot a, b, acc
//!   y = dot c, d, x
//!   continue y
//! }
//! ```
//! A sum of products of parts is one, three of tf32 for one of f32, say. Such matmuls have one accumulator: it goes to its
//! buffer in front of the first and is read behind the last.

use super::fits::Extents;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::ir::{Module, OpId};
use crate::target::Target;

/// A matmul of these extents and those that add to its result, which nothing else uses.
pub fn chain(m: &Module, (dot, extents): (OpId, Extents), target: &Target) -> Vec<(OpId, Extents)> {
    let mut chain = vec![(dot, extents)];
    let mut next = added_to(m, dot);
    while let Some(dot) = next
        && let Ok(more) = Extents::of(m, dot, target)
        && more.shares_accumulator(extents)
    {
        chain.push((dot, more));
        next = added_to(m, dot);
    }
    chain
}

/// The matmul of the same block that alone adds to the result of `dot`.
fn added_to(m: &Module, dot: OpId) -> Option<OpId> {
    let result = *m.op(dot).results.first()?;
    let &[user] = m.users(result).as_slice() else {
        return None;
    };
    let data = m.op(user);
    let uses = data.operands.iter().filter(|&&v| v == result).count();
    let adds = S::of(data.kind) == Some(S::Dot) && Matmul::known(data).acc == result;
    (adds && uses == 1 && data.block == m.op(dot).block).then_some(user)
}
