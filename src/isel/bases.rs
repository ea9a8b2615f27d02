//! Addresses in shared memory that loops ask for are made in front of them.
//!
//! ```text
//! loop:                                     mov.b32 %r1, global_smem+98304
//!   mov.b32 %r1, global_smem+98304    →   loop:
//!   add.s32 %r2, %r1, %r0                   add.s32 %r2, %r1, %r0
//! ```
//! Where blocks form clusters, such an address has the number of the block in its cluster in it: `ptxas` reads that number and
//! computes the address from it in every iteration, where the `mov` stands in the loop. That is a sixth of a short loop of
//! `wgmma`, whose operands' addresses are in uniform registers; where warps' matmuls take all registers there is nothing to
//! gain (on sm_120a loops lose 0.2 % of their instructions, and kernels take 1.4 % more registers).

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::live;
use super::uses::{self, rename};
use crate::machine::mir::{Atom, Func, Inst, Label, VReg};
use crate::machine::table::Table;
use crate::target::{Feature, Target};

/// Most addresses that are made in front of a loop: each takes a register in all of it.
const MOST: usize = 4;

/// Moves the addresses. Returns how many.
pub(super) fn hoist(func: &mut Func, table: &Table, target: Target) -> usize {
    if !target.has(Feature::Wgmma) {
        return 0;
    }
    let loops = entered_at_the_top(func);
    if loops.is_empty() {
        return 0;
    }
    let mut found = Found::default();
    for (at, register, address) in addresses(func, table) {
        let innermost = loops.iter().rfind(|l| (l.0..=l.1).contains(&at));
        if let Some(&(first, _)) = innermost {
            found.add(at, first, (register, address));
        }
    }
    let count = found.moved.len();
    if count > 0 {
        found.apply(func);
    }
    count
}

/// What becomes of the addresses.
#[derive(Default)]
struct Found {
    /// By the first instruction of a loop and an address: the register that has it.
    made: FxHashMap<(usize, Atom), VReg>,
    /// By the first instruction of a loop: the instructions that go in front of it.
    front: FxHashMap<usize, Vec<usize>>,
    /// All instructions that leave their place.
    moved: FxHashSet<usize>,
    /// Registers of addresses that another register has already.
    merged: FxHashMap<VReg, VReg>,
}

impl Found {
    fn add(&mut self, at: usize, first: usize, (register, address): (VReg, Atom)) {
        let front = self.front.entry(first).or_default();
        match self.made.entry((first, address)) {
            Entry::Occupied(made) => {
                self.merged.insert(register, *made.get());
            }
            Entry::Vacant(_) if front.len() == MOST => return,
            Entry::Vacant(free) => {
                free.insert(register);
                front.push(at);
            }
        }
        self.moved.insert(at);
    }

    fn apply(&self, func: &mut Func) {
        let old = std::mem::take(&mut func.insts);
        for (at, inst) in old.iter().enumerate() {
            let front = self.front.get(&at).into_iter().flatten();
            func.insts
                .extend(front.filter_map(|&i| old.get(i)).cloned());
            if !self.moved.contains(&at) {
                func.insts.push(inst.clone());
            }
        }
        rename(func, |r| self.merged.get(&r).copied().unwrap_or(r));
    }
}

/// The instructions that do nothing but make an address in shared memory, of registers that nothing else writes.
fn addresses(func: &Func, table: &Table) -> Vec<(usize, VReg, Atom)> {
    let writers = uses::writers(func, table);
    let Some(makes) = table.find("@addressof") else {
        return Vec::new();
    };
    let address = |(at, inst): (usize, &Inst)| {
        let Inst::Op(op) = inst else { return None };
        let operands: Vec<&[Atom]> = op.operands.iter().map(|o| o.atoms.as_slice()).collect();
        let (&[&[Atom::Reg(register)], &[address @ Atom::Shared(_)]], None, 1) =
            (operands.as_slice(), &op.guard, op.reps)
        else {
            return None;
        };
        let alone = op.insn.row == makes.row && writers[register.0 as usize] == 1;
        alone.then_some((at, register, address))
    };
    func.insts.iter().enumerate().filter_map(address).collect()
}

/// The loops, inner ones behind those around them, that no jump enters from elsewhere: what stands in front of their first
/// instruction comes before all of them.
fn entered_at_the_top(func: &Func) -> Vec<(usize, usize)> {
    let places = func.insts.iter().enumerate();
    let labels: FxHashMap<Label, usize> = places
        .filter_map(|(at, inst)| match inst {
            Inst::Label(label) => Some((*label, at)),
            _ => None,
        })
        .collect();
    let jumps: Vec<(usize, usize)> = (func.insts.iter().enumerate())
        .filter_map(|(from, inst)| match inst {
            Inst::Branch { to, .. } => Some((from, *labels.get(to)?)),
            _ => None,
        })
        .collect();
    let mut loops = live::loops(func);
    loops.retain(|&(first, last)| {
        let inside = |at: usize| (first..=last).contains(&at);
        jumps.iter().all(|&(from, to)| !inside(to) || inside(from))
    });
    loops
}
