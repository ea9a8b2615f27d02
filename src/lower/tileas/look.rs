//! Questions about operations: what they do with tiles, and what stands around them.

use super::flow;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::enums::{Ordering, PipelineKind};
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{PipelineCreate, TiledLoad};
use crate::facts::access;
use crate::facts::matmul::Matmul;
use crate::ir::{Attr, BlockId, Def, Dense, Module, Op, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether an operation only shows its operand's elements otherwise: with other extents, in another order, or bytes as
/// elements of at most eight bits.
pub fn is_view(m: &Module, op: OpId) -> bool {
    match C::of(m.op(op).kind) {
        Some(C::Reshape | C::Permute) => true,
        Some(C::Unpack) => m
            .types
            .bits(m.ty(m.result(op)))
            .is_some_and(|bits| bits <= 8),
        _ => false,
    }
}

/// Whether an operation is a matmul with scales, which are read as its instruction wants them.
pub fn is_scaled(m: &Module, op: OpId) -> bool {
    Matmul::of(m.op(op)).is_some_and(|matmul| matmul.scales.is_some())
}

/// Whether an operation is a matmul, already given an instruction or not.
pub fn is_matmul(m: &Module, op: OpId) -> bool {
    let kind = m.op(op).kind;
    let chosen = matches!(S::of(kind), Some(S::Dot | S::ScaledDot));
    chosen || matches!(C::of(kind), Some(C::MmaF | C::MmaI | C::MmaFScaled))
}

/// Whether there is an `alloca` under `body`.
pub fn has_alloca(m: &Module, body: BlockId) -> bool {
    let is_it = |o: &OpId| C::of(m.op(*o).kind) == Some(C::Alloca);
    m.ops_under(body).iter().any(is_it)
}

/// Whether a matmul's result, worked over, is the left operand of another.
pub fn is_chained(m: &Module, body: BlockId) -> bool {
    let ops = m.ops_under(body);
    let matmuls = || ops.iter().copied().filter(|&o| is_matmul(m, o));
    matmuls().any(|first| {
        let reached = reach(m, &ops, m.result(first));
        matmuls()
            .any(|o| o != first && Matmul::of(m.op(o)).is_some_and(|p| reached.contains(&p.lhs)))
    })
}

/// Whether a tile is what such a load loads, perhaps shown otherwise.
pub fn shows(m: &Module, mut tile: ValueId, is_load: impl Fn(OpId) -> bool) -> bool {
    while let Some(op) = m.def_op(tile) {
        if is_load(op) {
            return true;
        }
        if !is_view(m, op) {
            return false;
        }
        tile = m.source(op);
    }
    false
}

/// The blocks that operations stand in, each once: a block goes on behind the loops in it.
pub fn blocks_of(m: &Module, ops: impl IntoIterator<Item = OpId>) -> Vec<BlockId> {
    let mut blocks = Vec::new();
    for op in ops {
        let block = m.op(op).block;
        if !blocks.contains(&block) {
            blocks.push(block);
        }
    }
    blocks
}

/// Whether an operation works element by element or changes a shape.
pub fn passes_on(m: &Module, op: OpId) -> bool {
    m.op(op).def().traits.has(Traits::ELEMENTWISE) || is_view(m, op)
}

/// Whether a tile, and each that is computed of it before it is reduced, stored or multiplied as a matrix, has at most so many
/// elements; not if it is multiplied.
pub fn are_few(m: &Module, tile: ValueId, most: u64) -> bool {
    let mut seen: FxHashSet<ValueId> = [tile].into_iter().collect();
    let mut work = vec![tile];
    while let Some(value) = work.pop() {
        if elements(m, value) > most {
            return false;
        }
        for user in m.users(value) {
            let next = match C::of(m.op(user).kind) {
                Some(C::Broadcast) => vec![m.result(user)],
                _ if passes_on(m, user) => m.op(user).results.to_vec(),
                _ if is_matmul(m, user) => return false,
                _ => {
                    let passed = flow::carried(m, user).into_iter();
                    passed.filter(|p| p.0 == value).map(|p| p.1).collect()
                }
            };
            work.extend(next.into_iter().filter(|&v| seen.insert(v)));
        }
    }
    true
}

/// What `ops` make of a tile by elementwise operations and changes of shape, itself included.
pub fn reach(m: &Module, ops: &[OpId], tile: ValueId) -> FxHashSet<ValueId> {
    reach_by(m, ops, tile, passes_on)
}

/// [`reach`], also through elements that are put beside each other or taken apart, as halves of packed weights are.
pub fn reach_arranged(m: &Module, ops: &[OpId], tile: ValueId) -> FxHashSet<ValueId> {
    reach_by(m, ops, tile, |m, op| passes_on(m, op) || arranges(m, op))
}

/// [`reach_arranged`], also through elements that are repeated, as scales are.
pub fn reach_repeated(m: &Module, ops: &[OpId], tile: ValueId) -> FxHashSet<ValueId> {
    let repeats = |m: &Module, op: OpId| C::of(m.op(op).kind) == Some(C::Broadcast);
    reach_by(m, ops, tile, |m, op| {
        passes_on(m, op) || arranges(m, op) || repeats(m, op)
    })
}

/// Whether an operation puts tiles beside each other or takes a part of one.
fn arranges(m: &Module, op: OpId) -> bool {
    matches!(C::of(m.op(op).kind), Some(C::Cat | C::Extract))
}

fn reach_by(
    m: &Module,
    ops: &[OpId],
    tile: ValueId,
    passes: impl Fn(&Module, OpId) -> bool,
) -> FxHashSet<ValueId> {
    let mut reached: FxHashSet<ValueId> = [tile].into_iter().collect();
    for &op in ops {
        let data = m.op(op);
        if data.operands.iter().any(|v| reached.contains(v)) && passes(m, op) {
            reached.extend(&data.results);
        }
    }
    reached
}

/// Whether a matmul is left to threads: rules have given the others their instruction.
pub fn lacks_instruction(m: &Module, matmul: OpId) -> bool {
    C::of(m.op(matmul).kind).is_some()
}

/// Whether an operation converts a tile's elements one by one to another type.
pub fn casts(m: &Module, op: OpId) -> bool {
    matches!(
        C::of(m.op(op).kind),
        Some(C::FToF | C::IToF | C::FToI | C::ExtI | C::TruncI | C::Bitcast)
    )
}

/// Each operation that uses `tile`, or what elementwise operations and changes of shape make of it, for something else, and
/// which of these values it uses. Values that nothing uses come with none.
pub fn last_users(m: &Module, tile: ValueId) -> Vec<(ValueId, Option<OpId>)> {
    // Each value once: ways through elementwise operations part and meet again.
    let mut seen: FxHashSet<ValueId> = [tile].into_iter().collect();
    let mut work = vec![tile];
    let mut last = Vec::new();
    while let Some(value) = work.pop() {
        let users = m.users(value);
        if users.is_empty() {
            last.push((value, None));
        }
        for user in users {
            match passes_on(m, user) {
                true => work.extend(m.op(user).results.iter().filter(|r| seen.insert(**r))),
                false => last.push((value, Some(user))),
            }
        }
    }
    last
}

/// [`reach`], also through what branches and loops pass on.
pub fn reach_through_loops(m: &Module, ops: &[OpId], tile: ValueId) -> FxHashSet<ValueId> {
    let mut passed: Vec<_> = ops.iter().flat_map(|&o| flow::carried(m, o)).collect();
    for &op in ops {
        // The last iteration of a counted loop makes its results.
        let holder = flow::jump_target(m, op).filter(|&h| C::of(m.op(h).kind) == Some(C::For));
        if let (Some(C::Continue), Some(holder)) = (C::of(m.op(op).kind), holder) {
            let results = m.op(holder).results.iter().copied();
            passed.extend(m.op(op).operands.iter().copied().zip(results));
        }
    }
    let mut reached = reach(m, ops, tile);
    loop {
        let before = reached.len();
        for &(from, to) in &passed {
            if reached.contains(&from) && reached.insert(to) {
                reached.extend(reach(m, ops, to));
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

/// Elements of a tile.
pub fn elements(m: &Module, v: ValueId) -> u64 {
    let tile = m.types.as_tile(m.ty(v));
    tile.map_or(1, |(_, shape)| shape.iter().product::<u64>())
}

/// Elements that live side by side: the results of matmuls beside each other, or what a loop carries.
/// `elements`: of a tile.
pub fn together(m: &Module, ops: &[OpId], elements: &dyn Fn(ValueId) -> u64) -> u64 {
    let mut matmuls: FxHashMap<BlockId, u64> = FxHashMap::default();
    let mut carried = 0;
    for &op in ops {
        let data = m.op(op);
        let results: u64 = data.results.iter().map(|&v| elements(v)).sum();
        if is_matmul(m, op) {
            // What is added to another matmul of the block, computed on or not, takes that one's place.
            let chained = |o: &&OpId| is_matmul(m, **o) && m.op(**o).block == data.block;
            let into = ops
                .iter()
                .filter(chained)
                .any(|&o| Matmul::of(m.op(o)).is_some_and(|p| comes_of(m, p.acc, op)));
            if !into {
                *matmuls.entry(data.block).or_default() += results;
            }
        } else if matches!(C::of(data.kind), Some(C::For | C::Loop)) {
            carried = results.max(carried);
        }
    }
    matmuls.into_values().max().unwrap_or(0).max(carried)
}

/// Whether a tile is the result of `matmul`, as it is or after elementwise operations that make tiles of its size.
fn comes_of(m: &Module, tile: ValueId, matmul: OpId) -> bool {
    let whole = elements(m, tile);
    let mut work = vec![tile];
    let mut seen = FxHashSet::default();
    while let Some(value) = work.pop() {
        let Some(op) = m.def_op(value).filter(|&o| seen.insert(o)) else {
            continue;
        };
        if op == matmul {
            return true;
        }
        let passed = m.op(op).operands.iter().copied();
        if passes_on(m, op) {
            work.extend(passed.filter(|&v| elements(m, v) == whole));
        }
    }
    false
}

/// Whether a load makes a tile of one element.
pub fn is_number(m: &Module, load: OpId) -> bool {
    elements(m, m.result(load)) == 1
}

/// Whether a constant is zero everywhere.
pub fn is_zero(m: &Module, op: OpId) -> bool {
    matches!(
        tile::Constant::of(m.op(op)).map(|v| v.value()),
        Some(Attr::Dense { data: Dense::Bytes(bytes), .. }) if bytes.iter().all(|&b| b == 0)
    )
}

/// Whether a tile is loaded for matmuls that read it across its rows (`tcgen05/across.rs`).
pub fn has_wide_atoms(m: &Module, tile: ValueId) -> bool {
    let load = m.def_op(tile).and_then(|op| TiledLoad::of(m.op(op)));
    load.is_some_and(|v| v.wide_atoms())
}

/// The block and the position of an operation.
pub fn place(m: &Module, op: OpId) -> (BlockId, usize) {
    let block = m.op(op).block;
    let position = m.block(block).ops.iter().position(|&o| o == op);
    (block, position.unwrap_or(0))
}

/// Whether an operation only reads memory, in no order with other threads.
pub fn loads_weakly(data: &Op) -> bool {
    matches!(S::of(data.kind), Some(S::TiledLoad | S::Load))
        && access::ordering(data) == Ordering::Weak
}

/// Whether the kernel may end in the regions of an operation.
pub fn may_end_in(m: &Module, op: OpId) -> bool {
    let inside = m.ops_inside(op).into_iter();
    inside
        .map(|o| S::of(m.op(o).kind))
        .any(|kind| kind == Some(S::Return))
}

/// Whether the kernel may end between two operations of a block.
pub fn may_end(m: &Module, from: OpId, to: OpId) -> bool {
    let (block, start) = place(m, from);
    let end = place(m, to).1;
    let between = m.block(block).ops.get(start..end).unwrap_or(&[]);
    between.iter().any(|&op| may_end_in(m, op))
}

/// The block in which a value is known, and the first position behind its definition.
pub fn behind(m: &Module, value: ValueId) -> (BlockId, usize) {
    match m.value(value).def {
        Def::Argument { block, .. } => (block, 0),
        Def::Result { op, .. } => {
            let (block, at) = place(m, op);
            (block, at + 1)
        }
    }
}

/// The operation of `block` that is `op` or holds it.
pub fn ancestor_in(m: &Module, body: BlockId, block: BlockId, mut op: OpId) -> Option<OpId> {
    while m.op(op).block != block {
        if m.op(op).block == body {
            return None;
        }
        op = m.parent_op(op)?;
    }
    Some(op)
}

/// The operation that gives a kernel's warps their roles, if they have any.
pub fn roles(m: &Module, body: BlockId) -> Option<OpId> {
    let splits = |o: &OpId| S::of(m.op(*o).kind) == Some(S::WarpSpecialize);
    m.block(body).ops.iter().copied().find(splits)
}

/// What fills the stages of a pipeline.
pub fn pipeline_kind(m: &Module, pipeline: ValueId) -> Option<PipelineKind> {
    let create = PipelineCreate::of(m.op(m.def_op(pipeline)?))?;
    Some(create.kind())
}

/// The innermost loop around a block, `body` being the function's.
pub fn loop_around(m: &Module, body: BlockId, mut block: BlockId) -> Option<OpId> {
    while block != body {
        let parent = m.region(m.block(block).region).parent;
        if matches!(C::of(m.op(parent).kind), Some(C::For | C::Loop)) {
            return Some(parent);
        }
        block = m.op(parent).block;
    }
    None
}
