//! Control flow: counted loops tested at the bottom, endless loops, branches.
//!
//! Values that cross an edge travel through parallel copies to registers of the target; coalescing
//! removes the copies wherever both ends can share a register.

use super::build::{Fail, fail};
use super::select::{Loop, Selector};
use super::values::Form;
use crate::dialect::nvvm::Op as N;
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{BlockId, Op, OpId, ValueId};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, VReg};

impl Selector<'_> {
    pub(super) fn control(&mut self, id: OpId) -> Result<(), Fail> {
        let module = self.module;
        match View::of(module.op(id)) {
            Some(View::For(v)) => self.counted(id, &v),
            Some(View::Loop(v)) => self.endless(id, &v),
            Some(View::If(v)) => self.conditional(id, &v),
            // Elsewhere `yield` is read by the operation around it.
            Some(View::Yield(v)) => match module.parent_op(id).map(|p| N::of(module.op(p).kind)) {
                Some(Some(N::Loop)) => self.leave(v.operands(), false),
                _ => Ok(()),
            },
            Some(View::Return(_)) => self.b.effect("ret", Vec::new()),
            Some(View::Continue(v)) => self.leave(v.operands(), false),
            Some(View::Break(v)) => self.leave(v.operands(), true),
            _ => fail("no control flow"),
        }
    }

    /// Fresh registers of `like`'s type, holding a copy of `value`.
    fn variable(&mut self, like: ValueId, value: ValueId) -> Result<Vec<VReg>, Fail> {
        let form = self.form(like)?;
        let atoms = self.get(value)?;
        if atoms.len() != form.regs() {
            return fail("a carried value changes its register count");
        }
        Ok(self.b.copy(form.class, &atoms))
    }

    fn variables(&mut self, like: &[ValueId], values: &[ValueId]) -> Result<Vec<Vec<VReg>>, Fail> {
        if like.len() != values.len() {
            return fail("the number of carried values differs");
        }
        like.iter()
            .zip(values)
            .map(|(&l, &v)| self.variable(l, v))
            .collect()
    }

    /// One parallel copy of all `values` to `targets`.
    fn assign(&mut self, targets: &[Vec<VReg>], values: &[ValueId]) -> Result<(), Fail> {
        if targets.len() != values.len() {
            return fail("the number of carried values differs");
        }
        let mut src = Vec::new();
        for (target, &value) in targets.iter().zip(values) {
            let atoms = self.get(value)?;
            if atoms.len() != target.len() {
                return fail("a carried value changes its register count");
            }
            src.extend(atoms);
        }
        self.b.copy_to(targets.concat(), src);
        Ok(())
    }

    /// Results of a region operation: fresh registers, copied from the carried ones.
    fn results(&mut self, op: &Op, from: &[Vec<VReg>]) -> Result<(), Fail> {
        let mut results = Vec::new();
        for (&result, regs) in op.results.iter().zip(from) {
            let class = self.form(result)?.class;
            let atoms: Vec<Atom> = regs.iter().copied().map(Atom::Reg).collect();
            results.push(
                self.b
                    .copy(class, &atoms)
                    .into_iter()
                    .map(Atom::Reg)
                    .collect(),
            );
        }
        self.define(op, results)
    }

    fn body(&self, id: OpId, i: usize) -> Result<BlockId, Fail> {
        match self.module.body_of(id, i) {
            Some(block) => Ok(block),
            None => fail("a region is missing"),
        }
    }

    fn counted(&mut self, id: OpId, v: &view::For<Op>) -> Result<(), Fail> {
        let body = self.body(id, 0)?;
        let args = self.module.block(body).args.clone();
        let (Some(&counter), carried_args) = (args.first(), args.get(1..).unwrap_or(&[])) else {
            return fail("the body has no counter");
        };
        let form = self.form(counter)?;
        let (add, less) = counter_ops(form, v.unsigned())?;
        let (upper, step) = (self.scalar(v.upper())?, self.scalar(v.step())?);
        let index = self.variable(counter, v.lower())?;
        let carried = self.variables(carried_args, v.inits())?;
        let (top, next, exit) = (
            self.b.func.new_label("loop"),
            self.b.func.new_label("next"),
            self.b.func.new_label("end"),
        );
        let lower = self.scalar(v.lower())?;
        if !runs_at_least_once(form, lower, upper) {
            let enter = match (lower, upper) {
                (Atom::Imm(_), Atom::Reg(_)) => {
                    let greater = less.replace("lt", "gt");
                    self.b.value(&greater, &[&[upper], &[lower]])?
                }
                _ => self.b.value(&less, &[&[lower], &[upper]])?,
            };
            let enter = self.b.register(Class::Pred, enter[0])?;
            self.b.branch(exit, Some((enter, true)), false);
        }
        self.b.label(top);
        if v.rare() {
            self.b.effect("@nounroll", Vec::new())?;
        }
        self.bind(counter, vec![Atom::Reg(index[0])]);
        for (&arg, regs) in carried_args.iter().zip(&carried) {
            self.bind(arg, regs.iter().copied().map(Atom::Reg).collect());
        }
        self.loops.push(Loop {
            carried: carried.clone(),
            next,
            exit: None,
        });
        self.block(body)?;
        self.loops.pop();
        if let Some(end) = self.module.terminator(body)
            && N::of(self.module.op(end).kind) == Some(N::Yield)
        {
            let values = self.module.op(end).operands.to_vec();
            self.assign(&carried, &values)?;
        }
        self.b.label(next);
        let stepped = self.b.value(add, &[&[Atom::Reg(index[0])], &[step]])?;
        self.b.copy_to(index.clone(), stepped);
        let again = self.b.value(&less, &[&[Atom::Reg(index[0])], &[upper]])?;
        let again = self.b.register(Class::Pred, again[0])?;
        self.b.branch(top, Some((again, false)), false);
        self.b.label(exit);
        self.results(v.op(), &carried)
    }

    fn endless(&mut self, id: OpId, v: &view::Loop<Op>) -> Result<(), Fail> {
        let body = self.body(id, 0)?;
        let args = self.module.block(body).args.clone();
        let carried = self.variables(&args, v.inits())?;
        let results = self.result_variables(v.results())?;
        let (top, exit) = (self.b.func.new_label("loop"), self.b.func.new_label("end"));
        self.b.label(top);
        for (&arg, regs) in args.iter().zip(&carried) {
            self.bind(arg, regs.iter().copied().map(Atom::Reg).collect());
        }
        self.loops.push(Loop {
            carried,
            next: top,
            exit: Some((exit, results.clone())),
        });
        self.block(body)?;
        self.loops.pop();
        self.b.label(exit);
        self.results(v.op(), &results)
    }

    fn result_variables(&mut self, results: &[ValueId]) -> Result<Vec<Vec<VReg>>, Fail> {
        results
            .iter()
            .map(|&r| {
                let form = self.form(r)?;
                Ok((0..form.regs())
                    .map(|_| self.b.func.new_reg(form.class))
                    .collect())
            })
            .collect()
    }

    /// `continue` or `break`.
    fn leave(&mut self, values: &[ValueId], is_break: bool) -> Result<(), Fail> {
        let innermost = if is_break {
            self.loops.iter().rev().find(|l| l.exit.is_some())
        } else {
            self.loops.last()
        };
        let Some(target) = innermost else {
            return fail("there is no loop around");
        };
        let (label, regs) = match (&target.exit, is_break) {
            (Some((exit, results)), true) => (*exit, results.clone()),
            _ => (target.next, target.carried.clone()),
        };
        self.assign(&regs, values)?;
        self.b.branch(label, None, false);
        Ok(())
    }

    fn conditional(&mut self, id: OpId, v: &view::If<Op>) -> Result<(), Fail> {
        let uniform = v.uniform();
        let condition = self.scalar(v.condition())?;
        let results = self.result_variables(v.results())?;
        let then = self.body(id, 0)?;
        let otherwise = self
            .module
            .body_of(id, 1)
            .filter(|&block| !self.module.block(block).ops.is_empty());
        if let Atom::Imm(known) = condition {
            match (known & 1 == 1, otherwise) {
                (true, _) => self.branch_body(then, &results)?,
                (false, Some(block)) => self.branch_body(block, &results)?,
                (false, None) => {}
            }
            return self.results(v.op(), &results);
        }
        let condition = self.b.register(Class::Pred, condition)?;
        let otherwise =
            otherwise.filter(|&block| !results.is_empty() || self.does_something(block));
        let end = self.b.func.new_label("endif");
        match otherwise {
            None => {
                self.b.branch(end, Some((condition, true)), uniform);
                self.branch_body(then, &results)?;
            }
            Some(block) => {
                let other = self.b.func.new_label("else");
                self.b.branch(other, Some((condition, true)), uniform);
                self.branch_body(then, &results)?;
                if !self.leaves(then) {
                    self.b.branch(end, None, false);
                }
                self.b.label(other);
                self.branch_body(block, &results)?;
            }
        }
        self.b.label(end);
        self.results(v.op(), &results)
    }

    /// One way of an `if`; its `yield` assigns the results.
    fn branch_body(&mut self, block: BlockId, results: &[Vec<VReg>]) -> Result<(), Fail> {
        self.block(block)?;
        if let Some(end) = self.module.terminator(block)
            && N::of(self.module.op(end).kind) == Some(N::Yield)
        {
            let values = self.module.op(end).operands.to_vec();
            self.assign(results, &values)?;
        }
        Ok(())
    }

    /// Whether `block` is more than a `yield` of nothing.
    fn does_something(&self, block: BlockId) -> bool {
        let ops = &self.module.block(block).ops;
        let is_yield = |op: &OpId| N::of(self.module.op(*op).kind) == Some(N::Yield);
        !ops.iter().all(is_yield)
    }

    /// Whether control never reaches the end of `block`.
    fn leaves(&self, block: BlockId) -> bool {
        self.module.terminator(block).is_some_and(|end| {
            matches!(
                N::of(self.module.op(end).kind),
                Some(N::Continue | N::Break | N::Return)
            )
        })
    }
}

/// Names of the addition and the comparison of a loop counter.
fn counter_ops(form: Form, unsigned: bool) -> Result<(&'static str, String), Fail> {
    let sign = if unsigned { 'u' } else { 's' };
    let (add, bits) = match form.elem.bits() {
        16 => ("add.s16", 16),
        32 => ("add.s32", 32),
        64 => ("add.s64", 64),
        bits => return fail(format!("a loop counter of {bits} bits")),
    };
    Ok((add, format!("setp.lt.{sign}{bits}")))
}

/// Whether constant bounds say so.
fn runs_at_least_once(form: Form, lower: Atom, upper: Atom) -> bool {
    let signed = |bits: u64| {
        let shift = 64 - form.elem.bits();
        ((bits << shift) as i64) >> shift
    };
    match (lower, upper) {
        (Atom::Imm(l), Atom::Imm(u)) => {
            // Below the sign bit both readings agree.
            signed(l) >= 0 && signed(u) >= 0 && signed(l) < signed(u)
        }
        _ => false,
    }
}
