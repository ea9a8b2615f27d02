//! Values that are computed again are written in front of their uses.

use rustc_hash::FxHashMap;

use super::again::Again;
use super::makers::Makers;
use crate::isel::live::Ranges;
use crate::isel::part::part;
use crate::isel::uses::{rename_in, visit};
use crate::machine::mir::{Func, Inst, Op, VReg};
use crate::machine::table::Table;

/// Positions behind its last use within which a value that was computed again is used once more.
const NEAR: u32 = 64;

/// Writes the computations in front of the uses. Returns how many uses have one.
pub(super) fn rewrite(
    func: &mut Func,
    table: &Table,
    makers: &Makers,
    live: &Ranges,
    again: &Again,
) -> usize {
    let insts = std::mem::take(&mut func.insts);
    let mut writer = Rewriter {
        makers,
        live,
        again,
        func,
        known: FxHashMap::default(),
        count: 0,
    };
    for (inst, &at) in insts.into_iter().zip(&live.positions) {
        writer.inst(inst, table, at);
    }
    writer.count
}

struct Rewriter<'a> {
    makers: &'a Makers,
    live: &'a Ranges,
    again: &'a Again,
    func: &'a mut Func,
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
                self.func.insts.push(inst);
                if leaves {
                    self.known.clear();
                }
            }
        }
    }

    /// An operation, cut where a repetition needs a value that is computed again.
    fn op(&mut self, op: &Op, table: &Table, at: u32, wanted: &[(usize, VReg)]) {
        let mut cuts: Vec<usize> = wanted.iter().map(|w| w.0).collect();
        cuts.dedup();
        if cuts[0] > 0 {
            self.func.insts.push(Inst::Op(part(op, table, 0..cuts[0])));
        }
        for (i, &rep) in cuts.iter().enumerate() {
            let end = cuts.get(i + 1).copied().unwrap_or(op.reps as usize);
            let here = at + 2 * rep as u32;
            let values = wanted.iter().filter(|w| w.0 == rep).map(|w| w.1);
            let new = self.all(values, here);
            let mut first = Inst::Op(part(op, table, rep..rep + 1));
            rename_in(&mut first, &mut |r| new.get(&r).copied().unwrap_or(r));
            self.func.insts.push(first);
            if rep + 1 < end {
                self.func
                    .insts
                    .push(Inst::Op(part(op, table, rep + 1..end)));
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
        let Some((maker, op)) = self.makers.get(r).and_then(|m| Some((m, m.op.as_ref()?))) else {
            return r;
        };
        let mut new: FxHashMap<VReg, VReg> = FxHashMap::default();
        for &read in &maker.reads {
            if !self.again.stays(self.makers, self.live, read, at) {
                new.insert(read, self.value(read, at));
            }
        }
        let register = self.func.new_reg(self.func.class(r));
        new.insert(r, register);
        let mut inst = Inst::Op(op.clone());
        rename_in(&mut inst, &mut |r| new.get(&r).copied().unwrap_or(r));
        self.func.insts.push(inst);
        self.known.insert(r, (register, at));
        register
    }
}
