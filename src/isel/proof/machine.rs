//! Selected instructions, run on a solver's terms.

use std::collections::HashMap;

use super::bits::Bits;
use super::ptx::{self, Refusal, Source};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Func, Inst, Op, VReg};
use crate::machine::table::{Role, Table, Width};
use crate::rules::prove::terms::{Script, literal};

/// What registers hold.
#[derive(Default)]
pub struct Registers {
    held: HashMap<VReg, Bits>,
    unknowns: usize,
}

impl Registers {
    pub fn set(&mut self, register: VReg, bits: Bits) {
        self.held.insert(register, bits);
    }

    /// A new unknown of the solver.
    pub fn unknown(&mut self, script: &mut Script, width: u32) -> String {
        self.unknowns += 1;
        let name = format!("u{}", self.unknowns);
        script.declare(&name, width);
        name
    }

    /// What an operand of a class is.
    pub fn read(&mut self, script: &mut Script, atom: Atom, class: Class) -> Option<Bits> {
        let width = class.bits();
        match atom {
            Atom::Reg(register) => self.held.get(&register).cloned(),
            Atom::Imm(bits) => {
                let bits = bits & (u64::MAX >> (64 - width));
                Some(Bits::new(literal(width, bits), width))
            }
            Atom::Undef => Some(Bits::new(self.unknown(script, width), width)),
            _ => None,
        }
    }

    /// Runs the instructions of a function without jumps.
    pub fn run(&mut self, script: &mut Script, func: &Func, table: &Table) -> Result<(), Refusal> {
        for inst in &func.insts {
            match inst {
                Inst::Op(op) => self.op(script, op, func, table)?,
                Inst::Copy { dst, src } => {
                    let read = |(&to, &from): (&VReg, &Atom)| {
                        let bits = self.read(script, from, func.class(to));
                        Some((to, bits?))
                    };
                    let copies: Option<Vec<_>> = dst.iter().zip(src).map(read).collect();
                    self.held.extend(copies.ok_or(Refusal::Unknown)?);
                }
                Inst::Label(_) | Inst::Branch { .. } => return Err(Refusal::Unknown),
            }
        }
        Ok(())
    }

    fn op(
        &mut self,
        script: &mut Script,
        op: &Op,
        func: &Func,
        table: &Table,
    ) -> Result<(), Refusal> {
        let unknown = Refusal::Unknown;
        let slots = &table.row(&op.insn).slots;
        if op.guard.is_some() || slots.len() != op.operands.len() {
            return Err(unknown);
        }
        for rep in 0..op.reps as usize {
            let (mut sources, mut results) = (Vec::new(), Vec::new());
            for (slot, operand) in slots.iter().zip(&op.operands) {
                let Width::Each(1) = slot.width else {
                    return Err(unknown);
                };
                let atom = *operand.atoms.get(rep).ok_or(unknown)?;
                match (slot.role, atom) {
                    (Role::Def, Atom::Reg(register)) => results.push(register),
                    (Role::Use, atom) => sources.push(Source {
                        bits: self.read(script, atom, slot.class).ok_or(unknown)?,
                        number: match atom {
                            Atom::Imm(bits) => Some(bits),
                            _ => None,
                        },
                    }),
                    _ => return Err(unknown),
                }
            }
            let widths: Vec<u32> = results.iter().map(|r| func.class(*r).bits()).collect();
            let written = ptx::execute(script, &op.insn.mnemonic, &sources, &widths)?;
            self.held.extend(results.into_iter().zip(written));
        }
        Ok(())
    }
}
