//! How long the operations of a loop take, by the rates that tensor cores and arithmetic have on a multiprocessor.
//!
//! Rates are those of compute capability 9.0: the throughput table of the CUDA C++ Programming Guide, and the
//! whitepaper "NVIDIA H100 Tensor Core GPU Architecture" for tensor cores. `tools/ptxsim/gpus.json` has the same.

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::matmul::Matmul;
use crate::ir::{Module, OpId, Type, TypeId, ValueId};

/// Multiply-adds of 16-bit numbers in a cycle of a multiprocessor's tensor cores; others as they are wide.
const TENSOR: u64 = 2048;
/// Results of single-precision arithmetic in a cycle.
const LANES: u64 = 128;
/// Cycles from the issue of a matmul to its first work, and from its last to its registers.
const TENSOR_LATENCY: u64 = 30;

/// How often an operation holds a lane for each element: 128 results in a cycle count 1.
fn weight(kind: C) -> u64 {
    match kind {
        // 16 results in a cycle.
        C::Exp | C::Exp2 | C::Log | C::Log2 | C::Rsqrt | C::Sqrt | C::Sin | C::Cos | C::TanH => 8,
        C::DivF | C::DivI | C::RemI | C::RemF => 16,
        // 64 results in a cycle.
        C::FToF | C::FToI | C::IToF | C::MaxF | C::MinF | C::CmpF | C::CmpI | C::Select => 2,
        _ => 1,
    }
}

fn elements(m: &Module, ty: TypeId) -> u64 {
    match m.types.get(ty) {
        Type::Tile { shape, .. } => shape.iter().product::<u64>(),
        _ => 1,
    }
}

/// Cycles that `groups` warpgroups, each with its part of an operation's elements, compute it for; one group's part.
pub fn arithmetic(m: &Module, op: OpId, groups: u64) -> u64 {
    let data = m.op(op);
    let most = |values: &[ValueId]| {
        let tiles = values.iter().map(|&v| elements(m, m.ty(v)));
        tiles.max().unwrap_or(0)
    };
    let lanes = match C::of(data.kind) {
        Some(C::Reduce | C::Scan) => {
            let combine = m.body_of(op, 0).map_or(&[][..], |b| &m.block(b).ops);
            let each = combine.iter().filter_map(|&o| C::of(m.op(o).kind));
            most(&data.operands) * each.map(weight).sum::<u64>()
        }
        Some(C::If) => {
            let inner = |i| m.body_of(op, i).map_or(&[][..], |b| &m.block(b).ops);
            return [0, 1]
                .map(|i| inner(i).iter().map(|&o| arithmetic(m, o, groups)).sum())
                .into_iter()
                .max()
                .unwrap_or(0);
        }
        Some(kind) if data.def().traits.has(Traits::ELEMENTWISE) => {
            most(&data.results) * weight(kind)
        }
        _ => 0,
    };
    lanes / (LANES * groups.max(1))
}

/// Cycles of the tensor cores for one group's part of a matmul.
pub fn matmul(m: &Module, dot: OpId, groups: u64) -> u64 {
    let data = m.op(dot);
    let Some(parts) = Matmul::of(data) else {
        return 0;
    };
    let shape = |v: ValueId| match m.types.get(m.ty(v)) {
        Type::Tile { shape, .. } | Type::SharedTile { shape, .. } => shape.to_vec(),
        _ => Vec::new(),
    };
    let result = shape(parts.acc).iter().product::<u64>();
    // The right operand is K × N.
    let right = shape(parts.rhs);
    let columns = shape(parts.acc).last().copied().unwrap_or(1);
    let k = right.iter().product::<u64>() / columns.max(1);
    let bits = match m.types.get(m.ty(parts.rhs)) {
        Type::SharedTile { elem, .. } | Type::Tile { elem, .. } => m.types.bits(*elem),
        _ => None,
    };
    let wide = u64::from(bits.unwrap_or(16).max(8));
    result * k * wide / 16 / (TENSOR * groups.max(1)) + TENSOR_LATENCY
}
