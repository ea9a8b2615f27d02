//! Control flow: counted loops tested at the bottom, endless loops, branches, with phis where they meet.

use std::rc::Rc;

use super::body::Val;
use super::kernel::{Kernel, Loop, fail};
use super::types::Ty;
use crate::dialect::nvvm::{Op as N, view};
use crate::ir::{BlockId, Op, OpId, ValueId};
use crate::isel::Fail;

/// What jumps to a block: from where, with which values.
type Edge = (Rc<str>, Vec<Val>);

impl Kernel<'_, '_> {
    pub(super) fn control(&mut self, kind: N, id: OpId) -> Result<(), Fail> {
        let module = self.module;
        let op = module.op(id);
        match kind {
            N::For => self.counted(id),
            N::Loop => self.endless(id),
            N::If => self.conditional(id),
            // Elsewhere the operation around it reads `yield`.
            N::Yield => match module.parent_op(id).map(|p| N::of(module.op(p).kind)) {
                Some(Some(N::Loop)) => self.leave(op, false),
                _ => Ok(()),
            },
            N::Return => {
                self.body.ret();
                Ok(())
            }
            N::Continue => self.leave(op, false),
            N::Break => self.leave(op, true),
            _ => fail("no control flow"),
        }
    }

    /// The registers of all `values`, one after another.
    fn all(&self, values: &[ValueId]) -> Result<Vec<Val>, Fail> {
        let mut registers = Vec::new();
        for &value in values {
            registers.extend(self.get(value)?.iter().cloned());
        }
        Ok(registers)
    }

    fn types(&self, values: &[ValueId]) -> Result<Vec<Ty>, Fail> {
        let mut types = Vec::new();
        for &value in values {
            let form = self.form(value)?;
            types.extend(vec![Ty::of_register(form); form.regs()]);
        }
        Ok(types)
    }

    /// Binds values to registers that lie one after another.
    fn bind_all(&mut self, values: &[ValueId], registers: &[Val]) -> Result<(), Fail> {
        let mut rest = registers;
        for &value in values {
            let Some((own, more)) = rest.split_at_checked(self.form(value)?.regs()) else {
                return fail("a carried value changes its register count");
            };
            self.bind(value, own.to_vec());
            rest = more;
        }
        match rest {
            [] => Ok(()),
            _ => fail("the number of carried values differs"),
        }
    }

    fn region(&self, id: OpId, i: usize) -> Result<BlockId, Fail> {
        match self.module.body_of(id, i) {
            Some(block) => Ok(block),
            None => fail("a region is missing"),
        }
    }

    /// What a block's `yield` carries on, from the block that control is in.
    fn yielded(&self, block: BlockId) -> Result<Option<Edge>, Fail> {
        if !self.body.open {
            return Ok(None);
        }
        match self.module.terminator(block).map(|end| self.module.op(end)) {
            Some(end) if N::of(end.kind) == Some(N::Yield) => {
                Ok(Some((self.body.here.clone(), self.all(&end.operands)?)))
            }
            _ => fail("a block without a terminator"),
        }
    }

    fn counted(&mut self, id: OpId) -> Result<(), Fail> {
        let module = self.module;
        let op = module.op(id);
        let Some(v) = view::For::of(op) else {
            return fail("no loop");
        };
        let body = self.region(id, 0)?;
        let args = module.block(body).args.clone();
        let Some((&counter, carried)) = args.split_first() else {
            return fail("the body has no counter");
        };
        let (lower, upper, step) = (
            self.scalar(v.lower())?,
            self.scalar(v.upper())?,
            self.scalar(v.step())?,
        );
        let less = match v.unsigned() {
            true => "icmp ult",
            false => "icmp slt",
        };
        let inits = self.all(v.inits())?;
        let types = self.types(carried)?;
        let (top, next, end) = (
            self.body.new_label("loop"),
            self.body.new_label("next"),
            self.body.new_label("end"),
        );
        let enters = self.body.binary(less, &lower, &upper);
        let before = self.body.here.clone();
        self.body.branch(&enters, &top, &end);

        self.body.label(&top);
        let phis = self.body.reserve();
        let index = self.body.name(lower.ty);
        let registers: Vec<Val> = types.iter().map(|&ty| self.body.name(ty)).collect();
        self.bind(counter, vec![index.clone()]);
        self.bind_all(carried, &registers)?;
        self.loops.push(Loop {
            next: next.clone(),
            continues: Vec::new(),
            exit: None,
            breaks: Vec::new(),
        });
        self.block(body)?;
        let mut edges = match self.loops.pop() {
            Some(all) => all.continues,
            None => return fail("the loop around is lost"),
        };
        if let Some(edge) = self.yielded(body)? {
            edges.push(edge);
            self.body.jump(&next);
        }

        self.body.label(&next);
        let carried_on = self.body.merge(&types, &edges);
        let stepped = self.body.binary("add", &index, &step);
        let again = self.body.binary(less, &stepped, &upper);
        let latch = self.body.here.clone();
        self.body.branch(&again, &top, &end);
        let mut all = vec![(
            index,
            vec![(lower, before.clone()), (stepped, latch.clone())],
        )];
        for ((register, init), after) in registers.into_iter().zip(&inits).zip(&carried_on) {
            let from = vec![
                (init.clone(), before.clone()),
                (after.clone(), latch.clone()),
            ];
            all.push((register, from));
        }
        self.body.fill(phis, &all);

        self.body.label(&end);
        let results = self
            .body
            .merge(&types, &[(before, inits), (latch, carried_on)]);
        self.bind_all(v.results(), &results)
    }

    fn endless(&mut self, id: OpId) -> Result<(), Fail> {
        let module = self.module;
        let op = module.op(id);
        let Some(v) = view::Loop::of(op) else {
            return fail("no loop");
        };
        let body = self.region(id, 0)?;
        let args = module.block(body).args.clone();
        let inits = self.all(v.inits())?;
        let types = self.types(&args)?;
        let (top, end) = (self.body.new_label("loop"), self.body.new_label("end"));
        let before = self.body.here.clone();
        self.body.jump(&top);

        self.body.label(&top);
        let phis = self.body.reserve();
        let registers: Vec<Val> = types.iter().map(|&ty| self.body.name(ty)).collect();
        self.bind_all(&args, &registers)?;
        self.loops.push(Loop {
            next: top.clone(),
            continues: Vec::new(),
            exit: Some(end.clone()),
            breaks: Vec::new(),
        });
        self.block(body)?;
        let Some(around) = self.loops.pop() else {
            return fail("the loop around is lost");
        };
        let mut edges = vec![(before, inits)];
        edges.extend(around.continues);
        let mut all = Vec::new();
        for (i, register) in registers.into_iter().enumerate() {
            let from = |(block, values): &Edge| Some((values.get(i)?.clone(), block.clone()));
            all.push((register, edges.iter().filter_map(from).collect()));
        }
        self.body.fill(phis, &all);

        self.body.label(&end);
        let types = self.types(v.results())?;
        let results = self.body.merge(&types, &around.breaks);
        self.bind_all(v.results(), &results)
    }

    /// `continue` or `break`.
    fn leave(&mut self, op: &Op, is_break: bool) -> Result<(), Fail> {
        let edge = (self.body.here.clone(), self.all(&op.operands)?);
        let innermost = match is_break {
            true => self.loops.iter_mut().rev().find(|l| l.exit.is_some()),
            false => self.loops.last_mut(),
        };
        let Some(target) = innermost else {
            return fail("there is no loop around");
        };
        let label = match (&target.exit, is_break) {
            (Some(exit), true) => {
                target.breaks.push(edge);
                exit.clone()
            }
            _ => {
                target.continues.push(edge);
                target.next.clone()
            }
        };
        self.body.jump(&label);
        Ok(())
    }

    fn conditional(&mut self, id: OpId) -> Result<(), Fail> {
        let module = self.module;
        let op = module.op(id);
        let Some(v) = view::If::of(op) else {
            return fail("no branch");
        };
        let condition = self.scalar(v.condition())?;
        let then = self.region(id, 0)?;
        let filled = |&block: &BlockId| !module.block(block).ops.is_empty();
        let otherwise = module.body_of(id, 1).filter(filled);
        let types = self.types(v.results())?;
        let (yes, end) = (self.body.new_label("then"), self.body.new_label("endif"));
        let no = otherwise.map(|_| self.body.new_label("else"));
        let before = self.body.here.clone();
        self.body
            .branch(&condition, &yes, no.as_ref().unwrap_or(&end));

        let mut edges = Vec::new();
        self.body.label(&yes);
        self.block(then)?;
        if let Some(edge) = self.yielded(then)? {
            edges.push(edge);
            self.body.jump(&end);
        }
        match (otherwise, &no) {
            (Some(block), Some(label)) => {
                self.body.label(label);
                self.block(block)?;
                if let Some(edge) = self.yielded(block)? {
                    edges.push(edge);
                    self.body.jump(&end);
                }
            }
            _ => edges.push((before, Vec::new())),
        }
        self.body.label(&end);
        let results = self.body.merge(&types, &edges);
        self.bind_all(v.results(), &results)
    }
}
