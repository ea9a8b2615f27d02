//! How many elements of a tile can differ: a broadcast repeats those of its operand, and so does what is computed of
//! broadcasts element by element.

use crate::dialect::Traits;
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::ir::{Module, OpId, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// For each dimension the elements that can differ, at most the tile's extent: one where all are equal along it.
type Extents = SmallVec<[u64; 4]>;

/// The tiles of which elements are known to repeat.
#[derive(Default)]
pub struct Distinct(FxHashMap<ValueId, Extents>);

impl Distinct {
    /// Of what `ops` make, which stand in an order in which operands come before their users.
    pub fn of(m: &Module, ops: &[OpId]) -> Self {
        let mut known = Distinct::default();
        for &op in ops {
            let Some(extents) = known.result(m, op) else {
                continue;
            };
            for &result in &m.op(op).results {
                if m.types
                    .as_tile(m.ty(result))
                    .is_some_and(|t| t.1 != &*extents)
                {
                    known.0.insert(result, extents.clone());
                }
            }
        }
        known
    }

    /// The elements of a tile that one thread of `warps` warps holds, if some are known to repeat: lying as matmuls leave
    /// them, rows over the warps and eight lanes of each, columns over four lanes.
    pub fn of_thread(&self, value: ValueId, warps: u64) -> Option<u64> {
        let (columns, rows) = self.0.get(&value)?.split_last()?;
        let rows: u64 = rows.iter().product();
        Some(rows.div_ceil(8 * warps.max(1)) * columns.div_ceil(4))
    }

    fn extents(&self, m: &Module, value: ValueId) -> Option<Extents> {
        let (_, shape) = m.types.as_tile(m.ty(value))?;
        Some(match self.0.get(&value) {
            Some(known) => known.clone(),
            None => shape.iter().copied().collect(),
        })
    }

    /// Of the results of an operation that keeps or makes repetitions.
    fn result(&self, m: &Module, op: OpId) -> Option<Extents> {
        let data = m.op(op);
        match C::of(data.kind) {
            Some(C::Broadcast | C::Assume) => self.extents(m, m.source(op)),
            Some(C::Permute) => {
                let source = self.extents(m, m.source(op))?;
                let permutation = tile::Permute::of(data)?.permutation();
                permutation
                    .iter()
                    .map(|&d| source.get(usize::try_from(d).ok()?).copied())
                    .collect()
            }
            Some(C::Reshape) => self.reshaped(m, op),
            _ if data.def().traits.has(Traits::ELEMENTWISE) => self.elementwise(m, op),
            _ => None,
        }
    }

    /// The most of the operands, along each dimension; `None` if none of them is known to repeat elements.
    fn elementwise(&self, m: &Module, op: OpId) -> Option<Extents> {
        let data = m.op(op);
        if !data.operands.iter().any(|v| self.0.contains_key(v)) {
            return None;
        }
        let (_, shape) = m.types.as_tile(m.ty(*data.results.first()?))?;
        let operands = data.operands.iter().filter_map(|&v| self.extents(m, v));
        let tiles = operands.filter(|extents| extents.len() == shape.len());
        tiles.reduce(|mut most, other| {
            most.iter_mut().zip(other).for_each(|(a, b)| *a = b.max(*a));
            most
        })
    }

    /// Those of the operand, where only dimensions of one element come or go.
    fn reshaped(&self, m: &Module, op: OpId) -> Option<Extents> {
        let source = self.extents(m, m.source(op))?;
        let (_, before) = m.types.as_tile(m.ty(m.source(op)))?;
        let (_, after) = m.types.as_tile(m.ty(m.result(op)))?;
        let mut wide = before.iter().zip(source).filter(|(n, _)| **n > 1);
        let extents: Option<Extents> = after
            .iter()
            .map(|&n| match n {
                1 => Some(1),
                _ => wide.next().filter(|(m, _)| **m == n).map(|(_, e)| e),
            })
            .collect();
        extents.filter(|_| wide.next().is_none())
    }
}
