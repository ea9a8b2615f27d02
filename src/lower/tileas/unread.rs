//! Atomic operations that acquire, in kernels that read nothing that could tell them what they acquired.
//!
//! ```text
//! for … {                                       for … {
//!   k = load K[j], t                              k = load K[j]
//!   dq = … k …                         →          dq = … k …
//!   _, t = atomic_rmw addf acq_rel DQ[j], dq      _, _ = atomic_rmw addf release DQ[j], dq
//! }                                             }
//! ```
//! Programs order more than they need: cuTile's atomic operations acquire and release unless they say otherwise. What
//! follows an acquiring access sees what others had written before they released what it read. A program can only rely on
//! that if it knows what was read: where the value is not used, the others may as well have come later, and a weak load of
//! what they write would be a race. So a kernel whose atomic operations are all done for what they write acquires nothing,
//! and weak loads through other arguments need not come behind them, nor behind stores in front of these: memory that both
//! reach would have to be the block's own, which nothing needs to be ordered for.

use super::missed::Log;
use super::pipeline::tokens::{followed, only_read_but};
use super::strips::cut::is_weak_load;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access::{self, operand};
use crate::ir::{BlockId, Def, Module, OpId, Type, ValueId};
use crate::lower::build::cased;
use rustc_hash::FxHashMap;

/// Takes from the atomic operations under `body`, a kernel's, what they acquire, if all are such.
pub fn release_only(m: &mut Module, body: BlockId, log: &mut Log) {
    let ops = m.ops_under(body);
    if ops.iter().any(|&op| learns(m, op)) {
        return;
    }
    let acquiring: FxHashMap<OpId, Ordering> = (ops.iter())
        .filter_map(|&op| Some((op, without_acquire(access::ordering(m.op(op)))?)))
        .collect();
    if acquiring.is_empty() {
        return;
    }
    let free = ops.iter().filter_map(|&load| {
        let token = access::token(m.op(load)).filter(|_| is_weak_load(m, load))?;
        let apart = |other| are_apart(m, body, load, other);
        let acquires = |&other: &OpId| acquiring.contains_key(&other);
        // What stands in front of what acquires orders nothing else either.
        let direct = followed(m, token).is_some_and(|o| o.iter().all(acquires));
        (direct && only_read_but(m, apart, token)).then_some((load, token))
    });
    for (load, token) in free.collect::<Vec<_>>() {
        let ty = m.ty(token);
        let nothing = m.at(body, 0).value(C::MakeToken, &[], [], ty);
        m.set_operand(load, "token", nothing);
    }
    for op in ops {
        if let Some(&order) = acquiring.get(&op) {
            *m.attr_mut(op, "order") = cased(order);
            let why = "nothing reads what it found: it acquires nothing";
            log.changed(m.op(op).loc, "a weaker order", why);
        }
    }
}

/// Whether an access that is ordered with those of other blocks shows what they have done.
fn learns(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    if !data.def().traits.has(Traits::MEMORY) || access::ordering(data) == Ordering::Weak {
        return false;
    }
    match S::of(data.kind) {
        Some(S::Store | S::TiledStore | S::TiledAtomic) => false,
        Some(S::AtomicRmw) => m.is_used(m.result(op)),
        _ => true,
    }
}

/// The order without what acquires in it; `None` where nothing does.
fn without_acquire(order: Ordering) -> Option<Ordering> {
    match order {
        Ordering::Acquire => Some(Ordering::Relaxed),
        Ordering::AcqRel => Some(Ordering::Release),
        Ordering::Weak | Ordering::Relaxed | Ordering::Release => None,
    }
}

/// Whether two accesses are of memory that different arguments of the kernel point to.
fn are_apart(m: &Module, body: BlockId, one: OpId, other: OpId) -> bool {
    let of = |op| argument(m, body, access_base(m, op)?);
    matches!((of(one), of(other)), (Some(a), Some(b)) if a != b)
}

/// The pointer, or pointers, that an access is made with.
fn access_base(m: &Module, op: OpId) -> Option<ValueId> {
    let data = m.op(op);
    operand(data, "base").or_else(|| access::pointers(data))
}

/// The argument of the kernel that pointers are computed of, if it is one alone.
fn argument(m: &Module, body: BlockId, mut pointers: ValueId) -> Option<ValueId> {
    let points = |v: &ValueId| matches!(m.types.get(m.types.elem(m.ty(*v))), Type::Ptr { .. });
    loop {
        match m.value(pointers).def {
            Def::Argument { block, .. } => return (block == body).then_some(pointers),
            Def::Result { op, .. } => {
                let mut from = m.op(op).operands.iter().copied().filter(points);
                pointers = from.next().filter(|_| m.op(op).regions.is_empty())?;
                if from.next().is_some() {
                    return None;
                }
            }
        }
    }
}
