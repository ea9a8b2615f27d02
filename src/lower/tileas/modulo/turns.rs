//! Warpgroups of a role that take turns: one issues its matmuls while the other computes.
//!
//! Warpgroups that run freely issue their matmuls at about the same time, share the tensor cores, and then do their
//! arithmetic at the same time, while the tensor cores have nothing to do. With a turn, one is half an iteration
//! behind:
//!
//! ```text
//! group 0:  take  matmuls  pass  arithmetic ……  take  matmuls  pass
//! group 1:                 take  matmuls  pass  arithmetic ……  take
//! ```
//! Where it is taken and passed follows from the order of the loop's operations and what they take: all places are
//! tried in a small model of groups that share the units ([`model`]). A section between the two must be one that a
//! group ends by itself: it holds no barrier of all groups, and waits for no tile behind the release of another.
//! [`crate::lower::tileas::protocol`] checks that turns are taken and passed one after the other. All groups run the
//! same operations equally often, since what steers a tile program is the same in all of a block's threads.

use rustc_hash::FxHashMap;

use super::body::Body;
use super::order::{Node, Sharing, Times};
use super::{Refused, feeds_another, model, order};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view::Reduce;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::ConvertLayout;
use crate::facts::access;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::layout::Layout;
use crate::layout::convert::{Conversion, convert};
use crate::layout::reduce::ReducePlan;
use crate::layout::swizzle::Capabilities;
use crate::lower::tileas::missed::Log;
use crate::lower::tileas::plan::Plan;
use crate::lower::tileas::relation::layout_of;
use crate::target::{Feature, Target};

/// What this is called in messages.
const WHAT: &str = "turns of warpgroups";

/// An iteration must take so many percent less for turns to pay.
const GAIN: u64 = 4;

/// Sections that differ by fewer percent are taken as equal.
const NEAR: u64 = 1;

/// Turns are considered where matmuls take at least so many hundredths of what arithmetic takes. By `ptxsim --time` of
/// attention forward, tiles of 128×128, two groups: D of 128 (94) gains 12 %, D of 64 (51) loses 5 %.
const TENSOR_SHARE: u64 = 75;

/// The same the other way round: less is hidden without turns.
const ARITHMETIC_SHARE: u64 = 25;

/// Warps of a warpgroup.
const WARPGROUP: u64 = 4;

/// Lets the warpgroups of the consumers under `body` take turns in the loops where that pays; layouts are known.
pub fn take(m: &mut Module, body: BlockId, target: &Target, plan: &Plan, log: &mut Log) {
    let groups = plan.tile_warps / WARPGROUP;
    if plan.roles.is_none() || groups < 2 {
        return;
    }
    let ops = m.ops_under(body);
    let loops = ops.iter().copied();
    let loops: Vec<OpId> = loops
        .filter(|&o| C::of(m.op(o).kind) == Some(C::For) && alternates(m, o))
        .collect();
    if loops.is_empty() {
        return;
    }
    let filled: FxHashMap<ValueId, ValueId> = ops
        .iter()
        .filter_map(|&o| access::destination(m.op(o)).zip(access::pipeline(m.op(o))))
        .collect();
    for op in loops {
        let found = Body::of(m, op, &filled).and_then(|b| Ok((section(m, &b, groups, target)?, b)));
        match found {
            Ok((section, b)) => section.apply(m, &b),
            Err(refused) => log.note(m, refused.op, WHAT, refused.why),
        }
    }
}

/// Whether a loop has matmuls and arithmetic by turns: a matmul reads what was computed of another one, in this
/// iteration or in the one before.
fn alternates(m: &Module, for_op: OpId) -> bool {
    let Some(block) = m.body_of(for_op, 0) else {
        return false;
    };
    let waited = |v: ValueId| {
        let def = m.def_op(v).and_then(|d| S::of(m.op(d).kind));
        matches!(def, Some(S::AsyncDot | S::AsyncDotWait))
    };
    let numbers = |v: ValueId| m.types.as_tile(m.ty(v)).is_some_and(|t| !t.1.is_empty());
    let computed = |v: ValueId| numbers(v) && !waited(v);
    let end = m.terminator(block).map(|e| m.op(e).operands.to_vec());
    let handed = end.unwrap_or_default().into_iter();
    let args = m.block(block).args.iter().skip(1);
    // Accumulators are handed on as they are.
    let computed = args.zip(handed).filter(|&(_, v)| computed(v));
    let before: Vec<ValueId> = computed.map(|(&a, _)| a).collect();
    feeds_another(m, for_op, &before)
}

/// The operations of a loop, by number, in front of which a turn is taken and behind which it is passed.
#[derive(Clone, Copy, Debug)]
struct Section {
    take: usize,
    pass: usize,
}

impl Section {
    fn apply(self, m: &mut Module, body: &Body) {
        let (take, pass) = (body.ops[self.take], body.ops[self.pass]);
        let (block, locations) = (m.op(take).block, [take, pass].map(|o| m.op(o).loc));
        let ops = std::mem::take(&mut m.block_mut(block).ops);
        for op in ops {
            if op == take {
                let mut b = m.at_end(block);
                b.loc = locations[0];
                b.op(S::TurnTake, &[], [], &[], &[]);
            }
            m.block_mut(block).ops.push(op);
            if op == pass {
                let mut b = m.at_end(block);
                b.loc = locations[1];
                b.op(S::TurnPass, &[], [], &[], &[]);
            }
        }
    }
}

/// The best section of a loop, or why groups better run freely.
fn section(m: &Module, body: &Body, groups: u64, target: &Target) -> Result<Section, Refused> {
    if let Some(&op) = body.ops.iter().find(|&&o| meets(m, o, target)) {
        return Err(Refused::new(
            op,
            "all warpgroups meet here in each iteration",
        ));
    }
    let times = Times::of(m, body, groups);
    let order: Vec<Node> = (0..body.ops.len())
        .map(|op| Node { op, late: false })
        .collect();
    let sharing = Sharing {
        blocks: 1,
        copies: 0,
    };
    let free = order::period(body, &order, &times, sharing);
    let busy = [true, false].map(|on_tensor_cores| {
        let of = |&i: &usize| body.dots.iter().any(|d| d.at == i) == on_tensor_cores;
        let ops = (0..body.ops.len()).filter(of);
        ops.map(|i| times.cycles(i)).sum::<u64>()
    });
    if busy[1] * 100 < busy[0] * ARITHMETIC_SHARE {
        let why = format!(
            "arithmetic takes {} cycles, matmuls {}: there is little to run under the latter",
            busy[1], busy[0]
        );
        return Err(Refused {
            op: body.for_op,
            why,
        });
    }
    if busy[0] * 100 < busy[1] * TENSOR_SHARE {
        let why = format!(
            "arithmetic takes {} cycles, matmuls {}: a warpgroup that waits for its turn would leave the former idle",
            busy[1], busy[0]
        );
        return Err(Refused {
            op: body.for_op,
            why,
        });
    }
    let mut best: Option<(u64, Section)> = None;
    let mut ends: Vec<usize> = body.dots.iter().flat_map(|d| [d.at, d.wait]).collect();
    ends.sort_unstable();
    for take in body.dots.iter().map(|d| d.at) {
        // The last of equal ones: then the next group's matmuls share the tensor cores with less.
        for &pass in ends.iter().rev().filter(|&&e| e >= take) {
            let section = Section { take, pass };
            if !by_itself(m, body, section) {
                continue;
            }
            let cycles = model::period(body, &times, section.take, section.pass);
            if best.is_none_or(|b| cycles * 100 < b.0 * (100 - NEAR)) {
                best = Some((cycles, section));
            }
        }
    }
    let Some((cycles, section)) = best else {
        let why = "between its matmuls, a warpgroup waits for others";
        return Err(Refused::new(body.for_op, why));
    };
    if cycles * 100 > free * (100 - GAIN) {
        let why = format!("an iteration of all would take some {cycles} cycles, now {free}");
        return Err(Refused {
            op: body.for_op,
            why,
        });
    }
    Ok(section)
}

/// Whether a group ends a section without the help of the others: it waits for no tile for which a producer needs a
/// release of the same section, which the others have yet to make.
fn by_itself(m: &Module, body: &Body, section: Section) -> bool {
    let kinds = (section.take..=section.pass).map(|i| S::of(m.op(body.ops[i]).kind));
    let mut released = false;
    for kind in kinds {
        released |= kind == Some(S::ConsumerRelease);
        if released && kind == Some(S::ConsumerWait) {
            return false;
        }
    }
    true
}

/// Whether warpgroups may meet at a barrier in an operation, or in one in it.
fn meets(m: &Module, op: OpId, target: &Target) -> bool {
    let data = m.op(op);
    let inside = || {
        let blocks = data.regions.iter().flat_map(|&r| &m.region(r).blocks);
        let mut ops = blocks.flat_map(|&b| &m.block(b).ops);
        ops.any(|&o| meets(m, o, target))
    };
    let layout = |v: ValueId| layout_of(m, v).map(|id| m.layouts.get(id).clone());
    let bits = |v: ValueId| m.types.bits(m.ty(v)).unwrap_or(32).max(8);
    match (C::of(data.kind), S::of(data.kind)) {
        (_, Some(S::AsyncDot | S::AsyncDotWait | S::ConsumerWait | S::ConsumerRelease)) => false,
        (_, Some(S::ConvertLayout)) => {
            let both = ConvertLayout::of(data)
                .and_then(|v| Some((layout(v.source())?, layout(v.result())?, bits(v.source()))));
            both.is_none_or(|(from, to, bits)| by_shared_memory(&from, &to, bits, target))
        }
        (Some(C::Reduce), _) => {
            let plan = Reduce::of(data).and_then(|v| {
                let source = v.operands().first().copied()?;
                let dim = usize::try_from(v.dim()).ok()?;
                ReducePlan::new(&layout(source)?, dim, bits(source)).ok()
            });
            plan.is_none_or(|p| p.cross_warp.is_some())
        }
        (Some(C::If), _) => inside(),
        (Some(C::Yield | C::Continue), _) => false,
        _ => !data.def().traits.has(Traits::PURE) || !data.regions.is_empty(),
    }
}

fn by_shared_memory(from: &Layout, to: &Layout, bits: u32, target: &Target) -> bool {
    let capabilities = Capabilities {
        ldmatrix: true,
        stmatrix: target.has(Feature::StMatrix),
    };
    let plan = convert(from, to, bits, capabilities);
    plan.is_ok_and(|p| matches!(p.conversion, Conversion::Shared(_)))
}
