//! Matmuls of transposed operands (`x @ w.T`) meet their loads directly.
//!
//! A tiled access says for each dimension of its tile which dimension of the tensor it walks, so
//! `permute(load)` is a load whose lists are permuted. Matmuls take operands in any memory order. Other
//! users keep the permutation: between a load and a store it is where the layout changes.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view as tile;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view;
use crate::facts::access::{Access, group};
use crate::ir::{Attr, BlockId, Module, OpId, ValueId};
use crate::lower::tileas::look::{is_matmul, passes_on};
use rustc_hash::FxHashSet;

/// Rewrites every such permutation under `body`.
pub fn absorb(m: &mut Module, body: BlockId) {
    let ops = m.ops_under(body);
    // A permutation that goes takes nothing from what the others lead to.
    let feeding = feeding_matmuls(m, &ops);
    for op in ops {
        if C::of(m.op(op).kind) == Some(C::Permute)
            && feeding.contains(&m.result(op))
            && let Some(found) = Transposed::find(m, op)
        {
            found.rewrite(m);
        }
    }
}

/// The tiles from which elementwise operations and changes of shape make operands of matmuls, with these.
fn feeding_matmuls(m: &Module, ops: &[OpId]) -> FxHashSet<ValueId> {
    let mut feeding = FxHashSet::default();
    for &op in ops.iter().rev() {
        let data = m.op(op);
        if is_matmul(m, op) {
            feeding.extend(data.operands.iter().take(2));
        } else if passes_on(m, op) && data.results.iter().any(|v| feeding.contains(v)) {
            feeding.extend(&data.operands);
        }
    }
    feeding
}

/// A permutation of a tile that is loaded for it alone, perhaps without its dimensions of one element.
struct Transposed {
    permute: OpId,
    reshape: Option<OpId>,
    load: OpId,
    /// Which dimension of the loaded tile each one of the new tile is.
    dims: Vec<usize>,
}

impl Transposed {
    fn find(m: &Module, permute: OpId) -> Option<Transposed> {
        let perm = tile::Permute::of(m.op(permute))?.permutation();
        let perm: Vec<usize> = perm.iter().map(|&d| d as usize).collect();
        let source = only_use(m, m.source(permute))?;
        let reshape = (C::of(m.op(source).kind) == Some(C::Reshape)).then_some(source);
        let load = match reshape {
            Some(reshape) => only_use(m, m.source(reshape))?,
            None => source,
        };
        let data = m.op(load);
        let access = Access::of(data).filter(|a| a.sparse.is_none())?;
        if S::of(data.kind) != Some(S::TiledLoad) {
            return None;
        }
        let shape = shape(m, m.result(load))?;
        let dims = match reshape {
            None => perm,
            Some(reshape) => {
                let long: Vec<usize> = (0..shape.len()).filter(|&d| shape[d] > 1).collect();
                let kept: Vec<u64> = long.iter().map(|&d| shape[d]).collect();
                if kept != self::shape(m, m.result(reshape))? {
                    return None;
                }
                let mut dims: Vec<usize> = (0..shape.len()).collect();
                for (&to, &from) in long.iter().zip(&perm) {
                    *dims.get_mut(to)? = *long.get(from)?;
                }
                dims
            }
        };
        (dims.len() == access.index.len()).then_some(Transposed {
            permute,
            reshape,
            load,
            dims,
        })
    }

    fn rewrite(self, m: &mut Module) {
        let data = m.op(self.load).clone();
        let Some(v) = view::TiledLoad::of(&data) else {
            return;
        };
        let (tile, index) = (v.tile(), v.index());
        let moved: Vec<ValueId> = self.dims.iter().map(|&d| index[d]).collect();
        let elem = m.types.elem(m.ty(tile));
        let old = shape(m, tile).unwrap_or_default();
        let new: Vec<u64> = self.dims.iter().map(|&d| old[d]).collect();
        let ty = m.types.tile(elem, &new);
        for name in ["dim_map", "traversal", "inbounds"] {
            let slot = m.attr_mut(self.load, name);
            *slot = slot.take().map(|list| self.permuted(list));
        }
        let before = data.def().operands.iter().take_while(|o| o.name != "index");
        let start: usize = before.map(|o| group(&data, o.name).len()).sum();
        let mut load = m.op_mut(self.load);
        for (slot, value) in load.operands.iter_mut().skip(start).zip(moved) {
            *slot = value;
        }
        drop(load);
        m.value_mut(tile).ty = ty;
        let from = match self.reshape {
            None => tile,
            Some(reshape) => {
                let from = m.result(reshape);
                let ty = m.ty(m.result(self.permute));
                m.value_mut(from).ty = ty;
                from
            }
        };
        let to = m.result(self.permute);
        m.replace_all_uses(to, from);
        m.erase(self.permute);
    }

    /// A list with an entry for each dimension.
    fn permuted(&self, list: Attr) -> Attr {
        match list {
            Attr::I32s(list) => Attr::I32s(self.dims.iter().map(|&d| list[d]).collect()),
            Attr::Bools(list) => Attr::Bools(self.dims.iter().map(|&d| list[d]).collect()),
            other => other,
        }
    }
}

/// The operation that makes a tile which only one operand uses.
fn only_use(m: &Module, tile: ValueId) -> Option<OpId> {
    let uses = |o: OpId| m.op(o).operands.iter().filter(|&&v| v == tile).count();
    let count: usize = m.users(tile).into_iter().map(uses).sum();
    m.def_op(tile).filter(|_| count == 1)
}

fn shape(m: &Module, tile: ValueId) -> Option<Vec<u64>> {
    Some(m.types.as_tile(m.ty(tile))?.1.to_vec())
}
