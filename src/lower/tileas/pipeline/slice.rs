//! Copies of operations and of what they depend on.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{BlockId, Module, OpId, RegionId, TypeId, ValueId};
use crate::lower::tileas::look::place;

/// Old value to new value.
pub type Map = FxHashMap<ValueId, ValueId>;

/// Appends a copy of a region-free operation to `block`, its operands renamed by `map`.
pub fn copy(m: &mut Module, op: OpId, block: BlockId, map: &mut Map) -> OpId {
    let end = m.block(block).ops.len();
    with_regions(m, op, (block, end), map, &[])
}

/// Puts a copy of a region-free operation right behind it.
pub fn copy_beside(m: &mut Module, op: OpId) -> OpId {
    let (block, at) = place(m, op);
    with_regions(m, op, (block, at + 1), &mut Map::default(), &[])
}

/// Puts a copy of a region-free operation in front of another one.
pub fn copy_in_front(m: &mut Module, op: OpId, other: OpId, map: &mut Map) -> OpId {
    with_regions(m, op, place(m, other), map, &[])
}

fn with_regions(
    m: &mut Module,
    op: OpId,
    (block, position): (BlockId, usize),
    map: &mut Map,
    regions: &[RegionId],
) -> OpId {
    let data = m.op(op).clone();
    let operands: Vec<ValueId> = data
        .operands
        .iter()
        .map(|v| map.get(v).copied().unwrap_or(*v))
        .collect();
    let groups = data.grouped(&operands);
    let types: Vec<TypeId> = data.results.iter().map(|&r| m.ty(r)).collect();
    let mut b = m.at(block, position);
    b.loc = data.loc;
    let new = b.op(
        data.kind,
        &groups,
        data.attrs.iter().cloned(),
        &types,
        regions,
    );
    for (from, to) in data.results.iter().copied().zip(m.op(new).results.clone()) {
        map.insert(from, to);
    }
    new
}

/// Puts a copy of an operation right behind it, with all that is in it.
pub fn copy_whole_beside(m: &mut Module, op: OpId) -> OpId {
    let (block, at) = place(m, op);
    let mut map = Map::default();
    let regions = copies_of_regions(m, op, &mut map);
    with_regions(m, op, (block, at + 1), &mut map, &regions)
}

/// Appends a copy of an operation to `block`, with all that is in it; `map` gets what it makes, inside and out.
pub fn copy_whole(m: &mut Module, op: OpId, block: BlockId, map: &mut Map) -> OpId {
    let regions = copies_of_regions(m, op, map);
    let end = m.block(block).ops.len();
    with_regions(m, op, (block, end), map, &regions)
}

fn copies_of_regions(m: &mut Module, op: OpId, map: &mut Map) -> Vec<RegionId> {
    let regions = m.op(op).regions.clone();
    let mut copied = Vec::new();
    for region in regions {
        let new = m.new_region();
        for inner in m.region(region).blocks.clone() {
            let args = m.block(inner).args.to_vec();
            let types: Vec<TypeId> = args.iter().map(|&a| m.ty(a)).collect();
            let to = m.new_block(new, &types);
            map.extend(args.into_iter().zip(m.block(to).args.to_vec()));
            for op in m.block(inner).ops.clone() {
                copy_whole(m, op, to, map);
            }
        }
        copied.push(new);
    }
    copied
}

/// The operations of `body` that compute `roots`, in order; operations elsewhere are not followed.
pub fn backward(m: &Module, body: BlockId, roots: impl IntoIterator<Item = ValueId>) -> Vec<OpId> {
    backward_in(m, &[body], roots)
}

/// The operations of `blocks` that compute `roots`, block by block, each in order. No block comes before one around it.
pub fn backward_in(
    m: &Module,
    blocks: &[BlockId],
    roots: impl IntoIterator<Item = ValueId>,
) -> Vec<OpId> {
    let mut wanted = FxHashSet::default();
    let mut work: Vec<ValueId> = roots.into_iter().collect();
    while let Some(value) = work.pop() {
        let inside = |&o: &OpId| blocks.contains(&m.op(o).block);
        let Some(op) = m.def_op(value).filter(inside) else {
            continue;
        };
        if wanted.insert(op) {
            work.extend(&m.op(op).operands);
        }
    }
    let ops = blocks.iter().flat_map(|&b| &m.block(b).ops).copied();
    ops.filter(|o| wanted.contains(o)).collect()
}
