//! Writes the assigned layouts into the types and inserts `convert_layout` where they disagree.

use super::anchors::{self, Needs};
use super::relation::{Relation, at, canonical, distributed, layout_of, set_layout};
use super::variables::Layouts;
use super::{coalesced, fragments, remake};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::ir::{BlockId, Def, Diagnostic, Module, OpId, TypeId, ValueId};
use crate::layout::Layout;
use crate::layout::reduce::ReducePlan;
use crate::lower::tileas::look::{is_view, place};
use rustc_hash::FxHashMap;

/// Gives every value its type, then every operation the operands it needs.
pub fn insert(
    m: &mut Module,
    facts: &FactMap,
    ops: &[OpId],
    layouts: &Layouts,
    warps: u64,
) -> Result<(), Diagnostic> {
    for (&value, &layout) in layouts {
        set_layout(m, value, layout);
    }
    // Definitions come before uses, which are replaced as they come.
    let mut replaced = FxHashMap::default();
    for &op in ops {
        m.replace_operands(op, &replaced);
        fix_issued(m, op)?;
        fix_results(m, facts, op, warps, &mut replaced)?;
        let needs = operand_needs(m, facts, op, warps)?;
        for (index, layout) in needs {
            let value = m.op(op).operands[index];
            if layout_of(m, value) != Some(layout) {
                let converted = convert(m, op, value, layout);
                m.op_mut(op).operands[index] = converted;
            }
        }
    }
    drop_unused(m, ops, &replaced);
    Ok(())
}

/// Takes away conversions of what operations leave, where all users want it as it was left.
fn drop_unused(m: &mut Module, ops: &[OpId], converted: &FxHashMap<ValueId, ValueId>) {
    for &op in ops {
        let results = m.op(op).results.clone();
        for value in results.iter().filter_map(|r| converted.get(r)) {
            let unused = m.def_op(*value).filter(|_| !m.is_used(*value));
            if let Some(conversion) = unused {
                m.erase(conversion);
            }
        }
    }
}

/// (operand, layout it must have) of an operation.
fn operand_needs(
    m: &mut Module,
    facts: &FactMap,
    op: OpId,
    warps: u64,
) -> Result<Needs, Diagnostic> {
    if let Some(relation) = Relation::of(m, op) {
        let data = m.op(op).clone();
        let mut needs = Needs::new();
        for (index, (&source, &result)) in data.operands.iter().zip(&data.results).enumerate() {
            // A scalar is in every thread: it needs no conversion.
            let (Some(_), Some(result)) = (layout_of(m, source), layout_of(m, result)) else {
                continue;
            };
            let result = m.layouts.get(result).clone();
            if let Some(layout) = at(m, op, relation.source_of(m, source, &result))? {
                needs.push((index, m.layouts.intern(layout)));
            }
        }
        return Ok(needs);
    }
    anchors::needs(m, facts, op, warps)
}

/// A sum that is not waited for yet lies where its instructions leave it: what waits for it converts.
fn fix_issued(m: &mut Module, op: OpId) -> Result<(), Diagnostic> {
    if S::of(m.op(op).kind) == Some(S::AsyncDot) {
        let layout = anchors::accumulator(m, op)?;
        let layout = m.layouts.intern(layout);
        let result = m.result(op);
        set_layout(m, result, layout);
    }
    Ok(())
}

/// A reduction's result lies where its source says, a matmul's where its instructions leave it; users that want it
/// elsewhere get a conversion.
fn fix_results(
    m: &mut Module,
    facts: &FactMap,
    op: OpId,
    warps: u64,
    replaced: &mut FxHashMap<ValueId, ValueId>,
) -> Result<(), Diagnostic> {
    for (result, natural) in natural(m, facts, op, warps)? {
        let natural = m.layouts.intern(natural);
        if layout_of(m, result).is_none_or(|wanted| wanted == natural) {
            continue;
        }
        let users = m.ty(result);
        m.value_mut(result).ty = distributed(m, users, natural);
        // Of a reduction of several tiles not every result is used.
        if !m.is_used(result) {
            continue;
        }
        let (block, position) = place(m, op);
        let mut b = m.at(block, position + 1);
        b.loc = b.module.op(op).loc;
        let converted = b.value(S::ConvertLayout, &[result], [], users);
        replaced.insert(result, converted);
    }
    Ok(())
}

/// The results of an operation that leaves them in a layout of its own.
fn natural(
    m: &Module,
    facts: &FactMap,
    op: OpId,
    warps: u64,
) -> Result<Vec<(ValueId, Layout)>, Diagnostic> {
    let data = m.op(op);
    if let Some(mma) = fragments::mma_of(m, op, warps) {
        let layout = at(m, op, mma.c())?;
        return Ok(vec![(m.result(op), canonical(&layout))]);
    }
    if S::of(data.kind) == Some(S::AsyncDotWait) {
        let layout = |v: ValueId| layout_of(m, v).map(|l| m.layouts.get(l).clone());
        let awaited = data.results.iter().zip(&data.operands);
        return Ok(awaited
            .filter_map(|(&r, &v)| Some((r, layout(v)?)))
            .collect());
    }
    if let Some(layout) = anchors::from_tensor(m, op, warps)? {
        return Ok(vec![(m.result(op), layout)]);
    }
    // What is loaded lies as its pointers do.
    if S::of(data.kind) == Some(S::Load)
        && let Some(layout) = coalesced::pointers(m, op).and_then(|p| layout_of(m, p))
    {
        return Ok(vec![(m.result(op), m.layouts.get(layout).clone())]);
    }
    if let Some(layout) = coalesced::loaded(m, facts, op, warps)? {
        return Ok(vec![(m.result(op), layout)]);
    }
    let Some(relation @ Relation::Reduce(_)) = Relation::of(m, op) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (&source, &result) in data.operands.iter().zip(&data.results) {
        if let (Some(source), Some(wanted)) = (layout_of(m, source), layout_of(m, result)) {
            let (source, wanted) = (m.layouts.get(source), m.layouts.get(wanted));
            let natural = at(m, op, relation.result_of(m, result, source))?;
            if !(wanted.registers() <= natural.registers() && takes_any(source, &relation)) {
                found.push((result, natural));
            }
        }
    }
    Ok(found)
}

/// Whether an operation is a reduction in which warps are combined, of a tile with this layout: threads then take its
/// results from shared memory, in any layout.
pub fn takes_any(source: &Layout, relation: &Relation) -> bool {
    let Relation::Reduce(dim) = relation else {
        return false;
    };
    ReducePlan::crosses_warps(source, *dim).is_ok_and(|crosses| crosses)
}

/// A conversion of `value` placed before `op`, and before the loops around `op` that do not change it.
fn convert(m: &mut Module, op: OpId, value: ValueId, layout: u32) -> ValueId {
    if let Some(source) = converted_from(m, value, layout) {
        return source;
    }
    let ty = distributed(m, m.ty(value), layout);
    let loc = m.op(op).loc;
    let mut before = op;
    while let Some(outer) = outer_loop(m, before)
        && leave(m, value, m.op(before).block, outer)
    {
        before = outer;
    }
    let (block, position) = place(m, before);
    if let Some(known) = converted_before(m, value, ty, (block, position)) {
        return known;
    }
    if let Some(steps) = remake::plan(m, value, layout) {
        return remake::make(m, value, layout, &steps, (block, position));
    }
    let mut b = m.at(block, position);
    b.loc = loc;
    b.value(S::ConvertLayout, &[value], [], ty)
}

/// What `value` was converted from, if that has this layout: a reduction's result that one user wants elsewhere, for example.
fn converted_from(m: &Module, value: ValueId, layout: u32) -> Option<ValueId> {
    let op = m.def_op(value)?;
    let converts = S::of(m.op(op).kind) == Some(S::ConvertLayout);
    let source = converts.then(|| m.source(op))?;
    (layout_of(m, source) == Some(layout)).then_some(source)
}

/// `value` converted to `ty` by an operation that has run whenever the one at `place` does.
fn converted_before(
    m: &Module,
    value: ValueId,
    ty: TypeId,
    place: (BlockId, usize),
) -> Option<ValueId> {
    let mut known = m.users(value).into_iter().filter(|&user| {
        S::of(m.op(user).kind) == Some(S::ConvertLayout) && m.ty(m.result(user)) == ty
    });
    known
        .find(|&user| stands_before(m, user, place))
        .map(|user| m.result(user))
}

/// Whether an operation has run whenever the one at `place` does.
fn stands_before(m: &Module, op: OpId, (mut block, mut position): (BlockId, usize)) -> bool {
    loop {
        if m.op(op).block == block {
            let ops = &m.block(block).ops;
            return ops.iter().take(position).any(|&o| o == op);
        }
        let Some(parent) = m.parent_of_block(block) else {
            return false;
        };
        (block, position) = place(m, parent);
    }
}

/// The loop whose body an operation stands in.
fn outer_loop(m: &Module, op: OpId) -> Option<OpId> {
    let parent = m.parent_op(op)?;
    matches!(C::of(m.op(parent).kind), Some(C::For | C::Loop)).then_some(parent)
}

/// Whether `value` exists before the loop `outer` with this body; what only changes the shape of such a
/// value is moved there.
fn leave(m: &mut Module, value: ValueId, body: BlockId, outer: OpId) -> bool {
    let def = match m.value(value).def {
        Def::Argument { block, .. } => return block != body,
        Def::Result { op, .. } => op,
    };
    if m.op(def).block != body {
        return true;
    }
    if !is_view(m, def) || !leave(m, m.source(def), body, outer) {
        return false;
    }
    m.block_mut(body).ops.retain(|&o| o != def);
    let (block, position) = place(m, outer);
    m.place(def, block, position);
    true
}
