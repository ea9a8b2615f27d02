//! Accumulators that wait in tensor memory until they are needed, where registers are short.
//!
//! ```text
//! tensor_dot p, v, s                tensor_dot p, v, s
//! x = tensor_load s                 …
//! tensor_store y, t          →      tensor_store y, t
//! tensor_dot t, w, u                tensor_dot t, w, u
//! z = tensor_load u                 z = tensor_load u
//! store x + z                       x = tensor_load s
//!                                   store x + z
//! ```
//! What a matmul made is loaded behind it, also where it is used only behind another one: its registers then stand beside
//! all that this one's operands are computed of. Here it keeps its columns until then.

use super::columns::{self, Held};
use super::epilogue::whole_loads;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::layout::tensor::COLUMNS;
use crate::lower::tileas::lifetime::intersect;
use crate::lower::tileas::look::{is_matmul, place};
use crate::lower::tileas::pressure;
use rustc_hash::FxHashSet;
use std::cell::LazyCell;

/// Lets the accumulators under `body` that are used behind other matmuls keep their columns at these, too, where `warps` warps
/// have too few `registers` for what lives there and tensor memory has the columns. Returns their loads.
pub fn keep(
    m: &Module,
    body: BlockId,
    held: &mut Vec<Held>,
    (warps, registers): (u64, u64),
) -> Vec<OpId> {
    let mut waiting = Vec::new();
    let living = LazyCell::new(|| pressure::around(m, body, warps));
    for load in whole_loads(m, body) {
        let Some(v) = view::TensorLoad::of(m.op(load)) else {
            continue;
        };
        let between = Wait::of(m, load).between;
        let crowded = |&op: &OpId| {
            let stores = matches!(S::of(m.op(op).kind), Some(S::TensorStore | S::TensorDot));
            stores && living.get(&op).is_some_and(|l| l.before > registers)
        };
        if !between.iter().any(crowded) {
            continue;
        }
        let Some(at) = held.iter().position(|h| h.buffer == Some(v.source())) else {
            continue;
        };
        let is_dot = |o: &OpId| S::of(m.op(*o).kind) == Some(S::TensorDot);
        let dots = between.into_iter().filter(is_dot);
        let mut all = held.clone();
        let own = all[at];
        // Those that get their columns next see all of its entries.
        let more = dots.map(|dot| Held {
            dot,
            loops: 0,
            ..own
        });
        all.splice(at + 1..at + 1, more);
        if columns::needed(m, &all) <= COLUMNS {
            *held = all;
            waiting.push(load);
        }
    }
    waiting
}

/// Moves a load, with what is computed of it, down to where that is needed, unless something else goes to its columns.
pub fn delay(m: &mut Module, load: OpId) {
    let wait = Wait::of(m, load);
    let (block, at) = place(m, load);
    if wait.between.iter().any(|&op| overwrites(m, op, load)) {
        return;
    }
    let end = at + 1 + wait.between.len();
    let (mut stays, mut moves) = (Vec::new(), vec![load]);
    for &op in &wait.between {
        let group = match wait.computed.contains(&op) {
            true => &mut moves,
            false => &mut stays,
        };
        group.push(op);
    }
    let order = stays.into_iter().chain(moves);
    m.block_mut(block).ops.splice(at..end, order);
}

/// What stands between a load and the first operation that needs more of its tile than to compute of it.
struct Wait {
    between: Vec<OpId>,
    /// Those of them that compute of it.
    computed: FxHashSet<OpId>,
}

impl Wait {
    fn of(m: &Module, load: OpId) -> Wait {
        let (block, at) = place(m, load);
        let mut values: FxHashSet<ValueId> = m.op(load).results.iter().copied().collect();
        let mut wait = Wait {
            between: Vec::new(),
            computed: FxHashSet::default(),
        };
        for &op in m.block(block).ops.iter().skip(at + 1) {
            let inside = m.ops_inside(op).into_iter().chain([op]);
            let mut used = inside.flat_map(|o| m.op(o).operands.to_vec());
            if used.any(|v| values.contains(&v)) {
                if !m.op(op).only_computes() || is_matmul(m, op) {
                    break;
                }
                values.extend(&m.op(op).results);
                wait.computed.insert(op);
            }
            wait.between.push(op);
        }
        wait
    }
}

/// Whether `op`, with what is in it, writes what `load` loads from tensor memory.
fn overwrites(m: &Module, op: OpId, load: OpId) -> bool {
    let Some(read) = view::TensorLoad::of(m.op(load)).and_then(|v| columns_of(m, v.source()))
    else {
        return true;
    };
    let writes = |op: OpId| {
        let buffers: Vec<ValueId> = match view::View::of(m.op(op)) {
            Some(view::View::TensorStore(v)) => vec![v.destination()],
            Some(view::View::TensorDot(v)) => v.scales().into_iter().chain([v.acc()]).collect(),
            _ => return false,
        };
        let mut columns = buffers.into_iter().map(|b| columns_of(m, b));
        columns.any(|c| c.is_none_or(|c| intersect(&c, &read)))
    };
    m.ops_inside(op).into_iter().chain([op]).any(writes)
}

fn columns_of(m: &Module, buffer: ValueId) -> Option<std::ops::Range<u64>> {
    columns::of(m, m.def_op(buffer)?)
}
