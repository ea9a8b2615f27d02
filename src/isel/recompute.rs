//! Where registers run short, a cheap value is computed again at its use instead of kept.
//!
//! Addresses and bounds that a loop does not change are computed ahead of it, and live as long as it does. `ptxas` keeps
//! each of them in a register, and spills others when there are too many. Here, a value that would be live in a crowded
//! stretch (one with more live registers than a thread has) without being used there is computed anew in front of its
//! next use, from what is live there anyway, from what takes no register (parameters, special registers, numbers), and
//! from what several such values share, which stays in a register for all of them.
//!
//! ```text
//! a = add base, 16                 loop:
//! loop:                              wgmma …            (crowded)
//!   wgmma …            (crowded) →   a' = add base, 16
//!   st.shared [a], x                 st.shared [a'], x
//! ```
//! Computed again, a value is the same. It has one writer, and so has everything that it is computed from, further up in
//! the text; and no way from that writer to a use leads back up over it, for the value is not live where a loop around
//! its writer begins. So nothing on the way writes what it is computed from.

use rustc_hash::{FxHashMap, FxHashSet};

use super::interleave::part;
use super::live::{self, Ranges};
use super::uses::{drop_dead, rename_in, visit};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Func, Inst, Label, Op, VReg};
use crate::machine::table::{Does, Fold, Role, Row, Table, Unit};

/// Most instructions that compute a value again.
const CHAIN: usize = 6;

/// Positions behind its last use within which a value that was computed again is used once more.
const NEAR: u32 = 64;

/// 32-bit registers of a multiprocessor, and most that a thread can have.
const FILE: u32 = 65536;
const MOST: u32 = 255;

/// Computes values again where registers run short. Returns how many uses do.
pub(super) fn recompute(func: &mut Func, table: &Table) -> usize {
    let live = live::ranges(func, table);
    let crowds = live::crowded(func, &live, registers(func, table));
    if crowds.is_empty() {
        return 0;
    }
    let loops = loops(func, &live);
    let makers = Makers::of(func, table, &live, &loops);
    let far = far_uses(func, table, &makers, &live, &loops, &crowds);
    let again = Again::choose(&makers, &live, far);
    let count = rewrite(func, table, &makers, &live, &again);
    if count > 0 {
        drop_dead(func, table);
    }
    count
}

/// Most registers that a thread of the kernel has: those that a role takes, or that its bounds leave.
fn registers(func: &Func, table: &Table) -> u32 {
    let taken = func.insts.iter().filter_map(|inst| match inst {
        Inst::Op(op) if table.row(&op.insn).does == Does::Registers => {
            match op.operands.first()?.atoms.first()? {
                Atom::Imm(n) => u32::try_from(*n).ok(),
                _ => None,
            }
        }
        _ => None,
    });
    let threads = func.block.max(1) * func.min_ctas.max(1);
    let bounds = func.max_regs.unwrap_or(MOST).min(FILE / threads / 8 * 8);
    taken.max().unwrap_or(bounds).min(MOST)
}

/// Which computation alone writes a register.
struct Makers {
    of: Vec<Option<Maker>>,
}

/// A repetition of a computation.
#[derive(Clone)]
struct Maker {
    op: Op,
    reads: Vec<VReg>,
    at: u32,
    /// Whether it may be done again.
    cheap: bool,
}

impl Makers {
    fn of(func: &Func, table: &Table, live: &Ranges, loops: &[(u32, u32)]) -> Makers {
        let writers = writers(func, table, live);
        // Where the repetition stands that alone writes a register.
        let place = |r: VReg| match writers[r.0 as usize] {
            Writer::One(place) => Some(place),
            Writer::None | Writer::Several => None,
        };
        let comes_around = |r: VReg, at: u32| {
            let mut around = loops.iter().filter(|l| l.0 <= at && at < l.1);
            around.any(|&(start, _)| live.is_live(r, start))
        };
        let mut of: Vec<Option<Maker>> = vec![None; func.regs.len()];
        for (op, row, rep, at) in computations(func, table, live) {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            op.reads(&row.slots, rep, &mut |r| reads.push(r));
            op.writes(&row.slots, rep, &mut |r| writes.push(r));
            let above = |&r: &VReg| place(r).is_some_and(|place| place < at);
            if let [one] = writes[..]
                && place(one).is_some()
                && !comes_around(one, at)
                && reads.iter().all(above)
            {
                of[one.0 as usize] = Some(Maker {
                    op: part(op, table, rep..rep + 1),
                    cheap: is_cheap(row) && !reads.is_empty() && !is_masked(func, one, &reads),
                    reads,
                    at,
                });
            }
        }
        Makers { of }
    }

    fn get(&self, r: VReg) -> Option<&Maker> {
        self.of[r.0 as usize].as_ref()
    }

    fn cheap(&self, r: VReg) -> Option<&Maker> {
        self.get(r).filter(|maker| maker.cheap)
    }

    /// Whether a value is as good as a number: what computes it reads no register.
    fn is_free(&self, r: VReg) -> bool {
        self.get(r).is_some_and(|maker| maker.reads.is_empty())
    }
}

/// Each repetition that does nothing but write registers of its own, and its position.
fn computations<'a>(
    func: &'a Func,
    table: &'a Table,
    live: &'a Ranges,
) -> impl Iterator<Item = (&'a Op, &'a Row, usize, u32)> {
    let all = func.insts.iter().zip(&live.positions);
    let ops = all.filter_map(|(inst, &at)| match inst {
        Inst::Op(op) => Some((op, table.row(&op.insn), at)),
        _ => None,
    });
    let pure = ops.filter(|(op, row, _)| {
        let in_place = row.slots.iter().any(|slot| slot.role == Role::InOut);
        row.unit.is_pure() && !in_place && op.guard.is_none()
    });
    pure.flat_map(|(op, row, at)| {
        let reps = (0..op.reps as usize).filter(|&rep| !op.is_dead(rep));
        reps.map(move |rep| (op, row, rep, at + 2 * rep as u32))
    })
}

/// What writes a register: the position of the repetition that alone does.
#[derive(Clone, Copy)]
enum Writer {
    None,
    One(u32),
    Several,
}

fn writers(func: &Func, table: &Table, live: &Ranges) -> Vec<Writer> {
    let mut writers = vec![Writer::None; func.regs.len()];
    for (inst, &at) in func.insts.iter().zip(&live.positions) {
        visit(inst, table, &mut |rep, r, write| {
            let writer = &mut writers[r.0 as usize];
            match (write, *writer) {
                (false, _) => {}
                (true, Writer::None) => *writer = Writer::One(at + 2 * rep as u32),
                (true, _) => *writer = Writer::Several,
            }
        });
    }
    writers
}

/// The positions of each loop: of a label, and of a jump back to it.
fn loops(func: &Func, live: &Ranges) -> Vec<(u32, u32)> {
    let mut labels: FxHashMap<Label, u32> = FxHashMap::default();
    let mut loops = Vec::new();
    for (inst, &at) in func.insts.iter().zip(&live.positions) {
        match inst {
            Inst::Label(label) => {
                labels.insert(*label, at);
            }
            Inst::Branch { to, .. } => loops.extend(labels.get(to).map(|&start| (start, at))),
            Inst::Op(_) | Inst::Copy { .. } => {}
        }
    }
    loops
}

/// Whether an instruction may be repeated: integers are computed, or whatever one instruction at full rate makes.
fn is_cheap(row: &Row) -> bool {
    matches!(row.unit, Unit::Alu | Unit::Fma) || row.fold == Some(Fold::Integers)
}

/// Whether a number is made from conditions: where it is an element's mask, it takes comparisons to make it again.
fn is_masked(func: &Func, value: VReg, reads: &[VReg]) -> bool {
    let is_condition = |&r: &VReg| func.class(r) == Class::Pred;
    !is_condition(&value) && reads.iter().any(is_condition)
}

/// For each cheap value that lives into a loop from before it, and in a crowded stretch, the positions of its uses that
/// lie behind both. What a loop computes from what it has just loaded is left alone: it would be the work of every element.
fn far_uses(
    func: &Func,
    table: &Table,
    makers: &Makers,
    live: &Ranges,
    loops: &[(u32, u32)],
    crowds: &[(u32, u32)],
) -> FxHashMap<VReg, Vec<u32>> {
    let mut far: FxHashMap<VReg, Vec<u32>> = FxHashMap::default();
    // By register: where it was last written or used in this stretch of code.
    let mut last: FxHashMap<VReg, u32> = FxHashMap::default();
    for (inst, &at) in func.insts.iter().zip(&live.positions) {
        visit(inst, table, &mut |rep, r, write| {
            let Some(maker) = makers.cheap(r) else {
                return;
            };
            let at = at + 2 * rep as u32;
            let before = last.insert(r, at);
            let is_far = || match before {
                Some(before) => touches(crowds, before, at),
                None => live.ranges[r.0 as usize]
                    .iter()
                    .any(|&(start, end)| touches(crowds, start, end)),
            };
            let enters = |&(start, _): &(u32, u32)| {
                maker.at < start && start <= at && live.is_live(r, start)
            };
            if !write && is_far() && loops.iter().any(enters) {
                far.entry(r).or_default().push(at);
            }
        });
        if matches!(inst, Inst::Label(_) | Inst::Branch { .. }) {
            last.clear();
        }
    }
    far
}

/// Whether one of the sorted stretches lies between two positions, in part or as a whole.
fn touches(crowds: &[(u32, u32)], start: u32, end: u32) -> bool {
    let next = crowds.partition_point(|crowd| crowd.1 <= start);
    crowds.get(next).is_some_and(|crowd| crowd.0 < end)
}

/// The values that are computed again at their far uses.
struct Again {
    values: FxHashMap<VReg, Vec<u32>>,
    /// What several of them are computed from stays in its register.
    roots: FxHashSet<VReg>,
}

impl Again {
    /// Takes each value whose every far use can compute it, those first that others are computed from.
    fn choose(makers: &Makers, live: &Ranges, far: FxHashMap<VReg, Vec<u32>>) -> Again {
        let mut again = Again {
            values: FxHashMap::default(),
            roots: FxHashSet::default(),
        };
        let mut served: FxHashMap<VReg, u32> = FxHashMap::default();
        for (&value, uses) in &far {
            let at = uses.first().copied().unwrap_or(0);
            for origin in again.origins(makers, live, value, at) {
                *served.entry(origin).or_default() += 1;
            }
        }
        let several = served.into_iter().filter(|&(_, count)| count > 1);
        again.roots = several.map(|(root, _)| root).collect();
        let place = |value: VReg| makers.get(value).map(|maker| maker.at);
        let mut values: Vec<(VReg, Vec<u32>)> = far.into_iter().collect();
        values.sort_unstable_by_key(|&(value, _)| (place(value), value));
        for (value, uses) in values {
            let can = |&at: &u32| again.can(makers, live, value, at, &mut 0);
            if !again.roots.contains(&value) && uses.iter().all(can) {
                again.values.insert(value, uses);
            }
        }
        again
    }

    /// What a value is computed from, directly or not, that is not there at a position.
    fn origins(&self, makers: &Makers, live: &Ranges, value: VReg, at: u32) -> Vec<VReg> {
        let mut origins: Vec<VReg> = Vec::new();
        let mut work = vec![value];
        while let Some(r) = work.pop() {
            for &read in makers.cheap(r).iter().flat_map(|maker| &maker.reads) {
                let known = origins.contains(&read) || origins.len() > 2 * CHAIN;
                if !known && !self.stays(makers, live, read, at) {
                    origins.push(read);
                    work.push(read);
                }
            }
        }
        origins
    }

    /// Whether a value can be computed at a position; `count` counts the instructions.
    fn can(&self, makers: &Makers, live: &Ranges, r: VReg, at: u32, count: &mut usize) -> bool {
        let Some(maker) = makers.cheap(r) else {
            return false;
        };
        *count += 1;
        *count <= CHAIN
            && maker.reads.iter().all(|&read| {
                self.stays(makers, live, read, at) || self.can(makers, live, read, at, count)
            })
    }

    /// Whether a value is there at a position without being computed again.
    fn stays(&self, makers: &Makers, live: &Ranges, r: VReg, at: u32) -> bool {
        makers.is_free(r)
            || self.roots.contains(&r)
            || !self.values.contains_key(&r) && live.is_live(r, at)
    }
}

/// Writes the computations in front of the uses. Returns how many uses have one.
fn rewrite(func: &mut Func, table: &Table, makers: &Makers, live: &Ranges, again: &Again) -> usize {
    let insts = std::mem::take(&mut func.insts);
    let mut writer = Rewriter {
        makers,
        live,
        again,
        regs: &mut func.regs,
        out: Vec::with_capacity(insts.len()),
        known: FxHashMap::default(),
        count: 0,
    };
    for (inst, &at) in insts.into_iter().zip(&live.positions) {
        writer.inst(inst, table, at);
    }
    let (out, count) = (writer.out, writer.count);
    func.insts = out;
    count
}

struct Rewriter<'a> {
    makers: &'a Makers,
    live: &'a Ranges,
    again: &'a Again,
    regs: &'a mut Vec<Class>,
    out: Vec<Inst>,
    /// What has been computed again in this stretch of code: its register, and where that was last used.
    known: FxHashMap<VReg, (VReg, u32)>,
    count: usize,
}

impl Rewriter<'_> {
    fn inst(&mut self, inst: Inst, table: &Table, at: u32) {
        let mut wanted: Vec<(usize, VReg)> = Vec::new();
        visit(&inst, table, &mut |rep, r, write| {
            let here = at + 2 * rep as u32;
            let Some(far) = self.again.values.get(&r) else {
                return;
            };
            // A use near one that has the value anew has it from there.
            let is_new = self.known.contains_key(&r) || wanted.iter().any(|w| w.1 == r);
            let wants = is_new || far.binary_search(&here).is_ok();
            if wants && !write {
                wanted.push((rep, r));
            }
        });
        match inst {
            Inst::Op(op) if !wanted.is_empty() => self.op(&op, table, at, &wanted),
            mut inst => {
                let new = self.all(wanted.iter().map(|w| w.1), at);
                rename_in(&mut inst, &mut |r| new.get(&r).copied().unwrap_or(r));
                let leaves = matches!(inst, Inst::Label(_) | Inst::Branch { .. });
                self.out.push(inst);
                if leaves {
                    self.known.clear();
                }
            }
        }
    }

    /// An operation, cut where a repetition needs a value that is computed again.
    fn op(&mut self, op: &Op, table: &Table, at: u32, wanted: &[(usize, VReg)]) {
        let cuts: Vec<usize> = {
            let mut cuts: Vec<usize> = wanted.iter().map(|w| w.0).collect();
            cuts.dedup();
            cuts
        };
        if cuts[0] > 0 {
            self.out.push(Inst::Op(part(op, table, 0..cuts[0])));
        }
        for (i, &rep) in cuts.iter().enumerate() {
            let end = cuts.get(i + 1).copied().unwrap_or(op.reps as usize);
            let here = at + 2 * rep as u32;
            let values = wanted.iter().filter(|w| w.0 == rep).map(|w| w.1);
            let new = self.all(values, here);
            let mut first = Inst::Op(part(op, table, rep..rep + 1));
            rename_in(&mut first, &mut |r| new.get(&r).copied().unwrap_or(r));
            self.out.push(first);
            if rep + 1 < end {
                self.out.push(Inst::Op(part(op, table, rep + 1..end)));
            }
        }
    }

    fn all(&mut self, values: impl Iterator<Item = VReg>, at: u32) -> FxHashMap<VReg, VReg> {
        values
            .map(|value| {
                self.count += 1;
                (value, self.value(value, at))
            })
            .collect()
    }

    /// The register of a value, computed again at a position.
    fn value(&mut self, r: VReg, at: u32) -> VReg {
        if let Some((register, last)) = self.known.get_mut(&r)
            && at - *last <= NEAR
        {
            *last = at;
            return *register;
        }
        let Some(maker) = self.makers.cheap(r) else {
            return r;
        };
        let mut new: FxHashMap<VReg, VReg> = FxHashMap::default();
        for &read in &maker.reads {
            if !self.again.stays(self.makers, self.live, read, at) {
                new.insert(read, self.value(read, at));
            }
        }
        let class = self.regs[r.0 as usize];
        self.regs.push(class);
        let register = VReg(self.regs.len() as u32 - 1);
        new.insert(r, register);
        let mut inst = Inst::Op(maker.op.clone());
        rename_in(&mut inst, &mut |r| new.get(&r).copied().unwrap_or(r));
        self.out.push(inst);
        self.known.insert(r, (register, at));
        register
    }
}
