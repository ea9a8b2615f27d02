//! How long the operations of a loop take, by the rates that tensor cores and arithmetic have on a multiprocessor.
//!
//! Rates are those of compute capability 9.0: the throughput table of the CUDA C++ Programming Guide, the whitepaper
//! "NVIDIA H100 Tensor Core GPU Architecture" for tensor cores, and measurements on an H100 (`tools/bench/gpu/micro.py`).
//! `tools/ptxsim/gpus.json` has the same.

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::facts::matmul::Matmul;
use crate::ir::{Module, OpId, Type, TypeId, ValueId};

/// Multiply-adds of 16-bit numbers in a cycle of a multiprocessor's tensor cores; others as they are wide.
const TENSOR: u64 = 2048;
/// Results of single-precision arithmetic in a cycle.
const LANES: u64 = 128;
/// Cycles from the issue of a matmul to its registers beyond its own.
pub const TENSOR_LATENCY: u64 = 52;

/// A pipeline of arithmetic.
struct Pipe {
    /// How long an operation holds a lane for each element: 128 results in a cycle count 1.
    weight: u64,
    /// Hundredths of that while the tensor cores multiply for a warpgroup: they use the same registers.
    beside: u64,
}

const FMA: Pipe = Pipe {
    weight: 1,
    beside: 150,
};
/// 64 results in a cycle.
const ALU: Pipe = Pipe {
    weight: 2,
    beside: 195,
};
/// 16 results in a cycle.
const SPECIAL: Pipe = Pipe {
    weight: 8,
    beside: 132,
};
/// Two results of [`SPECIAL`], or arithmetic as long.
const DIVISION: Pipe = Pipe {
    weight: 2 * SPECIAL.weight,
    beside: SPECIAL.beside,
};

fn pipe(kind: C) -> &'static Pipe {
    match kind {
        C::Exp | C::Exp2 | C::Log | C::Log2 | C::Rsqrt | C::Sqrt | C::Sin | C::Cos | C::TanH => {
            &SPECIAL
        }
        C::DivF | C::DivI | C::RemI | C::RemF => &DIVISION,
        C::FToF | C::FToI | C::IToF | C::MaxF | C::MinF | C::CmpF | C::CmpI | C::Select => &ALU,
        _ => &FMA,
    }
}

/// Cycles of a piece of work.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cycles {
    /// Beside nothing else.
    pub alone: u64,
    /// Of arithmetic, while the tensor cores multiply for a warpgroup.
    pub beside: u64,
}

fn elements(m: &Module, ty: TypeId) -> u64 {
    match m.types.get(ty) {
        Type::Tile { shape, .. } => shape.iter().product::<u64>(),
        _ => 1,
    }
}

/// Cycles that one of `groups` warpgroups computes its part of an operation's elements for.
pub fn arithmetic(m: &Module, op: OpId, groups: u64) -> Cycles {
    let data = m.op(op);
    let most = |values: &[ValueId]| {
        let tiles = values.iter().map(|&v| elements(m, m.ty(v)));
        tiles.max().unwrap_or(0)
    };
    let of = |elements: u64, pipes: &mut dyn Iterator<Item = &'static Pipe>| {
        let each = |sum: Cycles, p: &Pipe| Cycles {
            alone: sum.alone + elements * p.weight,
            beside: sum.beside + elements * p.weight * p.beside / 100,
        };
        let lanes = pipes.fold(Cycles::default(), each);
        Cycles {
            alone: lanes.alone / (LANES * groups.max(1)),
            beside: lanes.beside / (LANES * groups.max(1)),
        }
    };
    match C::of(data.kind) {
        Some(C::Reduce | C::Scan) => {
            let combine = m.body_of(op, 0).map_or(&[][..], |b| &m.block(b).ops);
            let mut kinds = combine
                .iter()
                .filter_map(|&o| C::of(m.op(o).kind))
                .map(pipe);
            of(most(&data.operands), &mut kinds)
        }
        Some(C::If) => {
            let inner = |i| m.body_of(op, i).map_or(&[][..], |b| &m.block(b).ops);
            let sum = |i| {
                let each = inner(i).iter().map(|&o| arithmetic(m, o, groups));
                each.fold(Cycles::default(), |a, b| Cycles {
                    alone: a.alone + b.alone,
                    beside: a.beside + b.beside,
                })
            };
            let longer = [0, 1].map(sum).into_iter().max_by_key(|c: &Cycles| c.alone);
            longer.unwrap_or_default()
        }
        Some(kind) if data.def().traits.has(Traits::ELEMENTWISE) => {
            of(most(&data.results), &mut std::iter::once(pipe(kind)))
        }
        _ => Cycles::default(),
    }
}

/// Cycles of the tensor cores for one group's part of a matmul.
pub fn matmul(m: &Module, dot: OpId, groups: u64) -> Cycles {
    let data = m.op(dot);
    let Some(parts) = Matmul::of(data) else {
        return Cycles::default();
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
    let own = result * k * wide / 16 / (TENSOR * groups.max(1));
    Cycles {
        alone: own,
        beside: own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock of `ptxsim` estimates with the same figures.
    #[test]
    fn figures_are_those_of_the_table() {
        let table = include_str!("../../../../tools/ptxsim/gpus.json");
        let table: serde_json::Value = serde_json::from_str(table).unwrap();
        let common = &table["capabilities"]["90"];
        let figure = |name: &str| common[name]["value"].as_f64().unwrap();
        let lanes = |p: &Pipe| LANES as f64 / p.weight as f64;
        assert_eq!(common["tensor"]["f16"]["value"].as_u64(), Some(TENSOR));
        assert_eq!(figure("wgmma_latency"), TENSOR_LATENCY as f64);
        for (pipe, rate, beside) in [
            (&FMA, "f32", "fma_beside_wgmma"),
            (&ALU, "int_add", "alu_beside_wgmma"),
            (&SPECIAL, "special", "special_beside_wgmma"),
        ] {
            assert_eq!(
                (lanes(pipe), pipe.beside as f64 / 100.0),
                (figure(rate), figure(beside))
            );
        }
    }
}
