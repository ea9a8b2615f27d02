//! Tiles of a ring that are read again behind a reduction, where registers are short.
//!
//! ```text
//! x = local_load ring                     x  = local_load ring
//! s = reduce (x · x)                      s  = reduce (x · x)
//! store (x · rsqrt s)              →      x' = local_load ring
//!                                         store (x' · rsqrt s)
//! ```
//! What a reduction's result is applied to has to wait for all of it. The stage of the ring holds it until it is
//! released: read again, and computed again as far as that is cheap, it takes no registers meanwhile.

use super::decided::Kernel;
use super::limits::REGISTERS_BESIDE_LOADS;
use super::look::{blocks_of, is_matmul, is_view};
use super::pipeline::slice::{Map, copy_in_front};
use super::pressure;
use super::sink::{Rings, is_quiet, rings};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{BlockId, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether a thread has too few registers for what lives at once in a kernel. What matmuls read is read where they stand.
pub fn pays(m: &Module, kernel: &Kernel<'_>) -> bool {
    let (body, warps) = (kernel.body, kernel.warps());
    let ops = m.ops_under(body);
    if !ops.iter().any(|&o| is_load(m, o)) || ops.iter().any(|&o| is_matmul(m, o)) {
        return false;
    }
    let tiles = pressure::registers(m, body, warps);
    let across = pressure::registers_across(m, body, warps);
    let needed = across.max(tiles) + REGISTERS_BESIDE_LOADS;
    needed > kernel.registers()
}

/// Reads again what the loops under `body` bring, and use behind reductions.
pub fn apply(m: &mut Module, body: BlockId) {
    let ops = m.ops_under(body);
    let rings = rings(m, &ops);
    let loads = ops.into_iter().filter(|&o| is_load(m, o));
    for block in blocks_of(m, loads) {
        again(m, block, &rings);
    }
}

fn is_load(m: &Module, op: OpId) -> bool {
    S::of(m.op(op).kind) == Some(S::LocalLoad)
}

/// Whether what an operation makes is as well computed again: few instructions for each element.
fn is_cheap(m: &Module, op: OpId) -> bool {
    let arithmetic = matches!(
        C::of(m.op(op).kind),
        Some(
            C::FToF
                | C::AddF
                | C::SubF
                | C::MulF
                | C::Fma
                | C::NegF
                | C::AbsF
                | C::MaxF
                | C::MinF
                | C::Select
                | C::Broadcast
        )
    );
    arithmetic || is_view(m, op)
}

/// Whether all of what an operation reads is needed before any of what it makes is there.
fn gathers(m: &Module, op: OpId) -> bool {
    !m.op(op).regions.is_empty()
}

/// The operations of a block that are not computed element by element, each with how many reductions of the block come
/// before it, one behind the other.
fn phases(m: &Module, block: BlockId) -> Vec<(OpId, u32)> {
    let mut behind: FxHashMap<ValueId, u32> = FxHashMap::default();
    let (mut found, mut now) = (Vec::new(), 0);
    for &op in &m.block(block).ops {
        let data = m.op(op);
        let needs = data.operands.iter().filter_map(|v| behind.get(v).copied());
        let mut phase = needs.max().unwrap_or(0);
        if !is_cheap(m, op) && !is_load(m, op) && !m.op(op).only_computes() {
            now = phase.max(now);
            found.push((op, now));
            phase = now;
        }
        let made = phase + u32::from(gathers(m, op));
        behind.extend(data.results.iter().map(|&r| (r, made)));
    }
    found
}

/// Gives each phase of a block loads of its own.
fn again(m: &mut Module, block: BlockId, rings: &Rings) {
    let mut brought: FxHashSet<ValueId> = FxHashSet::default();
    for &op in &m.block(block).ops {
        let data = m.op(op);
        if is_load(m, op) || is_cheap(m, op) && data.operands.iter().any(|v| brought.contains(v)) {
            brought.extend(&data.results);
        } else if m.op(op).only_computes() && data.operands.iter().any(|v| brought.contains(v)) {
            // What takes longer to compute stays in registers, and with it what reading again would free.
            return;
        }
    }
    let mut maps: FxHashMap<u32, Map> = FxHashMap::default();
    for (op, phase) in phases(m, block) {
        if phase == 0 {
            continue;
        }
        let map = maps.entry(phase).or_default();
        let operands = m.op(op).operands.clone();
        for value in operands {
            make(m, value, op, &brought, rings, map);
        }
        m.replace_operands(op, map);
    }
}

/// Makes `value` again in front of `user`, unless it has been in this phase.
fn make(
    m: &mut Module,
    value: ValueId,
    user: OpId,
    brought: &FxHashSet<ValueId>,
    rings: &Rings,
    map: &mut Map,
) {
    if map.contains_key(&value) || !brought.contains(&value) {
        return;
    }
    let Some(op) = m.def_op(value) else { return };
    if is_load(m, op) {
        if !is_quiet(m, rings, op, user) {
            return;
        }
    } else {
        let operands = m.op(op).operands.clone();
        for operand in operands {
            make(m, operand, user, brought, rings, map);
        }
        if !m.op(op).operands.iter().any(|v| map.contains_key(v)) {
            return;
        }
    }
    let copied = copy_in_front(m, op, user, map);
    let copied = m.result(copied);
    map.insert(value, copied);
}
