//! One operation selected by itself: what a writer of another language puts between operations of its own.

use super::build::{Builder, Fail, fail};
use super::choose::Tables;
use super::select::Selector;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Module, OpId, ValueId};
use crate::machine::mir::{Atom, Func, VReg};
use crate::target::Target;

/// Machine instructions of one operation.
pub struct Selected {
    /// The instructions and the classes of their registers.
    pub func: Func,
    /// Each operand that is no constant, and the registers that hold it.
    pub operands: Vec<(ValueId, Vec<VReg>)>,
    /// What the registers of each result are.
    pub results: Vec<Vec<Atom>>,
}

/// Selects operations one by one, with nothing known of what is around them.
pub struct Alone<'m> {
    selector: Selector<'m>,
}

impl<'m> Alone<'m> {
    pub fn new(module: &'m Module, tables: &'m Tables, target: Target) -> Self {
        Self {
            selector: Selector::new(module, tables, target),
        }
    }

    /// The instructions of `id`, which has no regions.
    ///
    /// # Errors
    /// What the target lacks, as for a whole kernel.
    pub fn select(&mut self, id: OpId) -> Result<Selected, Fail> {
        let s = &mut self.selector;
        let module = s.module;
        let op = module.op(id);
        if !op.regions.is_empty() {
            return fail("an operation with regions is not selected alone");
        }
        s.b = Builder::new(s.b.table, s.b.target);
        s.offsets.clear();
        s.descriptors.clear();
        let mut operands: Vec<(ValueId, Vec<VReg>)> = Vec::new();
        for &value in &op.operands {
            if operands.iter().any(|(known, _)| *known == value) {
                continue;
            }
            if let Some(atoms) = s.constant_value(value)? {
                s.bind(value, atoms);
                continue;
            }
            let form = s.form(value)?;
            let regs: Vec<VReg> = (0..form.regs())
                .map(|_| s.b.func.new_reg(form.class))
                .collect();
            s.bind(value, regs.iter().copied().map(Atom::Reg).collect());
            operands.push((value, regs));
        }
        s.operation(id)?;
        let results = op.results.iter().map(|&r| s.get(r));
        let results = results.collect::<Result<_, _>>()?;
        Ok(Selected {
            func: std::mem::take(&mut s.b.func),
            operands,
            results,
        })
    }
}

impl Selector<'_> {
    /// The registers of a value that a constant defines.
    fn constant_value(&mut self, value: ValueId) -> Result<Option<Vec<Atom>>, Fail> {
        let Some(def) = self.module.def_op(value) else {
            return Ok(None);
        };
        let op = self.module.op(def);
        match N::of(op.kind) {
            Some(N::Const | N::Undef) => self.structural(op),
            _ => Ok(None),
        }
    }
}
