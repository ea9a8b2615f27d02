//! Live ranges of registers over the linear order of instructions.
//!
//! Every repetition of an operation has two positions: it reads at the even one and writes at the
//! odd one, so that a result may take the register of an operand that ends there, but not the
//! register of an operand that a later repetition still reads.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::machine::class::Class;
use crate::machine::mir::{Func, Inst, Label, VReg};
use crate::machine::table::Table;

/// Sorted, disjoint, half-open stretches of positions. Most registers have one.
pub type Range = SmallVec<[(u32, u32); 2]>;

/// Live ranges of all registers, and where each instruction is.
pub struct Ranges {
    pub ranges: Vec<Range>,
    /// Where each instruction's first repetition reads.
    pub positions: Vec<u32>,
    /// Number of loops around each instruction.
    pub depth: Vec<u32>,
}

impl Ranges {
    /// Whether a register is live at a position.
    pub fn is_live(&self, r: VReg, at: u32) -> bool {
        let range = &self.ranges[r.0 as usize];
        range.iter().any(|&(start, end)| start <= at && at < end)
    }
}

/// Whether two ranges share a position.
pub fn overlap(a: &Range, b: &Range) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.0 < y.1 && y.0 < x.1 {
            return true;
        }
        if x.1 <= y.1 {
            i += 1;
        } else {
            j += 1;
        }
    }
    false
}

/// Both ranges together.
pub fn union(a: &Range, b: &Range) -> Range {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let mut out = Range::new();
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if y < x => b.next(),
            (Some(_), _) => a.next(),
            (None, _) => b.next(),
        };
        let Some(stretch) = next else { return out };
        append(&mut out, stretch);
    }
}

/// Adds a stretch that begins behind where the last one does.
fn append(range: &mut Range, (start, end): (u32, u32)) {
    match range.last_mut() {
        Some(last) if start <= last.1 => last.1 = last.1.max(end),
        _ => range.push((start, end)),
    }
}

/// A stretch of instructions that runs from its first to its last.
struct BasicBlock {
    first: usize,
    end: usize,
    successors: Vec<usize>,
}

/// A set of registers.
#[derive(Clone, PartialEq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(n: usize) -> Self {
        Bits(vec![0; n.div_ceil(64)])
    }
    fn set(&mut self, r: VReg, on: bool) {
        let (word, bit) = (r.0 as usize / 64, r.0 % 64);
        if on {
            self.0[word] |= 1 << bit;
        } else {
            self.0[word] &= !(1 << bit);
        }
    }
    fn merge(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// Adds `other` but what is in `without`. Returns whether that is news.
    fn merge_without(&mut self, other: &Bits, without: &Bits) -> bool {
        let mut changed = false;
        for ((a, b), without) in self.0.iter_mut().zip(&other.0).zip(&without.0) {
            let more = b & !without;
            changed |= more & !*a != 0;
            *a |= more;
        }
        changed
    }
    fn iter(&self) -> impl Iterator<Item = VReg> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                word &= word.checked_sub(1)?;
                Some(VReg(i as u32 * 64 + bit))
            })
        })
    }
}

/// Splits the function at labels and jumps.
fn blocks(func: &Func, table: &Table) -> Vec<BasicBlock> {
    let mut blocks: Vec<BasicBlock> = Vec::new();
    let mut at_label: FxHashMap<Label, usize> = FxHashMap::default();
    let mut first = 0;
    let mut close = |first: &mut usize, end: usize| {
        blocks.push(BasicBlock {
            first: *first,
            end,
            successors: Vec::new(),
        });
        *first = end;
    };
    for (i, inst) in func.insts.iter().enumerate() {
        match inst {
            Inst::Label(_) if i > first => close(&mut first, i),
            Inst::Branch { .. } => close(&mut first, i + 1),
            Inst::Op(op) if is_end(table, op) => close(&mut first, i + 1),
            _ => {}
        }
    }
    close(&mut first, func.insts.len());
    for (b, block) in blocks.iter().enumerate() {
        if let Some(Inst::Label(label)) = func.insts.get(block.first) {
            at_label.insert(*label, b);
        }
    }
    let count = blocks.len();
    for (b, block) in blocks.iter_mut().enumerate() {
        let last = block.end.checked_sub(1).and_then(|i| func.insts.get(i));
        let (target, falls) = match last {
            _ if block.first == block.end => (None, true),
            Some(Inst::Branch { to, guard, .. }) => (at_label.get(to), guard.is_some()),
            Some(Inst::Op(op)) if is_end(table, op) => (None, false),
            _ => (None, true),
        };
        block.successors.extend(target);
        if falls && b + 1 < count {
            block.successors.push(b + 1);
        }
    }
    blocks
}

/// Whether an operation ends the kernel.
fn is_end(table: &Table, op: &crate::machine::mir::Op) -> bool {
    op.guard.is_none() && table.row(&op.insn).unit == crate::machine::table::Unit::Ctrl
}

/// Positions of each instruction's first repetition.
fn positions(func: &Func) -> Vec<u32> {
    let mut at = 0;
    func.insts
        .iter()
        .map(|inst| {
            let here = at;
            at += match inst {
                Inst::Op(op) => 2 * op.reps,
                _ => 2,
            };
            here
        })
        .collect()
}

/// Visits what an instruction reads and writes, last repetition first: `(register, is_write,
/// position)`, writes before reads.
fn backwards(inst: &Inst, table: &Table, at: u32, visit: &mut impl FnMut(VReg, bool, u32)) {
    match inst {
        Inst::Op(op) => {
            let slots = &table.row(&op.insn).slots;
            for rep in (0..op.reps as usize).rev().filter(|&rep| !op.is_dead(rep)) {
                let at = at + 2 * rep as u32;
                op.writes(slots, rep, &mut |r| visit(r, true, at + 1));
                op.reads(slots, rep, &mut |r| visit(r, false, at));
            }
        }
        Inst::Copy { dst, src } => {
            dst.iter().for_each(|&r| visit(r, true, at + 1));
            src.iter()
                .filter_map(|a| a.reg())
                .for_each(|r| visit(r, false, at));
        }
        Inst::Branch {
            guard: Some((r, _)),
            ..
        } => visit(*r, false, at),
        _ => {}
    }
}

/// Computes the live ranges of a function.
pub fn ranges(func: &Func, table: &Table) -> Ranges {
    let blocks = blocks(func, table);
    let positions = positions(func);
    let live_out = live_out(func, table, &blocks);
    let mut ranges: Vec<Range> = Vec::new();
    ranges.resize_with(func.regs.len(), Range::new);
    let mut end: Vec<u32> = vec![0; func.regs.len()];
    for (b, block) in blocks.iter().enumerate().rev() {
        if block.first == block.end {
            continue;
        }
        let block_start = positions[block.first];
        let block_end = positions.get(block.end).copied().unwrap_or(u32::MAX);
        let mut open: Vec<VReg> = live_out[b].iter().collect();
        open.iter().for_each(|r| end[r.0 as usize] = block_end);
        for i in (block.first..block.end).rev() {
            backwards(&func.insts[i], table, positions[i], &mut |r, write, at| {
                let e = &mut end[r.0 as usize];
                if write {
                    ranges[r.0 as usize].push((at, (*e).max(at + 1)));
                    *e = 0;
                } else if *e == 0 {
                    *e = at + 1;
                    open.push(r);
                }
            });
        }
        for r in open {
            let e = std::mem::take(&mut end[r.0 as usize]);
            if e > 0 {
                ranges[r.0 as usize].push((block_start, e));
            }
        }
    }
    for range in ranges.iter_mut().filter(|range| range.len() > 1) {
        // They were met last first.
        let mut joined = Range::new();
        range
            .drain(..)
            .rev()
            .for_each(|stretch| append(&mut joined, stretch));
        *range = joined;
    }
    Ranges {
        ranges,
        depth: depths(func),
        positions,
    }
}

/// Words of registers of a class.
fn words(class: Class) -> u32 {
    match class {
        Class::Pred => 0,
        Class::B64 => 2,
        _ => 1,
    }
}

/// Words of registers that are live, from each position at which that changes.
fn levels(func: &Func, ranges: &[Range]) -> Vec<(u32, u32)> {
    let stretches = || {
        let words = func.regs.iter().map(|&class| i64::from(words(class)));
        let ranges = ranges.iter().zip(words);
        ranges.flat_map(|(range, words)| range.iter().map(move |&(a, b)| (a, b, words)))
    };
    // What is live where the function ends has no end.
    let end = |&b: &u32| b != u32::MAX;
    let last = stretches().map(|s| s.1).filter(end).max().unwrap_or(0);
    let mut changes = vec![0; last as usize + 1];
    for (a, b, words) in stretches() {
        // What ends where something begins makes room for it.
        for (at, change) in [(a, words), (b, -words)] {
            if let Some(sum) = changes.get_mut(at as usize) {
                *sum += change;
            }
        }
    }
    let mut live: i64 = 0;
    let mut levels = Vec::new();
    for (at, change) in (0..).zip(changes).filter(|c| c.1 != 0) {
        live += change;
        levels.push((at, u32::try_from(live).unwrap_or(u32::MAX)));
    }
    if live != 0 {
        levels.push((u32::MAX, 0));
    }
    levels
}

/// Words of all registers of a function, whether they are ever live at once or not.
pub fn all(func: &Func) -> u32 {
    func.regs.iter().map(|&class| words(class)).sum()
}

/// The most words of registers that are live at once.
pub fn most(func: &Func, table: &Table) -> u32 {
    let levels = levels(func, &ranges(func, table).ranges);
    levels.iter().map(|level| level.1).max().unwrap_or(0)
}

/// The stretches of positions at which more words of registers than `limit` are live, in order.
pub fn crowded(func: &Func, live: &Ranges, limit: u32) -> Vec<(u32, u32)> {
    let levels = levels(func, &live.ranges);
    let mut stretches: Vec<(u32, u32)> = Vec::new();
    for pair in levels.windows(2) {
        let ((start, words), (end, _)) = (pair[0], pair[1]);
        match stretches.last_mut() {
            _ if words <= limit => {}
            Some(last) if last.1 == start => last.1 = end,
            _ => stretches.push((start, end)),
        }
    }
    stretches
}

/// Whether one of the sorted stretches lies between two positions, in part or as a whole.
pub fn touches(stretches: &[(u32, u32)], start: u32, end: u32) -> bool {
    let next = stretches.partition_point(|stretch| stretch.1 <= start);
    stretches.get(next).is_some_and(|stretch| stretch.0 < end)
}

/// Registers that are live at the end of each block.
fn live_out(func: &Func, table: &Table, blocks: &[BasicBlock]) -> Vec<Bits> {
    let n = func.regs.len();
    // Of each block: what it reads before it writes it, and what it writes before it reads it.
    let mut live_in = Vec::with_capacity(blocks.len());
    let mut written = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (mut reads, mut writes) = (Bits::new(n), Bits::new(n));
        for inst in func.insts[block.first..block.end].iter().rev() {
            backwards(inst, table, 0, &mut |r, write, _| {
                reads.set(r, !write);
                writes.set(r, write);
            });
        }
        live_in.push(reads);
        written.push(writes);
    }
    let mut live_out = vec![Bits::new(n); blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (b, block) in blocks.iter().enumerate().rev() {
            for &next in &block.successors {
                live_out[b].merge(&live_in[next]);
            }
            changed |= live_in[b].merge_without(&live_out[b], &written[b]);
        }
    }
    live_out
}

/// Every jump back up: the instruction with its label, and its own.
fn jumps_back(func: &Func) -> Vec<(usize, usize)> {
    let mut labels: FxHashMap<Label, usize> = FxHashMap::default();
    let mut jumps = Vec::new();
    for (at, inst) in func.insts.iter().enumerate() {
        match inst {
            Inst::Label(label) => {
                labels.insert(*label, at);
            }
            Inst::Branch { to, .. } => jumps.extend(labels.get(to).map(|&first| (first, at))),
            Inst::Op(_) | Inst::Copy { .. } => {}
        }
    }
    jumps
}

/// Loops around each instruction: stretches between a label and a later jump to it.
fn depths(func: &Func) -> Vec<u32> {
    let mut delta = vec![0i32; func.insts.len() + 1];
    for (first, at) in jumps_back(func) {
        delta[first] += 1;
        delta[at + 1] -= 1;
    }
    let mut depth = 0;
    delta[..func.insts.len()]
        .iter()
        .map(|d| {
            depth += d;
            depth.max(0) as u32
        })
        .collect()
}

/// First and last instruction of each loop: a label, and the last jump back to it.
pub fn loops(func: &Func) -> Vec<(usize, usize)> {
    let loops: FxHashMap<usize, usize> = jumps_back(func).into_iter().collect();
    let mut loops: Vec<_> = loops.into_iter().collect();
    loops.sort_unstable();
    loops
}
