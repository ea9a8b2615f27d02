//! Exchanges, waits in loops and calls. What is one instruction without results is in `isel/select/effects.sel`.

use super::build::{Fail, fail};
use super::select::Selector;
use super::values::Elem;
use crate::dialect::enums::Shuffle;
use crate::dialect::nvvm::view::{self, View};
use crate::ir::Op;
use crate::machine::class::Class;
use crate::machine::mir::Atom;

impl Selector<'_> {
    pub(super) fn sync(&mut self, op: &Op) -> Result<(), Fail> {
        if self.effect(op)? {
            return Ok(());
        }
        let Some(view) = View::of(op) else {
            return fail("no selection for this operation");
        };
        match view {
            View::Shfl(v) => self.shuffle(&v),
            View::Elect(_) => {
                let results = self.b.op("elect.sync", 1, Vec::new())?;
                match results.into_iter().nth(1) {
                    Some(chosen) => self.define(op, vec![chosen]),
                    None => fail("'elect.sync' yields a lane and a predicate"),
                }
            }
            View::MbarWait(v) => self.wait(&v),
            View::Print(v) => self.print(&v),
            _ => fail("no selection for this operation"),
        }
    }

    /// Waits for a phase: tries until it has completed.
    fn wait(&mut self, v: &view::MbarWait<Op>) -> Result<(), Fail> {
        let address = self.one_address(v.addr())?;
        let parity = self.scalar(v.parity())?;
        let address = match address.atoms[..] {
            // Before the label, or the loop would fetch the address again and again.
            [Atom::Reg(_) | Atom::Shared(_)] => address,
            _ => return fail("an mbarrier wants a shared address"),
        };
        let name = match self.b.has("mbarrier.try_wait.parity.shared::cta.b64") {
            true => "mbarrier.try_wait.parity.shared::cta.b64",
            false => "mbarrier.test_wait.parity.shared::cta.b64",
        };
        let parity = match self.immediate_parity(name) {
            true => parity,
            false => Atom::Reg(self.b.register(Class::B32, parity)?),
        };
        let again = self.b.func.new_label("wait");
        self.b.label(again);
        let done = self.b.op(name, 1, vec![address, parity.into()])?.concat();
        let done = self.b.register(Class::Pred, done[0])?;
        self.b.branch(again, Some((done, true)), false);
        Ok(())
    }

    /// Whether the parity slot takes a constant.
    fn immediate_parity(&mut self, name: &str) -> bool {
        use crate::machine::table::Immediate;
        self.b.lookup(name).is_some_and(|insn| {
            let slots = &self.b.table.row(&insn).slots;
            slots.last().is_some_and(|s| s.immediate != Immediate::No)
        })
    }

    fn shuffle(&mut self, v: &view::Shfl<Op>) -> Result<(), Fail> {
        let (source, mode) = (v.source(), v.mode());
        let form = self.form(source)?;
        let lane = match v.lane() {
            Some(lane) => self.scalar(lane)?,
            None => Atom::Imm(v.constant() as u64),
        };
        let atoms = self.get(source)?;
        let clamp = Atom::Imm(if mode == Shuffle::Up { 0 } else { 31 });
        let words = if form.elem == Elem::Int(1) {
            self.b
                .value("selp.b32", &[&[Atom::Imm(1)], &[Atom::Imm(0)], &atoms])?
        } else {
            self.b.split_words(form, &atoms)?
        };
        let name = format!("shfl.sync.{}.b32", mode.text());
        let moved = self.b.value(&name, &[&words, &[lane], &[clamp]])?;
        let value = match form.elem {
            Elem::Int(1) => self.b.value("setp.ne.s32", &[&moved, &[Atom::Imm(0)]])?,
            _ => self.b.join_words(form, &moved)?,
        };
        self.define(v.op(), vec![value])
    }
}
