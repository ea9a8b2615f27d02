//! Loads of tiles in loops that no plan considered: each iteration waits for them. They are noted, so that `tilec explain`
//! says of every loop why its loads are not started ahead.

use super::decided::Plan;
use super::look::loop_around;
use super::missed::Log;
use super::pipeline::ahead::{gathers_ahead, starts_ahead};
use super::pipeline::prefetch::{feeds_matmul, loads_tile};
use super::pipeline::purpose::Purpose;
use super::pipeline::stream::is_for_matmuls;
use super::plan::means;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::ir::{BlockId, Module, OpId};
use crate::target::Target;

/// Notes the loads under `body` that `plan` does not start ahead, unless something was noted there already.
pub fn note(
    m: &Module,
    body: BlockId,
    target: &Target,
    facts: &FactMap,
    plan: &Plan,
    log: &mut Log,
) {
    if !is_for_matmuls(m, body) {
        // Its loops were considered one by one.
        return;
    }
    let mut planned: Vec<OpId> = plan.roles.as_ref().map_or(Vec::new(), |r| r.loads());
    planned.extend(plan.cp_async.iter().flat_map(|p| &p.stream.loads));
    let ops = m.ops_under(body);
    for &load in ops.iter().filter(|&&o| loads_tile(m, o)) {
        let Some(around) = loop_around(m, body, m.op(load).block) else {
            continue;
        };
        if planned.contains(&load) || [load, around].iter().any(|&o| log.is_noted(o)) {
            continue;
        }
        let why = reason(m, facts, &ops, load, around);
        log.note(m, load, means(target, Purpose::Operands), why);
    }
}

/// Why a load in a loop `around` is not started ahead.
fn reason(m: &Module, facts: &FactMap, ops: &[OpId], load: OpId, around: OpId) -> &'static str {
    if !feeds_matmul(m, ops, load) {
        return "it feeds no matmul, and shared memory is kept for what matmuls in loops read";
    }
    let purpose = Purpose::Operands;
    let Some(body) = m.body_of(around, 0) else {
        return "its loop has no body";
    };
    let starts = match S::of(m.op(load).kind) {
        Some(S::Load) => gathers_ahead(m, facts, body, load, purpose),
        _ => starts_ahead(m, body, load, purpose),
    };
    match starts {
        Err(why) => why,
        Ok(()) => {
            "shared memory has no room for it beside the other tiles of its loop: smaller tiles would fit"
        }
    }
}
