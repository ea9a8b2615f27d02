//! A kernel is rewritten as a producer's program and a consumers'.

use super::super::tma;
use super::plan::Plan;
use super::slice::{Copier, Slice};
use super::steps::{Built, Consumer, Producer, number};
use super::thread::thread;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::PipelineKind;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::ir::{Attr, BlockId, Diagnostic, LocId, Module, OpId, RegionId, Type, TypeId, ValueId};
use crate::lower::build::cased;
use crate::lower::tileas::look::loads_weakly;
use crate::lower::tileas::pipeline::ahead::forget_token;
use crate::target::Target;
use rustc_hash::FxHashMap;

/// Rewrites the function by `plan`.
pub fn apply(
    m: &mut Module,
    func: OpId,
    plan: &Plan,
    target: &Target,
    facts: &FactMap,
) -> Result<(), Diagnostic> {
    let Some(body) = m.body_of(func, 0) else {
        return Ok(());
    };
    let loads: Vec<OpId> = plan.sites.iter().flat_map(|s| s.loads.clone()).collect();
    loads.iter().for_each(|&l| forget_token(m, body, l));
    let slice = Slice::agreed(m, body, &loads, &plan.shared, plan.copies)
        .map_err(|b| crate::lower::unsupported(m, b.op, format!("the producer {}", b.why)))?;
    let producer = m.new_region();
    let producer_block = m.new_block(producer, &[]);
    let mut copier = Copier::new(&slice);
    copier.block(m, body, producer_block);
    let copies = copier.ops;

    let ops = std::mem::take(&mut m.block_mut(body).ops);
    let (front, rest): (Vec<OpId>, Vec<OpId>) = ops
        .iter()
        .partition(|o| plan.shared.contains(o) || is_token(m, **o));
    m.block_mut(body).ops = front;
    let rings = 0..plan.rings.len();
    let built: Vec<Built> = rings.map(|r| build(m, body, r, plan)).collect();
    let mut buffers = FxHashMap::default();
    for &store in &plan.nested_stores {
        let ty = tma::store_buffer(m, store, facts)?;
        buffers.insert(store, m.at_end(body).value(S::AllocTensor, &[], [], ty));
    }
    let stores = plan.nested_stores.iter().chain(&plan.last_stores);
    stores.for_each(|&s| forget_token(m, body, s));
    let zero = number(m, body, 0);
    let start = vec![zero; plan.rings.len()];

    let mut steps = Producer::new(plan, &built, &copies);
    thread(m, producer_block, &mut start.clone(), &mut steps);
    loads
        .iter()
        .filter_map(|l| copies.get(l))
        .for_each(|&copy| m.erase(copy));
    m.at_end(producer_block).op(S::RoleEnd, &[], [], &[], &[]);

    let consumer = m.new_region();
    let consumer_block = m.new_block(consumer, &[]);
    for op in rest {
        let at = m.block(consumer_block).ops.len();
        m.place(op, consumer_block, at);
    }
    let mut steps = Consumer::new(plan, &built);
    thread(m, consumer_block, &mut start.clone(), &mut steps);
    loads.into_iter().for_each(|l| m.erase(l));
    sweep(m, consumer_block);
    epilogue(m, consumer_block, plan, facts, &buffers)?;
    specialize(m, body, plan, target, [producer, consumer]);
    Ok(())
}

/// A token that follows nothing may be made anywhere.
fn is_token(m: &Module, op: OpId) -> bool {
    C::of(m.op(op).kind) == Some(C::MakeToken)
}

/// Erases what only said where to load from: tiles of it would be loaded, reduced, given layouts, and converted between them.
fn sweep(m: &mut Module, block: BlockId) {
    for op in m.ops_under(block).into_iter().rev() {
        let data = m.op(op);
        let reduces = C::of(data.kind) == Some(C::Reduce);
        let unused = data.results.iter().all(|&r| !m.is_used(r));
        if unused && (loads_weakly(data) || reduces || data.only_computes()) {
            m.erase(op);
        }
    }
}

fn specialize(m: &mut Module, body: BlockId, plan: &Plan, target: &Target, roles: [RegionId; 2]) {
    let i32_ty = m.types.int(32);
    let int = |value: i64| Some(Attr::Int { value, ty: i32_ty });
    let registers = match plan.redistributes {
        true => plan.registers(target),
        false => [0, 0],
    };
    let attrs = [
        int(registers[0] as i64),
        int(registers[1] as i64),
        int(plan.consumer_warps as i64),
    ];
    let mut b = m.at_end(body);
    b.op(S::WarpSpecialize, &[], attrs, &[], &roles);
    b.op(S::Return, &[&[]], [], &[], &[]);
}

/// The buffers and the pipeline of a ring.
fn build(m: &mut Module, block: BlockId, number: usize, plan: &Plan) -> Built {
    let ring = &plan.rings[number];
    let mut loads = plan.sites.iter().filter(|s| s.ring == number);
    let together = loads.any(|s| s.loads.iter().any(|l| plan.multicast.contains(l)));
    let stages = ring.stages as u32;
    let allocated: Vec<ValueId> = ring
        .buffers
        .iter()
        .map(|b| {
            let ty = of_stages(m, b.0, stages);
            m.at_end(block).value(S::AllocTensor, &[], [], ty)
        })
        .collect();
    let mut buffers = FxHashMap::default();
    for (i, site) in plan.sites.iter().enumerate() {
        if site.ring == number {
            buffers.insert(i, seen(m, block, &allocated, &site.buffers, stages));
        }
    }
    let i32_ty = m.types.int(32);
    let int = |value: u64| {
        Some(Attr::Int {
            value: value as i64,
            ty: i32_ty,
        })
    };
    let ty = m.types.intern(Type::Pipeline { stages });
    let attrs = [
        cased(PipelineKind::Tma),
        int(ring.stages),
        int(plan.consumer_warps),
        int(ring.by_tensor),
        int(plan.blocks).filter(|_| together),
        None,
        int(plan.consumer_warps).filter(|_| ring.by_threads),
    ];
    let loc = filled_at(m, number, plan);
    let mut b = m.at_end(block);
    b.loc = loc;
    let pipeline = b.value(S::PipelineCreate, &[], attrs, ty);
    Built { pipeline, buffers }
}

/// Where in the source the first load stands that fills a ring.
fn filled_at(m: &Module, number: usize, plan: &Plan) -> LocId {
    let sites = plan.sites.iter().filter(|s| s.ring == number);
    let first = sites.flat_map(|s| &s.loads).next();
    first.map_or(LocId::UNKNOWN, |&load| m.op(load).loc)
}

/// The type `stage` of a buffer of one stage as that of one with `stages`.
fn of_stages(m: &mut Module, stage: TypeId, stages: u32) -> TypeId {
    let mut ty = m.types.get(stage).clone();
    if let Type::SharedTile { stages: all, .. } = &mut ty {
        *all = stages;
    }
    m.types.intern(ty)
}

/// A ring's buffers as those of a site whose tiles have these types.
fn seen(
    m: &mut Module,
    block: BlockId,
    allocated: &[ValueId],
    types: &[TypeId],
    stages: u32,
) -> Vec<ValueId> {
    let see = |(&buffer, &ty): (&ValueId, &TypeId)| {
        let ty = of_stages(m, ty, stages);
        match m.ty(buffer) == ty {
            true => buffer,
            false => m.at_end(block).value(S::SharedView, &[buffer], [], ty),
        }
    };
    allocated.iter().zip(types).map(see).collect()
}

/// Stores become tensor copies, the kernel's end the role's.
fn epilogue(
    m: &mut Module,
    block: BlockId,
    plan: &Plan,
    facts: &FactMap,
    buffers: &FxHashMap<OpId, ValueId>,
) -> Result<(), Diagnostic> {
    for op in std::mem::take(&mut m.block_mut(block).ops) {
        for i in 0..m.op(op).regions.len() {
            if let Some(inner) = m.body_of(op, i) {
                epilogue(m, inner, plan, facts, buffers)?;
            }
        }
        if S::of(m.op(op).kind) == Some(S::Return) {
            if !buffers.is_empty() || !plan.last_stores.is_empty() {
                m.at_end(block).op(S::StoreWait, &[], [], &[], &[]);
            }
            let nested = m
                .parent_op(op)
                .is_some_and(|p| C::of(m.op(p).kind).is_some());
            if nested {
                let at = m.block(block).ops.len();
                m.place(op, block, at);
            } else {
                m.erase(op);
                m.at_end(block).op(S::RoleEnd, &[], [], &[], &[]);
            }
        } else if plan.last_stores.contains(&op) || buffers.contains_key(&op) {
            let way = match buffers.get(&op) {
                Some(&buffer) => tma::Way::Through {
                    buffer,
                    ordered: true,
                },
                None => tma::Way::InPlaceOfRings {
                    again: plan.last_stores.first() != Some(&op),
                },
            };
            let at = m.block(block).ops.len();
            m.place(op, block, at);
            tma::store(m, op, facts, way, plan.awaited.contains(&op))?;
        } else {
            let at = m.block(block).ops.len();
            m.place(op, block, at);
        }
    }
    Ok(())
}
