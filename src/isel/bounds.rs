//! How many registers a thread of a kernel has.

use crate::machine::mir::{Atom, Func, Inst};
use crate::machine::table::{Does, Table};
use crate::target::Target;

/// Registers that `ptxas` takes beside those of the text where it hands out all that there are: for addresses that it
/// splits, and to load ahead.
const OWN: u32 = 16;

/// Most registers that a thread of the kernel has for what the text says: those that a role takes, or what its bounds leave.
pub(super) fn registers(func: &Func, table: &Table, target: Target) -> u32 {
    let taken = func.insts.iter().filter_map(|inst| match inst {
        Inst::Op(op) if table.row(&op.insn).does == Does::Registers => {
            match op.operands.first()?.atoms.first()? {
                Atom::Imm(n) => u32::try_from(*n).ok(),
                _ => None,
            }
        }
        _ => None,
    });
    let warps = func.block.div_ceil(32) * func.min_ctas.max(1);
    let most = target.registers_per_thread(warps.into()) as u32;
    let bounds = func.max_regs.map_or(most, |bound| bound.min(most));
    taken.max().unwrap_or(bounds.saturating_sub(OWN))
}
