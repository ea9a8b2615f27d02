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

mod again;
mod makers;
mod rewrite;

use rustc_hash::FxHashMap;

use super::bounds::registers;
use super::live::{self, Ranges};
use super::uses::{drop_dead, visit};
use crate::machine::class::Class;
use crate::machine::mir::{Func, Inst, VReg};
use crate::machine::table::{Does, Table, Unit};
use crate::target::Target;
use again::Again;
use makers::Makers;

/// Computes values again where registers run short. Returns how many uses do.
pub(super) fn recompute(func: &mut Func, table: &Table, target: Target) -> usize {
    let limit = registers(func, table, target);
    if live::all(func) <= limit {
        return 0;
    }
    let live = live::ranges(func, table);
    let crowds = live::crowded(func, &live, limit);
    if crowds.is_empty() {
        return 0;
    }
    let place = |at: usize| live.positions[at];
    let loops = live::loops(func).into_iter();
    let loops: Vec<(u32, u32)> = loops.map(|(a, b)| (place(a), place(b))).collect();
    let makers = Makers::of(func, table, &live, &loops);
    let far = far_uses(func, table, &makers, &live, &loops, &crowds);
    let again = Again::choose(&makers, &live, far);
    let count = rewrite::rewrite(func, table, &makers, &live, &again);
    if count > 0 {
        drop_dead(func, table);
    }
    count
}

/// For each cheap value that lives into a loop from before it, and in a crowded stretch, the positions of its uses that
/// lie behind both. What a loop computes from what it has just loaded is left alone: it would be the work of every element.
/// So are registers that matmuls of warpgroups read: these must have been written in front of the matmuls' fence.
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
    let mut fenced = false;
    for (inst, &at) in func.insts.iter().zip(&live.positions) {
        let row = match inst {
            Inst::Op(op) => Some(table.row(&op.insn)),
            _ => None,
        };
        fenced = row
            .is_some_and(|row| row.does == Does::MatmulFence || fenced && row.unit != Unit::Sync);
        let multiplies = fenced && row.is_some_and(|row| row.unit == Unit::Mma);
        visit(inst, table, &mut |rep, r, write| {
            // Descriptors, of 64 bits, are not what the fence orders.
            if multiplies && func.class(r) == Class::B32 {
                return;
            }
            let Some(maker) = makers.cheap(r) else {
                return;
            };
            let at = at + 2 * rep as u32;
            let before = last.insert(r, at);
            let is_far = || match before {
                Some(before) => live::touches(crowds, before, at),
                None => live.ranges[r.0 as usize]
                    .iter()
                    .any(|&(start, end)| live::touches(crowds, start, end)),
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
