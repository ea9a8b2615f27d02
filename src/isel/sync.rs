//! Barriers, fences, exchanges and asynchronous groups: those that are one instruction without results by the rows of
//! `isel/select/effects.sel` ([`super::effects`]), the others by hand.

use super::build::{Fail, fail};
use super::select::Selector;
use super::table::effect::Argument;
use super::values::Elem;
use crate::dialect::enums::Shuffle;
use crate::dialect::nvvm::view::{self, View};
use crate::facts::access::group;
use crate::ir::{Attr, Op, ValueId};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Operand};

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
            View::Redux(v) => self.redux(&v),
            View::Elect(_) => {
                let results = self.b.op("elect.sync", 1, Vec::new())?;
                match results.into_iter().nth(1) {
                    Some(chosen) => self.define(op, vec![chosen]),
                    None => fail("'elect.sync' yields a lane and a predicate"),
                }
            }
            View::MbarWait(v) => self.wait(&v),
            View::MbarArriveAt(v) => self.arrive_at(&v),
            View::TmaPair(v) => self.tma_pair(&v),
            View::Print(v) => self.print(&v),
            _ => fail("no selection for this operation"),
        }
    }

    /// Selects an operation by the table of effects; `false` where no row is about it.
    fn effect(&mut self, op: &Op) -> Result<bool, Fail> {
        let tables = self.chooser.tables;
        let mut missing = None;
        for row in tables.patterns.effects_of(op) {
            let name = row.mnemonic(op)?;
            if self.b.lookup(&name).is_none() {
                missing.get_or_insert(name);
                continue;
            }
            let operands = row.arguments.iter().map(|a| self.argument(a, op));
            let operands = operands.collect::<Result<Vec<_>, _>>()?;
            self.b.effect(&name, operands)?;
            return Ok(true);
        }
        match missing {
            // The error says what the target lacks.
            Some(name) => self.b.insn(&name).map(|_| true),
            None => Ok(false),
        }
    }

    fn argument(&mut self, argument: &Argument, op: &Op) -> Result<Operand, Fail> {
        match argument {
            Argument::Address(name) => match group(op, name) {
                &[address] => self.one_address(address),
                _ => fail(format!("'{name}' is not one operand")),
            },
            Argument::Value(name) => match op.attr_named(name) {
                Some(Attr::Int { value, .. }) => Ok(Atom::Imm(*value as u64).into()),
                _ => {
                    let values = group(op, name).iter().map(|&v| self.scalar(v));
                    Ok(values.collect::<Result<Vec<Atom>, _>>()?.into())
                }
            },
        }
    }

    /// Arrives at another block's mbarrier: the base of its address is mapped, the offset stays.
    fn arrive_at(&mut self, v: &view::MbarArriveAt<Op>) -> Result<(), Fail> {
        let block = self.scalar(v.block())?;
        let at = self.mapped(v.addr(), block)?;
        // Not `.release.cluster`: ptxas would let the thread wait for all its accesses to memory. What comes before is
        // read when it is in registers, or when a matmul was waited for.
        self.b
            .effect("mbarrier.arrive.shared::cluster.b64", vec![at])
    }

    /// Where an mbarrier lies in another block.
    fn mapped(&mut self, mbarrier: ValueId, block: Atom) -> Result<Operand, Fail> {
        let Operand { atoms, offsets } = self.one_address(mbarrier)?;
        let [base] = atoms[..] else {
            return fail("an mbarrier wants one address");
        };
        let base = Atom::Reg(self.b.register(Class::B32, base)?);
        let atoms = self
            .b
            .value("mapa.shared::cluster.u32", &[&[base], &[block]])?;
        Ok(Operand { atoms, offsets })
    }

    /// A tensor copy that completes on an mbarrier of the pair's first block.
    fn tma_pair(&mut self, v: &view::TmaPair<Op>) -> Result<(), Fail> {
        let at = self.mapped(v.mbarrier(), Atom::Imm(0))?;
        let (dst, map) = (self.one_address(v.dst())?, self.scalar(v.map())?);
        let coords = v.coords().iter().map(|&c| self.scalar(c));
        let coords = coords.collect::<Result<Vec<Atom>, _>>()?;
        let name = format!(
            "cp.async.bulk.tensor.{}d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2",
            coords.len()
        );
        self.b
            .effect(&name, vec![dst, map.into(), coords.into(), at])
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

    fn redux(&mut self, v: &view::Redux<Op>) -> Result<(), Fail> {
        let name = format!("redux.sync.{}", v.kind().text().replace('_', "."));
        let registers = self.get(v.source())?;
        let value = self.b.value(&name, &[&registers])?;
        self.define(v.op(), vec![value])
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
