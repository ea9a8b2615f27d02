//! Loads of tiles in loops that no plan considered: each iteration waits for them. They are noted, so that `tilec explain`
//! says of every loop why its loads are not started ahead.

use super::decided::Plan;
use super::look::{has_alloca, loop_around};
use super::missed::Log;
use super::pipeline::ahead::{gathers_ahead, starts_ahead};
use super::pipeline::prefetch::{feeds_matmul, loads_tile};
use super::pipeline::purpose::Purpose;
use super::pipeline::stream::{copies_of_words, is_for_matmuls, worth};
use super::pipeline::{Prefetch, cp_async};
use super::plan::means;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::ir::{BlockId, Module, OpId};
use crate::target::Target;

/// Notes the loads under `body` that `plan` does not start ahead, unless something was noted of them or their loop already.
pub fn note(
    m: &Module,
    body: BlockId,
    target: &Target,
    facts: &FactMap,
    plan: &Plan,
    log: &mut Log,
) {
    let mut planned: Vec<OpId> = plan.roles.as_ref().map_or(Vec::new(), |r| r.loads());
    planned.extend(plan.cp_async.iter().flat_map(|p| &p.stream.loads));
    planned.extend(plan.once.iter().flat_map(|s| &s.loads));
    let kernel = Kernel {
        m,
        body,
        target,
        facts,
        ops: m.ops_under(body),
        multiplies: is_for_matmuls(m, body),
        has_alloca: has_alloca(m, body),
        warps: plan.tile_warps,
    };
    for &load in kernel.ops.iter().filter(|&&o| loads_tile(m, o)) {
        let Some(around) = loop_around(m, body, m.op(load).block) else {
            continue;
        };
        if planned.contains(&load) || [load, around].iter().any(|&o| log.is_waited_for(o)) {
            continue;
        }
        let purpose = match feeds_matmul(m, &kernel.ops, load) {
            true => Purpose::Operands,
            false => Purpose::Stream,
        };
        if let Some(why) = kernel.reason(load, around, purpose) {
            log.note(m, load, means(target, purpose), why);
        }
    }
}

struct Kernel<'m> {
    m: &'m Module,
    body: BlockId,
    target: &'m Target,
    facts: &'m FactMap,
    ops: Vec<OpId>,
    /// Whether it has matmuls in loops.
    multiplies: bool,
    /// Whether it has an `alloca`.
    has_alloca: bool,
    /// Warps that hold tiles.
    warps: u64,
}

impl Kernel<'_> {
    /// Why a load in a loop `around` is not started ahead, as far as it is known here.
    fn reason(&self, load: OpId, around: OpId, purpose: Purpose) -> Option<String> {
        let (m, facts) = (self.m, self.facts);
        if self.has_alloca {
            return Some(WITH_ALLOCA.to_owned());
        }
        if cp_async::Plan::kind(self.target, purpose).is_none() {
            return Some(format!("{} has no cp.async", self.target));
        }
        if self.multiplies && purpose == Purpose::Stream {
            let why =
                "it feeds no matmul, and shared memory is kept for what matmuls in loops read";
            return Some(why.to_owned());
        }
        if purpose == Purpose::Stream
            && let Err(why) = worth(m, facts, self.body, load)
        {
            return Some(why);
        }
        let body = m.body_of(around, 0)?;
        let starts = match S::of(m.op(load).kind) {
            Some(S::Load) => gathers_ahead(m, facts, body, load, purpose),
            _ => starts_ahead(m, body, load, purpose),
        };
        if let Err(why) = starts {
            return Some(why.to_owned());
        }
        match purpose {
            Purpose::Operands => Some(match Prefetch::find(m, around, facts, purpose) {
                Err((_, why)) => format!("its loop has no pipeline: {why}"),
                Ok(_) => NO_ROOM.to_owned(),
            }),
            Purpose::Stream => copies_of_words(m, load, self.warps).err(),
        }
    }
}

const WITH_ALLOCA: &str = "the kernel has an alloca, which lies in shared memory: asynchronous copies take addresses of \
                           global memory alone";
const NO_ROOM: &str =
    "shared memory has no room for it beside the other tiles of its loop: smaller tiles would fit";
