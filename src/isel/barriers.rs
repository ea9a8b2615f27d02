//! A barrier behind which threads do nothing but compute before they meet at the same barrier again is one.
//!
//! ```text
//! bar.sync 0                    bar.sync 0
//! add.s32 r1, r0, 4      →      add.s32 r1, r0, 4
//! bar.sync 0
//! ```
//! One access asks for a barrier after it, the next one for a barrier before it. What is ordered by the second is
//! ordered by the first: no thread touches memory between them, and none leaves the way that leads from one to the other.

use crate::machine::mir::{Atom, Func, Inst, Op};
use crate::machine::table::{Does, Table};

/// Drops the second of two. Returns how many are gone.
pub fn merge(func: &mut Func, table: &Table) -> usize {
    let before = func.insts.len();
    let mut last: Option<Op> = None;
    func.insts.retain(|inst| {
        let op = match inst {
            Inst::Op(op) => op,
            Inst::Copy { .. } => return true,
            Inst::Label(_) | Inst::Branch { .. } => {
                last = None;
                return true;
            }
        };
        let row = table.row(&op.insn);
        if row.does == Does::Barrier && op.guard.is_none() {
            let again = last.as_ref().is_some_and(|last| is_same(last, op));
            last = Some(op.clone());
            return !again;
        }
        if !row.unit.is_pure() {
            last = None;
        }
        true
    });
    before - func.insts.len()
}

/// The threads of a warp.
const WARP: u32 = 32;

/// In a block of one warp, its threads wait for each other without the block's barrier. Returns how many barriers do.
pub fn of_one_warp(func: &mut Func, table: &Table) -> usize {
    let Some(insn) = table.find("bar.warp.sync").filter(|_| func.block == WARP) else {
        return 0;
    };
    let mut count = 0;
    for inst in &mut func.insts {
        let Inst::Op(op) = inst else { continue };
        if table.row(&op.insn).does == Does::Barrier && op.guard.is_none() {
            op.insn = insn.clone();
            op.operands.clear();
            count += 1;
        }
    }
    count
}

/// Whether two barriers are for the same threads, whose numbers are written into them.
fn is_same(a: &Op, b: &Op) -> bool {
    let mut atoms = a.operands.iter().flat_map(|operand| &operand.atoms);
    a.insn.mnemonic == b.insn.mnemonic
        && a.operands == b.operands
        && atoms.all(|atom| matches!(atom, Atom::Imm(_)))
}
