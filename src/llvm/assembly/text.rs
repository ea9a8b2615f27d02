//! The text of an assembly block, and what it reads and writes.

use super::super::kernel::fail;
use super::super::types::Ty;
use crate::isel::Fail;
use crate::machine::class::Class;
use crate::machine::mir::{self, Atom, VReg};
use crate::machine::table::{Does, Piece, Role, Row};
use crate::ptx;

/// A stretch of an assembly's text.
pub(super) enum Token {
    Text(String),
    Reg(VReg),
}

/// Instructions that become one `asm`.
#[derive(Default)]
pub(super) struct Asm {
    pub(super) tokens: Vec<Token>,
    /// Registers in the order in which they are first read before they are written, and first written.
    pub(super) read: Vec<VReg>,
    pub(super) written: Vec<VReg>,
    pub(super) instructions: usize,
    /// Whether it does more than compute.
    pub(super) effects: bool,
    /// Whether all threads of a warp have to execute it together.
    pub(super) convergent: bool,
}

impl Asm {
    pub(super) fn text(&mut self, text: &str) {
        // `$` starts the name of an operand.
        let text = text.replace('$', "$$");
        match self.tokens.last_mut() {
            Some(Token::Text(last)) => last.push_str(&text),
            _ => self.tokens.push(Token::Text(text)),
        }
    }

    pub(super) fn read(&mut self, reg: VReg) {
        if !self.written.contains(&reg) && !self.read.contains(&reg) {
            self.read.push(reg);
        }
    }

    pub(super) fn reg(&mut self, reg: VReg, reads: bool) {
        if reads {
            self.read(reg);
        }
        self.tokens.push(Token::Reg(reg));
    }

    pub(super) fn writes(&mut self, reg: VReg) {
        if !self.written.contains(&reg) {
            self.written.push(reg);
        }
    }

    pub(super) fn line(&mut self) {
        if !self.tokens.is_empty() {
            self.text("\\0A\\09");
        }
    }

    /// Repetition `rep` of `op`.
    pub(super) fn instruction(&mut self, op: &mir::Op, row: &Row, rep: usize) -> Result<(), Fail> {
        self.line();
        self.instructions += 1;
        // A matmul only computes, but the whole warp has to.
        let computes = row.unit.is_pure() || row.does == Does::WarpMatmul;
        self.effects |= !computes;
        self.convergent |= !row.unit.is_pure();
        let guard = op.pred(rep);
        if let Some(pred) = guard {
            let negate = op.guard.as_ref().is_some_and(|g| g.negate);
            self.text(if negate { "@!" } else { "@" });
            self.reg(pred, true);
            self.text(" ");
        }
        self.text(&op.insn.mnemonic);
        if !row.pieces.is_empty() {
            self.text(" ");
        }
        let mut defs = Vec::new();
        for piece in row.pieces.iter() {
            let slot = match piece {
                Piece::Text(text) => {
                    self.text(text);
                    continue;
                }
                Piece::Slot(i) => *i,
            };
            let (Some(slot), Some(operand)) = (row.slots.get(slot), op.operands.get(slot)) else {
                return fail("an instruction has another number of operands than its row");
            };
            for (k, &atom) in operand.of(slot, rep).iter().enumerate() {
                if k > 0 {
                    self.text(", ");
                }
                match atom {
                    Atom::Reg(reg) if slot.role == Role::Def => {
                        // Where the guard is false the register keeps what it was.
                        self.reg(reg, guard.is_some());
                        defs.push(reg);
                    }
                    Atom::Reg(reg) => {
                        self.reg(reg, true);
                        if slot.role == Role::InOut {
                            defs.push(reg);
                        }
                    }
                    Atom::Imm(bits) => self.text(&ptx::immediate(slot, bits)),
                    Atom::Special(name) => self.text(name),
                    Atom::Undef => self.text("0"),
                    Atom::Shared(_) | Atom::Param(_) | Atom::Global(_) => {
                        return fail("an address by name has no register");
                    }
                }
                let offset = operand.offset(rep);
                if slot.role == Role::Address && offset != 0 {
                    self.text(&format!("+{offset}"));
                }
            }
        }
        self.text(";");
        for reg in defs {
            self.writes(reg);
        }
        Ok(())
    }
}

/// The type of a register in an assembly.
pub(super) fn of_class(class: Class) -> Ty {
    Ty::Int(class.bits())
}

/// How a constraint names registers of a type.
pub(super) fn letter(ty: Ty) -> &'static str {
    match (ty, ty.bits()) {
        (Ty::Float, _) => "f",
        (Ty::Double, _) => "d",
        (_, 1) => "b",
        (_, 16) => "h",
        (_, 32) => "r",
        _ => "l",
    }
}
