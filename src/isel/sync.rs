//! Barriers, shuffles, fences, mbarriers and tensor copies.

use super::build::{Fail, fail};
use super::select::Selector;
use super::values::Elem;
use crate::dialect::enums::{FenceKind, Shuffle};
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{Op, ValueId};
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Operand};

/// The instruction of a fence.
fn fence(kind: FenceKind) -> &'static str {
    match kind {
        FenceKind::ProxyAsyncShared => "fence.proxy.async.shared::cta",
        FenceKind::MbarrierInit => "fence.mbarrier_init.release.cluster",
        FenceKind::Block => "fence.acq_rel.cta",
        FenceKind::Gpu => "fence.acq_rel.gpu",
        FenceKind::Sys => "fence.acq_rel.sys",
        FenceKind::TensorBefore => "tcgen05.fence::before_thread_sync",
        FenceKind::TensorAfter => "tcgen05.fence::after_thread_sync",
    }
}

/// A constant operand.
fn imm(value: i64) -> Operand {
    Atom::Imm(value as u64).into()
}

impl Selector<'_> {
    pub(super) fn sync(&mut self, op: &Op) -> Result<(), Fail> {
        let Some(view) = View::of(op) else {
            return fail("no selection for this operation");
        };
        match view {
            View::CpAsyncCommit(_) => self.plain("cp.async.commit_group"),
            View::BulkCommit(_) => self.plain("cp.async.bulk.commit_group"),
            View::WgmmaCommit(_) => self.plain("wgmma.commit_group.sync.aligned"),
            View::ClusterArrive(_) => self.plain("barrier.cluster.arrive.release.aligned"),
            View::ClusterWait(_) => self.plain("barrier.cluster.wait.acquire.aligned"),
            View::GridDepLaunch(_) => self.plain("griddepcontrol.launch_dependents"),
            View::GridDepWait(_) => self.plain("griddepcontrol.wait"),
            View::BarWarp(_) => self.plain("bar.warp.sync"),
            View::Trap(_) => self.plain("trap"),
            View::Fence(v) => self.plain(fence(v.kind())),
            View::CpAsyncWait(v) => self.number("cp.async.wait_group", v.pending()),
            View::BulkWait(v) if v.read() => {
                self.number("cp.async.bulk.wait_group.read", v.pending())
            }
            View::BulkWait(v) => self.number("cp.async.bulk.wait_group", v.pending()),
            View::Nanosleep(v) => self.number("nanosleep.u32", v.nanoseconds()),
            View::SetMaxNReg(v) if v.increase() => {
                self.number("setmaxnreg.inc.sync.aligned.u32", v.count())
            }
            View::SetMaxNReg(v) => self.number("setmaxnreg.dec.sync.aligned.u32", v.count()),
            View::Bar(v) if v.threads() == 0 => self.number("bar.sync", v.id()),
            View::Bar(v) => {
                let operands = vec![imm(v.id()), imm(v.threads())];
                self.b.effect("@bar.sync.n", operands)
            }
            View::BarArrive(v) if v.threads() == 0 => {
                fail("'threads' is needed to arrive at a barrier")
            }
            View::BarArrive(v) => {
                let operands = vec![imm(v.id()), imm(v.threads())];
                self.b.effect("bar.arrive", operands)
            }
            View::Shfl(v) => self.shuffle(&v),
            View::Elect(_) => {
                let results = self.b.op("elect.sync", 1, Vec::new())?;
                match results.into_iter().nth(1) {
                    Some(chosen) => self.define(op, vec![chosen]),
                    None => fail("'elect.sync' yields a lane and a predicate"),
                }
            }
            View::MbarInit(v) => {
                let operands = vec![self.one_address(v.addr())?, imm(v.count())];
                self.b.effect("mbarrier.init.shared::cta.b64", operands)
            }
            View::MbarArrive(v) => {
                let address = self.one_address(v.addr())?;
                self.b
                    .effect("mbarrier.arrive.shared::cta.b64", vec![address])
            }
            View::MbarExpectTx(v) => {
                let address = self.one_address(v.addr())?;
                let bytes = self.scalar(v.bytes())?;
                self.b.effect(
                    "mbarrier.arrive.expect_tx.shared::cta.b64",
                    vec![address, bytes.into()],
                )
            }
            View::MbarWait(v) => self.wait(&v),
            View::TmaLoad(v) => {
                let map = self.scalar(v.map())?.into();
                let coordinates = self.coordinates(v.coords())?;
                let (to, mbarrier) = (self.one_address(v.dst())?, self.one_address(v.mbarrier())?);
                let operands = vec![to, map, coordinates, mbarrier];
                // To what may be another block's memory, ptxas 13 guards each copy for sm_120 by a call.
                let name = match self.b.target.sm >= 100 {
                    true => "shared::cta.global.mbarrier::complete_tx::bytes",
                    false => "shared::cluster.global.mbarrier::complete_tx::bytes",
                };
                self.tensor_copy(v.coords().len(), name, operands)
            }
            View::TmaStore(v) => {
                let operands = vec![
                    self.scalar(v.map())?.into(),
                    self.coordinates(v.coords())?,
                    self.one_address(v.src())?,
                ];
                let name = "global.shared::cta.bulk_group";
                self.tensor_copy(v.coords().len(), name, operands)
            }
            View::PrefetchMap(v) => {
                let map = self.scalar(v.map())?;
                self.b.effect("prefetch.tensormap", vec![map.into()])
            }
            View::Print(v) => self.print(&v),
            _ => fail("no selection for this operation"),
        }
    }

    /// An instruction without operands.
    fn plain(&mut self, name: &str) -> Result<(), Fail> {
        self.b.effect(name, Vec::new())
    }

    /// An instruction of one constant operand.
    fn number(&mut self, name: &str, value: i64) -> Result<(), Fail> {
        self.b.effect(name, vec![imm(value)])
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

    fn coordinates(&mut self, values: &[ValueId]) -> Result<Operand, Fail> {
        let mut atoms = Vec::new();
        for &value in values {
            atoms.push(self.scalar(value)?);
        }
        Ok(atoms.into())
    }

    fn tensor_copy(&mut self, dims: usize, name: &str, operands: Vec<Operand>) -> Result<(), Fail> {
        if !(1..=5).contains(&dims) {
            return fail(format!("a tensor copy of {dims} dimensions"));
        }
        let name = format!("cp.async.bulk.tensor.{dims}d.{name}");
        self.b.effect(&name, operands)
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
