//! Loops of a few matmuls with nothing beside them are straight code.
//!
//! A constant number of columns goes through a matmul in two or three steps along K: heads of 64 or 128 columns in
//! linear attention, whose Triton kernels load them through pointers. As a loop it gets a pipeline, warps that copy for
//! it and a barrier for each stage, for a few matmuls; as straight code all its operands are on their way at once,
//! copied by the warps that multiply.

use super::advance::number;
use super::build::constant;
use super::carried;
use super::tileas::buffers::tile_bytes;
use super::tileas::look::{is_matmul, loop_around, place};
use super::tileas::pipeline::slice::{Map, copy_in_front};
use crate::dialect::cuda_tile::{Op as C, view};
use crate::ir::{BlockId, Module, OpId, Type};
use std::ops::RangeInclusive;

/// Iterations of a loop that is written out.
const ITERATIONS: RangeInclusive<usize> = 2..=4;

/// Bytes that all its iterations load: each has shared memory of its own.
const BYTES: u64 = 64 << 10;

/// Rewrites every entry.
pub fn run(m: &mut Module) {
    for entry in m.block(m.body).ops.clone() {
        let Some(body) = m.body_of(entry, 0) else {
            continue;
        };
        for op in carried::counted_loops(m, body) {
            if let Some(written) = Written::find(m, body, op) {
                written.put_in_place_of(m, op);
            }
        }
    }
}

/// A loop that is written out.
struct Written {
    body: BlockId,
    counters: Vec<i64>,
    end: OpId,
}

impl Written {
    fn find(m: &Module, entry: BlockId, op: OpId) -> Option<Written> {
        let v = view::For::of(m.op(op))?;
        let from = number(m, v.lowerBound()).filter(|&n| n >= 0)?;
        let to = number(m, v.upperBound()).filter(|&n| n >= 0)?;
        let step = number(m, v.step()).and_then(|n| usize::try_from(n).ok())?;
        if step == 0 || loop_around(m, entry, m.op(op).block).is_some() {
            return None;
        }
        let most = *ITERATIONS.end();
        let counters: Vec<i64> = (from..to).step_by(step).take(most + 1).collect();
        let body = m.body_of(op, 0)?;
        let end = carried::only_end(m, body)?;
        let ops = &m.block(body).ops;
        let loads = ops.iter().filter_map(|&o| view::LoadPtr::of(m.op(o)));
        let bytes: u64 = loads.map(|v| tile_bytes(m, v.result())).sum();
        let fits = ITERATIONS.contains(&counters.len()) && bytes * counters.len() as u64 <= BYTES;
        let matmuls_alone = ops.iter().all(|&o| o == end || is_beside_matmuls(m, o))
            && ops.iter().any(|&o| is_matmul(m, o));
        (fits && matmuls_alone).then_some(Written {
            body,
            counters,
            end,
        })
    }

    fn put_in_place_of(self, m: &mut Module, op: OpId) {
        let mut carried = carried::inits(m.op(op)).to_vec();
        let [counter, arguments @ ..] = &*m.block(self.body).args.clone() else {
            return;
        };
        let (ops, ty) = (m.block(self.body).ops.clone(), m.ty(*counter));
        for number in self.counters {
            let (block, at) = place(m, op);
            let number = constant(&mut m.at(block, at), number, ty);
            let mut map: Map = arguments.iter().copied().zip(carried).collect();
            map.insert(*counter, number);
            for &inner in ops.iter().filter(|&&o| o != self.end) {
                copy_in_front(m, inner, op, &mut map);
            }
            let next = m.op(self.end).operands.iter();
            carried = next.map(|v| map.get(v).copied().unwrap_or(*v)).collect();
        }
        for (result, value) in m.op(op).results.clone().into_iter().zip(carried) {
            m.replace_all_uses(result, value);
        }
        m.erase(op);
    }
}

/// Whether an operation is a matmul, loads for one through pointers (views have tensor copies, which pipelines start), or
/// computes where it loads and what it multiplies: no floats of its own, but for conversions, and for sums to which a
/// scaled matmul is added.
fn is_beside_matmuls(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let moves = matches!(
        C::of(data.kind),
        Some(
            C::LoadPtr | C::FToF | C::Constant | C::Permute | C::Reshape | C::Broadcast | C::Select
        )
    );
    let scales = matches!(C::of(data.kind), Some(C::AddF | C::MulF | C::Fma))
        && (data.operands.iter()).any(|&v| m.def_op(v).is_some_and(|o| is_matmul(m, o)));
    let is_float = |&v: &_| matches!(m.types.get(m.types.elem(m.ty(v))), Type::Float(_));
    let computes = data.only_computes() && !data.results.iter().any(is_float);
    data.regions.is_empty() && (is_matmul(m, op) || moves || scales || computes)
}
