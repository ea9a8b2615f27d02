//! Tiles go to tensor memory when they are computed.
//!
//! A left operand is stored in front of its matmul. What stands between, usually the accumulator that is loaded, scaled
//! and stored back, would have its registers beside those of the operand: attention's probabilities beside its output.

use super::columns;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::view;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::tileas::lifetime::intersect;
use crate::lower::tileas::look::pipeline_kind;
use std::ops::Range;

/// Moves each store to tensor memory under `body` up to where its tile is made, as far as nothing that it must follow
/// stands between.
pub fn stores(m: &mut Module, body: BlockId) {
    for op in m.ops_under(body) {
        if let Some(view::View::TensorStore(v)) = view::View::of(m.op(op)) {
            let buffer = v.destination();
            store(m, op, buffer);
        }
    }
}

fn store(m: &mut Module, op: OpId, buffer: ValueId) {
    let Some(written) = columns_of(m, buffer) else {
        return;
    };
    let block = m.op(op).block;
    let ops = &m.block(block).ops;
    let Some(at) = ops.iter().position(|&o| o == op) else {
        return;
    };
    let made_by = m.op(op).operands.iter().filter_map(|&v| m.def_op(v));
    let made_by: Vec<OpId> = made_by.collect();
    let before = ops.iter().take(at).rev();
    let free = before.take_while(|&&o| !made_by.contains(&o) && lets_pass(m, o, &written));
    let to = at - free.count();
    let ops = &mut m.block_mut(block).ops;
    ops[to..=at].rotate_right(1);
}

/// Whether a store to these columns may be done before `op` instead of behind it.
fn lets_pass(m: &Module, op: OpId, written: &Range<u64>) -> bool {
    let data = m.op(op);
    if data.only_computes() {
        return true;
    }
    match view::View::of(data) {
        Some(view::View::TensorLoad(v)) => {
            columns_of(m, v.source()).is_some_and(|read| !intersect(&read, written))
        }
        // Of copies: matmuls may read what lies in these columns until they are waited for.
        Some(view::View::ConsumerWait(v)) => {
            pipeline_kind(m, v.pipeline()).is_some_and(|kind| kind != PipelineKind::Mma)
        }
        _ => false,
    }
}

fn columns_of(m: &Module, buffer: ValueId) -> Option<Range<u64>> {
    columns::of(m, m.def_op(buffer)?)
}
