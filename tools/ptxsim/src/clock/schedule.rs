//! The order in which ptxas would issue instructions.
//!
//! PTX has loads beside their uses; ptxas moves them ahead within a basic block. Here each block is scheduled as a list:
//! of the instructions whose operands have been issued, within a window, the one that can start first, and of these the
//! one with the longest way to the block's end. Recorded passes through a whole block are replayed in that order. What
//! synchronises, branches or waits ends a block; stores keep their order.

use super::cost::{Action, CYCLE, Cost, Costs, Tick, ticks};
use super::gpu::Gpu;
use super::trace::{ClusterTrace, Event, WarpTrace};
use super::weight::Pipe;
use crate::program::Program;
use crate::program::inst::Op;
use crate::program::tensor::Tensor;
use rustc_hash::FxHashMap;

/// Instructions beyond the oldest that has not been issued among which the next is chosen: registers are few.
const WINDOW: usize = 40;

/// Instructions that follow one another, and their order: offsets from the first.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    start: u32,
    order: Vec<u32>,
}

/// The blocks of a program by their first instruction.
#[derive(Debug, Clone, Default)]
pub struct Schedule {
    blocks: FxHashMap<u32, Block>,
}

impl Schedule {
    /// Schedules every block.
    pub fn of(program: &Program, costs: &Costs, gpu: &Gpu) -> Schedule {
        let mut leads = vec![false; program.code.len() + 1];
        for (pc, inst) in program.code.iter().enumerate() {
            match &inst.op {
                Op::Branch { target, .. } => leads[*target as usize] = true,
                Op::BranchIndirect { targets, .. } => {
                    targets.iter().for_each(|t| leads[*t as usize] = true);
                }
                _ => {}
            }
            if ends_block(&inst.op) {
                leads[pc] = true;
                leads[pc + 1] = true;
            }
        }
        program
            .functions
            .iter()
            .for_each(|f| leads[f.start as usize] = true);
        let mut blocks = FxHashMap::default();
        let mut start = 0;
        leads[program.code.len()] = true;
        for (end, _) in leads
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, leads)| **leads)
        {
            if end - start > 2 {
                let order = order(program, costs, gpu, start..end);
                let start = start as u32;
                blocks.insert(start, Block { start, order });
            }
            start = end;
        }
        Schedule { blocks }
    }

    /// A recording with whole passes through blocks in their scheduled order.
    pub fn apply(&self, trace: &ClusterTrace) -> ClusterTrace {
        let mut scheduled = trace.clone();
        scheduled.warps.iter_mut().for_each(|w| self.warp(w));
        scheduled
    }

    fn warp(&self, warp: &mut WarpTrace) {
        let mut at = 0;
        while at < warp.events.len() {
            let Some(block) = self.blocks.get(&warp.events[at].pc) else {
                at += 1;
                continue;
            };
            let length = block.order.len();
            let whole = warp.events.get(at..at + length).filter(|events| {
                let expected = block.start..;
                events.iter().zip(expected).all(|(e, pc)| e.pc == pc)
            });
            match whole {
                Some(events) => {
                    let moved: Vec<Event> =
                        block.order.iter().map(|&i| events[i as usize]).collect();
                    warp.events[at..at + length].copy_from_slice(&moved);
                    at += length;
                }
                None => at += 1,
            }
        }
    }
}

/// What nothing is moved across.
fn ends_block(op: &Op) -> bool {
    matches!(
        op,
        Op::Branch { .. }
            | Op::BranchIndirect { .. }
            | Op::Call { .. }
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Bar { .. }
            | Op::Fence { .. }
            | Op::Mbarrier { .. }
            | Op::CpAsyncCommit
            | Op::CpAsyncWait { .. }
            | Op::CpAsyncArrive { .. }
            | Op::BulkCopy(_)
            | Op::TensorCopy(_)
            | Op::BulkCommit
            | Op::BulkWait { .. }
            | Op::WgmmaFence
            | Op::WgmmaCommit
            | Op::WgmmaWait { .. }
            | Op::ClusterArrive { .. }
            | Op::ClusterWait
            | Op::SetMaxNreg { .. }
            | Op::Nanosleep
            | Op::GridDependency
    ) || matches!(op, Op::Tensor(tensor) if !moves_tensor(tensor))
}

/// Whether ptxas orders it by its registers and by memory alone: nothing remains of a wait for loads, whose registers are
/// waited for where they are read.
fn moves_tensor(tensor: &Tensor) -> bool {
    matches!(tensor, Tensor::Move(_) | Tensor::Wait { stores: false })
}

/// How memory keeps an instruction in order.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    No,
    Read,
    Write,
}

fn memory(op: &Op) -> Memory {
    match op {
        Op::Load { .. } => Memory::Read,
        Op::MatrixMove(mv) if !mv.store => Memory::Read,
        Op::WmmaMove(mv) if !mv.store => Memory::Read,
        Op::Tensor(Tensor::Move(mv)) if !mv.store => Memory::Read,
        Op::Tensor(Tensor::Move(_)) => Memory::Write,
        Op::Store { .. } | Op::Atom { .. } | Op::MatrixMove(_) | Op::WmmaMove(_) | Op::Wgmma(_) => {
            Memory::Write
        }
        _ => Memory::No,
    }
}

/// What a dependent instruction waits for, as a compiler counts it.
fn latency(op: &Op, cost: &Cost, gpu: &Gpu) -> Tick {
    match op {
        Op::Load { address, .. } if address.space.may_be_global() => ticks(gpu.get("l2_latency")),
        Op::Load { .. } | Op::MatrixMove(_) | Op::Shfl { .. } => ticks(gpu.get("shared_latency")),
        _ if cost.pipe == Pipe::Free => 0,
        _ => cost.latency,
    }
}

fn order(program: &Program, costs: &Costs, gpu: &Gpu, range: std::ops::Range<usize>) -> Vec<u32> {
    let code = &costs.code[range.clone()];
    let ops = &program.code[range];
    let before = dependences(code, ops);
    let mut way = vec![0; code.len()];
    for i in (0..code.len()).rev() {
        way[i] += latency(&ops[i].op, &code[i], gpu).max(CYCLE);
        for &(j, _) in &before[i] {
            way[j] = way[j].max(way[i]);
        }
    }
    let (mut issued, mut starts) = (vec![false; code.len()], vec![0; code.len()]);
    let (mut done, mut first, mut now) = (Vec::with_capacity(code.len()), 0, 0);
    while done.len() < code.len() {
        while issued[first] {
            first += 1;
        }
        let last = (first + WINDOW).min(code.len());
        let mut best: Option<(Tick, std::cmp::Reverse<Tick>, usize)> = None;
        for i in (first..last).filter(|&i| !issued[i]) {
            if before[i].iter().any(|&(j, _)| !issued[j]) {
                continue;
            }
            let ready = before[i].iter().map(|&(j, flows)| {
                starts[j]
                    + if flows {
                        latency(&ops[j].op, &code[j], gpu)
                    } else {
                        0
                    }
            });
            let start = ready.max().unwrap_or(0).max(now);
            let key = (start, std::cmp::Reverse(way[i]), i);
            if best.is_none_or(|b| key < b) {
                best = Some(key);
            }
        }
        // The oldest never waits for a younger one, so that there always is one.
        let Some((start, _, chosen)) = best else {
            break;
        };
        (issued[chosen], starts[chosen]) = (true, start);
        now = start
            + code[chosen]
                .issue
                .max(code[chosen].busy * Tick::from(code[chosen].action == Action::Mma));
        done.push(chosen as u32);
    }
    done
}

/// Whom each instruction comes after, and whether a value flows.
fn dependences(code: &[Cost], ops: &[crate::program::inst::Inst]) -> Vec<Vec<(usize, bool)>> {
    let mut writer: FxHashMap<u32, usize> = FxHashMap::default();
    let mut readers: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let (mut stored, mut loaded): (Option<usize>, Vec<usize>) = (None, Vec::new());
    let mut before = Vec::with_capacity(code.len());
    for (i, cost) in code.iter().enumerate() {
        let mut mine: Vec<(usize, bool)> = Vec::new();
        for place in &cost.operands.reads {
            mine.extend(writer.get(place).map(|&w| (w, true)));
            readers.entry(*place).or_default().push(i);
        }
        for place in &cost.operands.writes {
            mine.extend(writer.get(place).map(|&w| (w, false)));
            let earlier = readers.remove(place).unwrap_or_default();
            mine.extend(earlier.into_iter().filter(|&r| r != i).map(|r| (r, false)));
            writer.insert(*place, i);
        }
        match memory(&ops[i].op) {
            Memory::No => {}
            Memory::Read => {
                mine.extend(stored.map(|s| (s, false)));
                loaded.push(i);
            }
            Memory::Write => {
                mine.extend(stored.map(|s| (s, false)));
                mine.extend(loaded.drain(..).map(|l| (l, false)));
                stored = Some(i);
            }
        }
        before.push(mine);
    }
    before
}
