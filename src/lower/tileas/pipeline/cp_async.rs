//! The form of a loop whose loads run ahead of what reads them: by `cp.async` in several stages, or through [`registers`].
//!
//! ```text
//! for the first S-1 iterations   { tiled_copy a, b, …; producer_commit }
//! for i                     { consumer_wait; producer_acquire i+S-1;
//!                             tiled_copy a, b, … of iteration i+S-1; producer_commit;
//!                             local_load a, b, … where they were loaded; consumer_release }
//! drain
//! ```
//! All warps copy and all multiply. The barrier in `consumer_wait` i also says that everyone is done
//! with stage `i - 1`, which is the stage that the tiles of iteration `i + S - 1` go to.

mod plan;
mod registers;
mod through_registers;

pub use plan::{Plan, Sharing};

use super::guard;
use super::next::{add, less};
use super::slice::{Map, backward_in, copy};
use super::tokens::{fence_in_front, followers};
use super::{Prefetch, padding};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view as tile;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::group;
use crate::ir::{Attr, BlockId, Diagnostic, Module, OpBuilder, OpId, Type, TypeId, ValueId};
use crate::lower::build::{self, cased, times};
use crate::lower::carried::{with_one_more, yield_too};
use crate::lower::tileas::buffers::{memory_order, shared_type};
use crate::lower::tileas::pipeline::ahead::{ACCESS, POINTED, address_of, forget_token};

/// Values of the loop's form while it is built.
struct Build<'p> {
    plan: &'p Plan,
    /// One for each load.
    buffers: Vec<ValueId>,
    pipeline: ValueId,
    bounds: [ValueId; 3],
    /// The function's body.
    top: BlockId,
}

/// A pipeline and its buffers, which loops after one another use in iteration.
pub struct Ring {
    types: Vec<TypeId>,
    buffers: Vec<ValueId>,
    pipeline: ValueId,
}

/// The types of a loop's buffers, of one stage each: loops with the same ones share their memory.
pub fn signature(m: &mut Module, stream: &Prefetch, facts: &FactMap) -> Vec<TypeId> {
    let mut types = Vec::new();
    for &load in &stream.loads {
        let tile = m.result(load);
        let order = memory_order(m, facts, load);
        let layout = stream.purpose.layout(m, tile, &order);
        types.extend(layout.ok().map(|l| shared_type(m, tile, &l, 1)));
    }
    types
}

/// The ring for a plan, made at the start of `top` unless an earlier loop has one like it.
fn ring(
    m: &mut Module,
    top: BlockId,
    plan: &Plan,
    facts: &FactMap,
    rings: &mut Vec<Ring>,
) -> Result<(Vec<ValueId>, ValueId), Diagnostic> {
    let mut types = Vec::new();
    for &load in &plan.stream.loads {
        let tile = m.result(load);
        let purpose = plan.stream.purpose;
        let layout = purpose
            .layout(m, tile, &memory_order(m, facts, load))
            .map_err(|e| crate::lower::unsupported(m, load, format!("no layout: {e}")))?;
        types.push(shared_type(m, tile, &layout, plan.stages as u32));
    }
    let unfollowed = is_unfollowed(m, top, plan);
    if let Some(ring) = rings.iter().find(|r| r.types == types) {
        if !unfollowed && let Some(create) = m.def_op(ring.pipeline) {
            *m.attr_mut(create, UNFOLLOWED) = None;
        }
        return Ok((ring.buffers.clone(), ring.pipeline));
    }
    let mut buffers = Vec::new();
    for &ty in &types {
        buffers.push(m.at(top, 0).value(S::AllocTensor, &[], [], ty));
    }
    let pipeline = create(m, top, plan, unfollowed);
    rings.push(Ring {
        types,
        buffers: buffers.clone(),
        pipeline,
    });
    Ok((buffers, pipeline))
}

/// Rewrites the loop in place.
pub fn apply(
    m: &mut Module,
    func: OpId,
    plan: &Plan,
    facts: &FactMap,
    rings: &mut Vec<Ring>,
) -> Result<(), Diagnostic> {
    let stream = &plan.stream;
    let outer = m.op(stream.for_op).block;
    let Some(top) = m.body_of(func, 0) else {
        return Ok(());
    };
    let (buffers, pipeline) = ring(m, top, plan, facts, rings)?;
    let data = m.op(stream.for_op).clone();
    let Some(v) = tile::For::of(&data) else {
        return Ok(());
    };
    let bounds = [v.lowerBound(), v.upperBound(), v.step()];
    let b = Build {
        plan,
        buffers,
        pipeline,
        bounds,
        top,
    };

    // Everything after the loop waits until the new loop stands.
    let ops = std::mem::take(&mut m.block_mut(outer).ops);
    let split = ops.iter().position(|&o| o == stream.for_op).unwrap_or(0);
    m.block_mut(outer).ops = ops[..split].to_vec();
    fence_in_front(m, outer, &stream.loads);
    match plan.kind {
        PipelineKind::Registers => b.first_tiles(m, facts, outer),
        _ => b.prologue(m, outer),
    }
    b.body(m);
    b.replace_loop(m, outer);
    m.at_end(outer).op(S::Drain, &[&[pipeline]], [], &[], &[]);
    m.block_mut(outer).ops.extend(&ops[split + 1..]);
    Ok(())
}

/// Appends a copy of a load of numbers through pointers, which loads only where `enable` is true.
fn load_numbers(m: &mut Module, op: OpId, block: BlockId, enable: ValueId, map: &mut Map) {
    let data = m.op(op).clone();
    let renamed = |name: &str| -> Vec<ValueId> {
        let values = group(&data, name).iter();
        values.map(|v| map.get(v).copied().unwrap_or(*v)).collect()
    };
    let [pointers, mask, padding, token] = ["pointers", "mask", "padding", "token"].map(renamed);
    let shape = m
        .types
        .as_tile(m.ty(m.result(op)))
        .map_or_else(Vec::new, |t| t.1.to_vec());
    let i1 = m.types.int(1);
    let ty = m.types.tile(i1, &shape);
    let types: Vec<TypeId> = data.results.iter().map(|&r| m.ty(r)).collect();
    let mut b = m.at_end(block);
    b.loc = data.loc;
    let mut here = everywhere(&mut b, enable, &shape);
    if let Some(&mask) = mask.first() {
        here = b.value(C::AndI, &[mask, here], [], ty);
    }
    let groups: [&[ValueId]; 4] = [&pointers, &[here], &padding, &token];
    let new = b.op(data.kind, &groups, data.attrs.iter().cloned(), &types, &[]);
    for (from, to) in data.results.iter().copied().zip(m.op(new).results.clone()) {
        map.insert(from, to);
    }
}

/// A tile of `shape` that has the single element `value` everywhere.
fn everywhere(b: &mut OpBuilder<'_>, value: ValueId, shape: &[u64]) -> ValueId {
    if shape.is_empty() {
        return value;
    }
    let elem = b.module.types.elem(b.module.ty(value));
    let ones = b.module.types.tile(elem, &vec![1; shape.len()]);
    let one = b.value(C::Reshape, &[value], [], ones);
    let whole = b.module.types.tile(elem, shape);
    match whole == ones {
        true => one,
        false => b.value(C::Broadcast, &[one], [], whole),
    }
}

/// What is loaded iterations ahead may lie behind the end.
fn forget_bounds(m: &mut Module, load: OpId) {
    if let Some(Attr::Bools(list)) = m.attr_mut(load, "inbounds") {
        list.iter_mut().for_each(|b| *b = false);
    }
}

/// The flag of pipelines whose copies no access waits for.
const UNFOLLOWED: &str = "unfollowed";

/// Whether no access of the kernel in `top` waits for what the copies of `plan` read.
fn is_unfollowed(m: &Module, top: BlockId, plan: &Plan) -> bool {
    let loads = plan.stream.loads.iter();
    let mut after = loads.flat_map(|&load| followers(m, top, load));
    plan.kind == PipelineKind::CpAsync && after.next().is_none()
}

fn create(m: &mut Module, block: BlockId, plan: &Plan, unfollowed: bool) -> ValueId {
    let i32_ty = m.types.int(32);
    let int = |value: i64| Some(Attr::Int { value, ty: i32_ty });
    let ty = m.types.intern(Type::Pipeline {
        stages: plan.stages as u32,
    });
    let attrs = [
        cased(plan.kind),
        int(plan.stages as i64),
        int(1),
        int(0),
        None,
        None,
        None,
        unfollowed.then_some(Attr::Unit),
    ];
    let first = plan.stream.loads.first();
    let loc = m.op(*first.unwrap_or(&plan.stream.for_op)).loc;
    let mut b = m.at(block, 0);
    b.loc = loc;
    b.value(S::PipelineCreate, &[], attrs, ty)
}

fn number(b: &mut OpBuilder<'_>, value: i64) -> ValueId {
    let i32_ty = b.module.types.int(32);
    let ty = b.module.types.tile(i32_ty, &[]);
    build::constant(b, value, ty)
}

impl Build<'_> {
    /// The first S-1 iterations.
    fn prologue(&self, m: &mut Module, block: BlockId) {
        let [lower, _, step] = self.bounds;
        for stage in 0..self.plan.stages as i64 - 1 {
            let mut b = m.at_end(block);
            let ahead = times(&mut b, step, stage);
            let counter = add(&mut b, lower, ahead);
            let iteration = number(&mut b, stage);
            self.copies(m, block, counter, iteration);
        }
    }

    /// Starts the copies of the tiles for loop counter `counter` into the stage of `iteration`.
    fn copies(&self, m: &mut Module, block: BlockId, counter: ValueId, iteration: ValueId) {
        let stream = &self.plan.stream;
        let mut map = Map::default();
        map.insert(m.block(stream.body).args[0], counter);
        let mut roots: Vec<ValueId> = Vec::new();
        for &load in &stream.loads {
            roots.extend(address_of(m, load));
        }
        let guards = guard::of_loads(m, stream.body, &stream.loads);
        roots.extend(guards.iter().map(|g| g.condition));
        let mut blocks = vec![stream.body];
        blocks.extend(guards.iter().map(|g| g.block));
        let runs = less(&mut m.at_end(block), counter, self.bounds[1]);
        // Where each block's copies are made: those behind a branch where it is taken.
        let mut enabled = vec![(stream.body, runs)];
        let at = |enabled: &[(BlockId, ValueId)], b: BlockId| {
            enabled.iter().find(|e| e.0 == b).map_or(runs, |e| e.1)
        };
        for op in backward_in(m, &blocks, roots) {
            let here = m.op(op).block;
            self.enter(m, block, here, &guards, &map, &mut enabled);
            match S::of(m.op(op).kind) {
                Some(S::Load) => load_numbers(m, op, block, at(&enabled, here), &mut map),
                Some(S::TiledLoad) => {
                    let new = copy(m, op, block, &mut map);
                    forget_bounds(m, new);
                }
                _ => {
                    copy(m, op, block, &mut map);
                }
            }
        }
        for &load in &stream.loads {
            let here = m.op(load).block;
            self.enter(m, block, here, &guards, &map, &mut enabled);
        }
        m.at_end(block).op(
            S::ProducerAcquire,
            &[&[self.pipeline], &[iteration]],
            [],
            &[],
            &[],
        );
        for (&load, &buffer) in stream.loads.iter().zip(&self.buffers) {
            let data = m.op(load).clone();
            let through = S::of(data.kind) == Some(S::Load);
            let names = if through { &POINTED[..] } else { &ACCESS[..] };
            let renamed: Vec<Vec<ValueId>> = names
                .iter()
                .map(|n| {
                    group(&data, n)
                        .iter()
                        .map(|v| map.get(v).copied().unwrap_or(*v))
                        .collect()
                })
                .collect();
            let enable = at(&enabled, data.block);
            let tail = [[buffer], [self.pipeline], [iteration], [enable]];
            let mut groups: Vec<&[ValueId]> = renamed.iter().map(Vec::as_slice).collect();
            groups.extend(tail.iter().map(|t| &t[..]));
            let attrs = ["dim_map", "traversal", "padding", "inbounds"]
                .map(|n| data.attr_named(n).cloned());
            let mut b = m.at_end(block);
            b.loc = data.loc;
            if through {
                b.op(S::PointerCopy, &groups, [], &[], &[]);
            } else {
                b.op(S::TiledCopy, &groups, attrs, &[], &[]);
            }
        }
        m.at_end(block).op(
            S::ProducerCommit,
            &[&[self.pipeline], &[iteration]],
            [],
            &[],
            &[],
        );
    }

    /// Appends to `block` what says whether the blocks from the loop's body to `here` are entered, as far as `enabled`
    /// does not have it; the conditions are in `map`.
    fn enter(
        &self,
        m: &mut Module,
        block: BlockId,
        here: BlockId,
        guards: &[guard::Guard],
        map: &Map,
        enabled: &mut Vec<(BlockId, ValueId)>,
    ) {
        let has = |enabled: &[(BlockId, ValueId)], b: BlockId| enabled.iter().any(|e| e.0 == b);
        let Some(guard) = guards.iter().find(|g| g.block == here) else {
            return;
        };
        if has(enabled, here) {
            return;
        }
        self.enter(m, block, guard.around, guards, map, enabled);
        let around = enabled.iter().find(|e| e.0 == guard.around).map(|e| e.1);
        let taken = map.get(&guard.condition).copied();
        let taken = taken.unwrap_or(guard.condition);
        let both = match around {
            Some(around) => {
                let ty = m.ty(around);
                m.at_end(block).value(C::AndI, &[around, taken], [], ty)
            }
            None => taken,
        };
        enabled.push((here, both));
    }

    /// The loop's body: waits come first, then copies or loads of later tiles; the loads read shared memory.
    fn body(&self, m: &mut Module) {
        let stream = &self.plan.stream;
        let body = stream.body;
        let ops = std::mem::take(&mut m.block_mut(body).ops);
        let i32_ty = m.types.int(32);
        let ty = m.types.tile(i32_ty, &[]);
        let iteration = m.add_arg(body, ty);
        let counter = m.block(body).args[0];
        let stage_of = [self.pipeline, iteration];
        // The copies rename the body's own operations, which must still be found in it.
        m.block_mut(body).ops = ops.clone();
        let head = m.new_region();
        let head = m.new_block(head, &[]);
        m.at_end(head).op(
            S::ConsumerWait,
            &[&stage_of[..1], &stage_of[1..]],
            [],
            &[],
            &[],
        );
        let next = match self.plan.kind {
            PipelineKind::Registers => self.next().next(m, head, counter),
            _ => {
                self.copies_ahead(m, head, counter, iteration);
                Vec::new()
            }
        };
        let head_ops = std::mem::take(&mut m.block_mut(head).ops);
        let guards = guard::of_loads(m, body, &stream.loads);
        m.block_mut(body).ops.clear();
        for op in head_ops.into_iter().chain(ops) {
            self.place(m, body, op, iteration, &next);
        }
        for guard in guards {
            for op in std::mem::take(&mut m.block_mut(guard.block).ops) {
                self.place(m, guard.block, op, iteration, &next);
            }
        }
    }

    /// Starts the copies of an iteration as far ahead of that of `counter` as there are other stages.
    fn copies_ahead(&self, m: &mut Module, block: BlockId, counter: ValueId, iteration: ValueId) {
        let ahead = self.plan.stages as i64 - 1;
        let mut b = m.at_end(block);
        let distance = times(&mut b, self.bounds[2], ahead);
        let later = add(&mut b, counter, distance);
        let ahead = number(&mut b, ahead);
        let next = add(&mut b, iteration, ahead);
        self.copies(m, block, later, next);
    }

    /// Puts one operation into the new `body`: the loop's, or one behind a branch of it. At its end, the `tiles` that
    /// were loaded for the next iteration go to their stage.
    fn place(
        &self,
        m: &mut Module,
        body: BlockId,
        op: OpId,
        iteration: ValueId,
        tiles: &[ValueId],
    ) {
        let stream = &self.plan.stream;
        if let Some(side) = stream.loads.iter().position(|&l| l == op) {
            let tile = m.result(op);
            let ty = m.ty(tile);
            let mut b = m.at_end(body);
            let groups: [&[ValueId]; 2] = [&[self.buffers[side]], &[iteration]];
            let load = b.op(S::LocalLoad, &groups, [], &[ty], &[]);
            let value = m.result(load);
            let value = padding::fill(m, body, op, value);
            m.replace_all_uses(tile, value);
            let top = self.top;
            forget_token(m, top, op);
            m.erase(op);
            return;
        }
        if C::of(m.op(op).kind) == Some(C::Continue) && body == stream.body {
            let mut b = m.at_end(body);
            b.op(
                S::ConsumerRelease,
                &[&[self.pipeline], &[iteration], &[]],
                [],
                &[],
                &[],
            );
            let one = number(&mut b, 1);
            let next = add(&mut b, iteration, one);
            if self.plan.kind == PipelineKind::Registers {
                self.store(m, body, next, tiles);
            }
            yield_too(m, op, next);
        }
        let at = m.block(body).ops.len();
        m.place(op, body, at);
    }

    /// The loop with one more carried value.
    fn replace_loop(&self, m: &mut Module, block: BlockId) {
        let for_op = self.plan.stream.for_op;
        let old = m.op(for_op).results.clone();
        let zero = number(&mut m.at_end(block), 0);
        let new = with_one_more(m, block, for_op, zero);
        for (i, &result) in old.iter().enumerate() {
            let value = m.op(new).results[i];
            m.replace_all_uses(result, value);
        }
        m.erase(for_op);
    }
}
