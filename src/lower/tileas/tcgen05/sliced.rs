//! Slices of the columns of an accumulator are loaded as such.
//!
//! ```text
//! t = tensor_load acc : 128x256
//! a = extract t[0, 0] : 128x128      →      a = tensor_load acc, part 0 : 128x128
//! b = extract t[0, 1] : 128x128             b = tensor_load acc, part 1 : 128x128
//! ```
//! Warpgroups share out the columns of what they load. Of a whole accumulator one of them has the left half, which is a slice
//! that all of them work on: it would go through shared memory.

use super::epilogue::whole_loads;
use crate::dialect::cuda_tile::view::Extract;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access::constant;
use crate::facts::tensor::tensor_matrix;
use crate::facts::{self, FactMap};
use crate::ir::{BlockId, Module, OpId};
use crate::layout::tensor::Share;
use crate::lower::build;
use crate::lower::tileas::look::place;

/// Loads accumulators under `body` of which only slices are used, for so many `warps`.
pub fn load(m: &mut Module, func: OpId, body: BlockId, warps: u64) {
    let mut loads = whole_loads(m, body);
    loads.retain(|&l| {
        m.users(m.result(l))
            .iter()
            .any(|&u| Extract::of(m.op(u)).is_some())
    });
    if loads.is_empty() {
        return;
    }
    let facts = facts::of(m, func);
    for load in loads {
        let users = m.users(m.result(load));
        let slices = users.iter().map(|&u| slice(m, &facts, load, u, warps / 4));
        let Some(slices) = slices.collect::<Option<Vec<i64>>>() else {
            continue;
        };
        for (extract, number) in users.into_iter().zip(slices) {
            load_slice(m, load, extract, number);
        }
        m.erase(load);
    }
}

/// The number of the slice of columns that `user` takes of what `load` loads, if so many warpgroups can share it out.
fn slice(m: &Module, facts: &FactMap, load: OpId, user: OpId, groups: u64) -> Option<i64> {
    let extract = Extract::of(m.op(user))?;
    let matrix = tensor_matrix(m, view::TensorLoad::of(m.op(load))?.source())?;
    let (_, &[rows, columns]) = m.types.as_tile(m.ty(extract.result()))? else {
        return None;
    };
    let &[_, number] = extract.indices() else {
        return None;
    };
    let parts = matrix.columns.checked_div(columns)?;
    let share = Share::of_part(matrix, parts, groups).ok()?;
    share.layout().ok()?;
    let fits = rows == matrix.rows && parts > 1;
    constant(facts, number).filter(|&n| fits && (0..parts as i64).contains(&n))
}

/// Puts a load of slice `number` of the columns in the place of `extract`, where the whole is loaded.
fn load_slice(m: &mut Module, load: OpId, extract: OpId, number: i64) {
    let data = m.op(load).clone();
    let ty = m.ty(m.result(extract));
    let i32_ty = m.types.int(32);
    let scalar = m.types.tile(i32_ty, &[]);
    let (block, at) = place(m, load);
    let mut b = m.at(block, at);
    b.loc = data.loc;
    let part = build::constant(&mut b, number, scalar);
    let groups: [&[_]; 3] = [data.group(0), data.group(1), &[part]];
    let slice = b.op(S::TensorLoad, &groups, [], &[ty], &[]);
    let (old, new) = (m.result(extract), m.result(slice));
    m.replace_all_uses(old, new);
    m.erase(extract);
}
