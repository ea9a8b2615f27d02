//! What works over a tile's registers is done when its results are asked for.
//!
//! An operation on a register array is written out register by register; one after the other, each such operation
//! would need all of its results in registers at once. Here a repetition waits, within its stretch of code, until
//! something asks for its result, unless doing it at once sets more registers free than it takes:
//!
//! ```text
//! ld   t0..t31, t32..t63         ld t0..t31
//! h = cvt(t) (32 times)     →    h0..h15 = cvt(t0..t31)
//! st   h0..h7 (4 times)          st h0..h7;  st h8..h15
//!                                ld t32..t63 …
//! ```
//! Loads from tensor memory wait as computations do, for nothing else reads or writes what they read before a store
//! to it or an operation that orders its uses. The wait for their data stands where it is first used, by which time
//! the next load of the tile has been issued.

mod facts;

use super::bounds::registers;
use super::live;
use super::part::part;
use super::uses::visit;
use crate::machine::class::Class;
use crate::machine::mir::{Func, Inst, Op, VReg};
use crate::machine::table::{Does, Role, Row, Table, Unit};
use crate::target::Target;
use facts::{Columns, Facts};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Fewest repetitions of an operation that waits.
const WIDE: u32 = 4;

/// Fewest repetitions of an operation for which stretches are put in order.
const MANY: u32 = 4 * WIDE;

/// Repetitions of an operation that nothing can be held beside: its operands and results fill a thread's registers.
const FULL: u32 = 128;

fn does(op: &Op, table: &Table) -> Does {
    table.row(&op.insn).does
}

/// Which stretches are put in order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// All, for the function loads from tensor memory, or computes on so many registers at once that a thread has none for
    /// what the next operation makes of them.
    Everywhere,
    /// All, for the function, which multiplies no matrices, has more registers live at once than a thread has.
    Crowded,
    /// Those that branch for each of many registers, for most registers of a thread would be live there: `ptxas` moves nothing
    /// past a branch.
    Branches,
}

impl Where {
    fn of(func: &Func, table: &Table, target: Target) -> Option<Where> {
        let mut ops = func.insts.iter().filter_map(|inst| match inst {
            Inst::Op(op) => Some((op, table.row(&op.insn))),
            _ => None,
        });
        let full = |(op, row): (&Op, &Row)| {
            row.does == Does::TensorLoad || row.lanes * op.reps >= FULL && row.unit.is_pure()
        };
        if ops.clone().any(full) {
            return Some(Where::Everywhere);
        }
        let multiplies = ops.clone().any(|(_, row)| row.unit == Unit::Mma);
        let wide = |(op, row): (&Op, &Row)| row.unit.is_pure() && op.reps >= MANY;
        let (wide, branched) = (!multiplies && ops.any(wide), branches(&func.insts, table));
        if !wide && !branched {
            return None;
        }
        let limit = func.max_regs.unwrap_or(target.max_registers_per_thread());
        let many = 3 * registers(func, table, target) / 4;
        // Most functions have too few registers for either, whatever lives when.
        if live::all(func) <= limit.min(many) {
            return None;
        }
        let live = live::most(func, table);
        match () {
            () if wide && live > limit => Some(Where::Crowded),
            () if branched && live > many => Some(Where::Branches),
            () => None,
        }
    }
}

/// Whether one of the instructions branches for each of many registers.
fn branches(insts: &[Inst], table: &Table) -> bool {
    let branches = |inst: &Inst| matches!(inst, Inst::Op(op) if op.reps >= MANY && does(op, table) == Does::Branches);
    insts.iter().any(branches)
}

/// Orders the instructions of a function where registers are short. Returns how many waited.
pub fn order(func: &mut Func, table: &Table, target: Target) -> usize {
    let Some(place) = Where::of(func, table, target) else {
        return 0;
    };
    let insts = std::mem::take(&mut func.insts);
    let facts = Facts::of(func, &insts, table);
    let mut out = Vec::with_capacity(insts.len());
    let (mut start, mut waited) = (0, 0);
    while start < insts.len() {
        let ends = |i: &Inst| matches!(i, Inst::Label(_) | Inst::Branch { .. });
        let length = insts[start..].iter().position(ends);
        let end = length.map_or(insts.len(), |n| start + n);
        if place == Where::Branches && !branches(&insts[start..end], table) {
            out.extend_from_slice(&insts[start..end]);
        } else {
            let stretch = Stretch::new(func, table, &facts, &insts[start..end]);
            waited += stretch.run(table, place != Where::Everywhere, &mut out);
        }
        out.extend(insts.get(end).cloned());
        start = end + 1;
    }
    func.insts = out;
    waited
}

/// What becomes of a repetition of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Its turn has not come.
    Ahead,
    /// Nothing has asked for its results.
    Waiting,
    Written,
}

/// One repetition of an instruction of a stretch.
struct Node {
    inst: u32,
    rep: u32,
    reads: SmallVec<[VReg; 4]>,
    writes: SmallVec<[VReg; 2]>,
    /// The columns that it loads from tensor memory.
    loads: Option<Columns>,
    /// The last load that it waits for, directly or not: the number of that node and one more.
    after: usize,
    state: State,
}

/// A stretch of instructions that all run when the first does.
struct Stretch<'a> {
    func: &'a Func,
    facts: &'a Facts,
    insts: &'a [Inst],
    nodes: Vec<Node>,
    /// The first node of each instruction.
    first: Vec<usize>,
    /// The node that will write a register.
    makers: FxHashMap<VReg, usize>,
    /// Waiting nodes that read it.
    readers: FxHashMap<VReg, Vec<usize>>,
    /// Reads of a register that are still to come; `None`: it is used elsewhere, too.
    left: FxHashMap<VReg, Option<u32>>,
    /// Loads whose data have not been waited for.
    in_flight: Vec<usize>,
    /// Loads that have just been waited for: what their data are all that was lacking for is done next.
    arrived: Vec<usize>,
    /// What is written, repetitions of one instruction together.
    out: Vec<Piece>,
    waited: usize,
}

enum Piece {
    Part(u32, std::ops::Range<u32>),
    Wait,
}

impl<'a> Stretch<'a> {
    fn new(func: &'a Func, table: &Table, facts: &'a Facts, insts: &'a [Inst]) -> Self {
        let mut here: FxHashMap<VReg, [u32; 2]> = FxHashMap::default();
        let (mut nodes, mut first): (Vec<Node>, Vec<usize>) = (Vec::new(), Vec::new());
        for (i, inst) in insts.iter().enumerate() {
            first.push(nodes.len());
            visit(inst, table, &mut |rep, r, write| {
                here.entry(r).or_default()[usize::from(write)] += 1;
                let same = |n: &Node| n.inst == i as u32 && n.rep == rep as u32;
                if !nodes.last().is_some_and(same) {
                    nodes.push(Node::new(i, rep));
                }
                if let Some(node) = nodes.last_mut() {
                    if write {
                        node.writes.push(r)
                    } else {
                        node.reads.push(r)
                    }
                }
            });
            if nodes.len() == first[i] {
                nodes.push(Node::new(i, 0));
            }
        }
        let left = here.into_iter().map(|(r, [reads, writes])| {
            let own = [reads, writes] == [facts.reads[r.0 as usize], facts.writes[r.0 as usize]];
            (r, own.then_some(reads))
        });
        Stretch {
            func,
            facts,
            insts,
            nodes,
            first,
            makers: FxHashMap::default(),
            readers: FxHashMap::default(),
            left: left.collect(),
            in_flight: Vec::new(),
            arrived: Vec::new(),
            out: Vec::new(),
            waited: 0,
        }
    }

    /// Writes the stretch to `out`; returns how many of its nodes waited. At its end, what nothing in it reads asks for what
    /// still waits, if this is done `from_the_end`.
    fn run(mut self, table: &Table, from_the_end: bool, out: &mut Vec<Inst>) -> usize {
        for (i, inst) in self.insts.iter().enumerate() {
            let end = self.first.get(i + 1).copied().unwrap_or(self.nodes.len());
            match inst {
                Inst::Op(op) if does(op, table) == Does::TensorLoaded => {}
                Inst::Op(op) if does(op, table) == Does::MatmulFence => {
                    self.ask_for_matmuls(i, table);
                    self.op(op, table, self.first[i]..end);
                }
                Inst::Op(op) => self.op(op, table, self.first[i]..end),
                _ => (self.first[i]..end).for_each(|n| self.now(n)),
            }
        }
        for last in [from_the_end, false] {
            for n in 0..self.nodes.len() {
                if self.nodes[n].state == State::Waiting && !(last && self.is_read(n)) {
                    self.now(n);
                }
            }
        }
        self.wait();
        for piece in self.out {
            match piece {
                Piece::Wait => out.extend(self.facts.wait.clone().map(Inst::Op)),
                Piece::Part(i, reps) => out.push(match &self.insts[i as usize] {
                    Inst::Op(op) if reps.len() < op.reps as usize => {
                        Inst::Op(part(op, table, reps.start as usize..reps.end as usize))
                    }
                    whole => whole.clone(),
                }),
            }
        }
        self.waited
    }

    /// Writes what the matmuls of warpgroups behind the fence `at` read: it orders no later writes of registers.
    fn ask_for_matmuls(&mut self, at: usize, table: &Table) {
        let ends = |i: &&Inst| matches!(i, Inst::Op(op) if table.row(&op.insn).unit == Unit::Sync);
        let behind = self.insts.iter().skip(at + 1);
        let count = behind.take_while(|i| !ends(i)).count();
        let matmul = |i: &usize| matches!(&self.insts[*i], Inst::Op(op) if table.row(&op.insn).unit == Unit::Mma);
        let matmuls: Vec<usize> = (at + 1..=at + count).filter(matmul).collect();
        for i in matmuls {
            let end = self.first.get(i + 1).copied().unwrap_or(self.nodes.len());
            for n in self.first[i]..end {
                let needed = self.needed(n);
                needed.into_iter().for_each(|n| self.now(n));
            }
        }
    }

    /// An operation where it stands.
    fn op(&mut self, op: &Op, table: &Table, nodes: std::ops::Range<usize>) {
        let row = table.row(&op.insn);
        let (load, store) = (row.does == Does::TensorLoad, row.does == Does::TensorStore);
        if row.does == Does::Tensor {
            self.clear(None);
        }
        let pure = row.unit.is_pure() && row.slots.iter().all(|s| s.role != Role::InOut);
        for n in self.by_loads(row.does, nodes) {
            let rep = self.nodes[n].rep as usize;
            if load {
                self.nodes[n].loads = Columns::of(op, table, rep, 1, self.facts);
            }
            if store {
                self.clear(Columns::of(op, table, rep, 0, self.facts));
            }
            let node = &self.nodes[n];
            let plain = op.pred(rep).is_none() && node.writes.iter().all(|&r| self.facts.once(r));
            let depends = !self.has_all(n);
            let wide = op.reps >= WIDE && !self.pays(n);
            if plain && (load && node.loads.is_some() || pure && (depends || wide)) {
                let Node { reads, writes, .. } = node;
                self.makers.extend(writes.iter().map(|&r| (r, n)));
                for &r in reads {
                    self.readers.entry(r).or_default().push(n);
                }
                self.nodes[n].after = if load { n + 1 } else { self.after(n) };
                self.nodes[n].state = State::Waiting;
                self.waited += 1;
            } else {
                self.now(n);
            }
        }
    }

    /// The repetitions of an operation in the order in which they are done: stores as what they store is loaded.
    fn by_loads(&self, does: Does, nodes: std::ops::Range<usize>) -> Vec<usize> {
        let mut nodes: Vec<usize> = nodes.collect();
        if does == Does::Store {
            nodes.sort_by_key(|&n| self.after(n));
        }
        nodes
    }

    /// The last load that `n` waits for, of those that have not been written.
    fn after(&self, n: usize) -> usize {
        let makers = self.nodes[n]
            .reads
            .iter()
            .filter_map(|r| self.makers.get(r));
        makers.map(|&m| self.nodes[m].after).max().unwrap_or(0)
    }

    /// Loads everything that is still to be loaded and is, perhaps, in these columns.
    fn clear(&mut self, columns: Option<Columns>) {
        let meets = |n: &Node| columns.is_none_or(|c| c.meets(n.loads));
        let is_load = |n: &Node| n.loads.is_some();
        for n in 0..self.nodes.len() {
            let node = &self.nodes[n];
            if node.state == State::Waiting && is_load(node) && meets(node) {
                self.now(n);
            }
        }
        if self.in_flight.iter().any(|&n| meets(&self.nodes[n])) {
            self.wait();
        }
    }

    /// Whether doing it sets at least as many registers free as it takes.
    fn pays(&self, n: usize) -> bool {
        let Node { reads, writes, .. } = &self.nodes[n];
        let words = |r: VReg| {
            if self.func.class(r) == Class::B64 {
                2
            } else {
                1
            }
        };
        let taken: u32 = writes.iter().map(|&r| words(r)).sum();
        let ends = |i: &usize| {
            let own = reads.iter().filter(|&&r| r == reads[*i]).count() as u32;
            !reads[..*i].contains(&reads[*i]) && self.left.get(&reads[*i]) == Some(&Some(own))
        };
        let freed: u32 = (0..reads.len()).filter(ends).map(|i| words(reads[i])).sum();
        freed >= taken
    }

    /// Whether something that waits reads what it makes.
    fn is_read(&self, n: usize) -> bool {
        let writes = self.nodes[n].writes.iter();
        let mut readers = writes.flat_map(|r| self.readers.get(r).into_iter().flatten());
        readers.any(|&o| self.nodes[o].state == State::Waiting)
    }

    /// Whether nothing that it reads waits.
    fn has_all(&self, n: usize) -> bool {
        self.nodes[n]
            .reads
            .iter()
            .all(|r| !self.makers.contains_key(r))
    }

    /// Writes a node: before it what it reads, behind it what has become worth doing.
    fn now(&mut self, n: usize) {
        let mut stack = vec![(n, false)];
        while let Some((n, ready)) = stack.pop() {
            if self.nodes[n].state == State::Written {
                continue;
            }
            if !ready {
                stack.push((n, true));
                let needed = self.needed(n);
                stack.extend(needed.into_iter().rev().map(|n| (n, false)));
                continue;
            }
            self.put(n);
            stack.extend(self.due(n).into_iter().rev().map(|n| (n, false)));
            for load in std::mem::take(&mut self.arrived) {
                stack.extend(self.due(load).into_iter().rev().map(|n| (n, false)));
            }
        }
    }

    /// Waiting nodes that are worth doing now that `n` has been written: what it makes is all that they lacked, or they
    /// are the last to read what it reads.
    fn due(&self, n: usize) -> Vec<usize> {
        let Node { reads, writes, .. } = &self.nodes[n];
        let last = |r: &&VReg| matches!(self.left.get(*r), Some(Some(1 | 2)));
        let touched = writes.iter().chain(reads.iter().filter(last));
        let waiting = touched.flat_map(|r| self.readers.get(r).into_iter().flatten());
        let due = |n: &usize| {
            let node = &self.nodes[*n];
            node.state == State::Waiting
                && self.has_all(*n)
                && !node.reads.iter().any(|&r| self.is_in_flight(r))
                && self.pays(*n)
        };
        waiting.copied().filter(due).collect()
    }

    /// The waiting nodes that must come before `n`.
    fn needed(&self, n: usize) -> Vec<usize> {
        let Node { reads, writes, .. } = &self.nodes[n];
        let mut needed: Vec<usize> = reads
            .iter()
            .filter_map(|r| self.makers.get(r).copied())
            .collect();
        // What reads a register's old value.
        for r in writes.iter().filter(|r| !self.facts.once(**r)) {
            let waiting = self.readers.get(r).into_iter().flatten();
            needed.extend(waiting.filter(|&&o| o != n && self.nodes[o].state == State::Waiting));
        }
        // What is loaded first is used first, and what waits for no load is made when the rest is there.
        needed.sort_by_key(|&n| match self.nodes[n].after {
            0 => usize::MAX,
            load => load,
        });
        needed
    }

    fn put(&mut self, n: usize) {
        if self.nodes[n].reads.iter().any(|r| self.is_in_flight(*r)) {
            self.wait();
        }
        let node = &mut self.nodes[n];
        node.state = State::Written;
        for r in &node.writes {
            self.makers.remove(r);
        }
        for r in &node.reads {
            if let Some(Some(left)) = self.left.get_mut(r) {
                *left = left.saturating_sub(1);
            }
        }
        if node.loads.is_some() {
            self.in_flight.push(n);
        }
        let (i, rep) = (node.inst, node.rep);
        if let Some(Piece::Part(last, reps)) = self.out.last_mut()
            && *last == i
            && reps.end == rep
        {
            reps.end += 1;
            return;
        }
        self.out.push(Piece::Part(i, rep..rep + 1));
    }

    fn is_in_flight(&self, r: VReg) -> bool {
        self.in_flight
            .iter()
            .any(|&n| self.nodes[n].writes.contains(&r))
    }

    /// Waits for the loads that are in flight; then the next one of that tile begins.
    fn wait(&mut self) {
        let Some(last) = self.in_flight.pop() else {
            return;
        };
        self.arrived.push(last);
        self.arrived.append(&mut self.in_flight);
        self.out.push(Piece::Wait);
        let inst = self.nodes[last].inst;
        let next = self.nodes.get(last + 1);
        if next.is_some_and(|n| n.inst == inst && n.state == State::Waiting)
            && self.needed(last + 1).is_empty()
        {
            self.put(last + 1);
        }
    }
}

impl Node {
    fn new(inst: usize, rep: usize) -> Node {
        Node {
            inst: inst as u32,
            rep: rep as u32,
            reads: SmallVec::new(),
            writes: SmallVec::new(),
            loads: None,
            after: 0,
            state: State::Ahead,
        }
    }
}
