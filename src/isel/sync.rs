//! Barriers, shuffles, fences, mbarriers and tensor copies.

use super::build::{Fail, fail};
use super::select::{Selector, boolean, enumeration, int};
use super::values::Elem;
use crate::dialect::nvvm::Op as N;
use crate::ir::Op;
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Operand};

/// Names of the fences, in the order of `enums::FENCE`.
const FENCES: &[&str] = &[
    "fence.proxy.async.shared::cta",
    "fence.mbarrier_init.release.cluster",
    "fence.acq_rel.cta",
    "fence.acq_rel.gpu",
    "fence.acq_rel.sys",
    "tcgen05.fence::before_thread_sync",
    "tcgen05.fence::after_thread_sync",
];

const SHUFFLES: &[&str] = &["bfly", "idx", "up", "down"];

/// A constant operand.
fn imm(value: i64) -> Operand {
    Atom::Imm(value as u64).into()
}

impl Selector<'_> {
    pub(super) fn sync(&mut self, kind: N, op: &Op) -> Result<(), Fail> {
        let plain = match kind {
            N::CpAsyncCommit => "cp.async.commit_group",
            N::BulkCommit => "cp.async.bulk.commit_group",
            N::WgmmaCommit => "wgmma.commit_group.sync.aligned",
            N::ClusterArrive => "barrier.cluster.arrive.release.aligned",
            N::ClusterWait => "barrier.cluster.wait.acquire.aligned",
            N::GridDepLaunch => "griddepcontrol.launch_dependents",
            N::GridDepWait => "griddepcontrol.wait",
            N::BarWarp => "bar.warp.sync",
            N::Trap => "trap",
            _ => "",
        };
        if !plain.is_empty() {
            return self.b.effect(plain, Vec::new());
        }
        match kind {
            N::CpAsyncWait => {
                let pending = int(op, "pending")?;
                self.b.effect("cp.async.wait_group", vec![imm(pending)])
            }
            N::BulkWait => {
                let read = if op.has_unit("read") { ".read" } else { "" };
                let pending = int(op, "pending")?;
                self.b.effect(
                    &format!("cp.async.bulk.wait_group{read}"),
                    vec![imm(pending)],
                )
            }
            N::Bar | N::BarArrive => self.barrier(kind, op),
            N::Fence => match FENCES.get(enumeration(op, "kind")? as usize) {
                Some(name) => self.b.effect(name, Vec::new()),
                None => fail("unknown fence"),
            },
            N::Shfl => self.shuffle(op),
            N::Elect => {
                let results = self.b.op("elect.sync", 1, Vec::new())?;
                match results.into_iter().nth(1) {
                    Some(chosen) => self.define(op, vec![chosen]),
                    None => fail("'elect.sync' yields a lane and a predicate"),
                }
            }
            N::SetMaxNReg => {
                let way = if boolean(op, "increase") {
                    "inc"
                } else {
                    "dec"
                };
                let count = int(op, "count")?;
                self.b.effect(
                    &format!("setmaxnreg.{way}.sync.aligned.u32"),
                    vec![imm(count)],
                )
            }
            N::MbarInit => {
                let address = self.one_address(self.operand(op, 0)?)?;
                let count = int(op, "count")?;
                self.b
                    .effect("mbarrier.init.shared::cta.b64", vec![address, imm(count)])
            }
            N::MbarArrive => {
                let address = self.one_address(self.operand(op, 0)?)?;
                self.b
                    .effect("mbarrier.arrive.shared::cta.b64", vec![address])
            }
            N::MbarExpectTx => {
                let address = self.one_address(self.operand(op, 0)?)?;
                let bytes = self.scalar(self.operand(op, 1)?)?;
                self.b.effect(
                    "mbarrier.arrive.expect_tx.shared::cta.b64",
                    vec![address, bytes.into()],
                )
            }
            N::MbarWait => self.wait(op),
            N::TmaLoad | N::TmaStore => self.tensor_copy(kind, op),
            N::PrefetchMap => {
                let map = self.scalar(self.operand(op, 0)?)?;
                self.b.effect("prefetch.tensormap", vec![map.into()])
            }
            N::Print => self.print(op),
            N::Nanosleep => {
                let time = int(op, "nanoseconds")?;
                self.b.effect("nanosleep.u32", vec![imm(time)])
            }
            _ => fail("no selection for this operation"),
        }
    }

    fn barrier(&mut self, kind: N, op: &Op) -> Result<(), Fail> {
        let (id, threads) = (int(op, "id")?, int(op, "threads")?);
        match (kind, threads) {
            (N::Bar, 0) => self.b.effect("bar.sync", vec![imm(id)]),
            (N::Bar, n) => self.b.effect("@bar.sync.n", vec![imm(id), imm(n)]),
            (_, 0) => fail("'threads' is needed to arrive at a barrier"),
            (_, n) => self.b.effect("bar.arrive", vec![imm(id), imm(n)]),
        }
    }

    /// Waits for a phase: tries until it has completed.
    fn wait(&mut self, op: &Op) -> Result<(), Fail> {
        let address = self.one_address(self.operand(op, 0)?)?;
        let parity = self.scalar(self.operand(op, 1)?)?;
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

    fn tensor_copy(&mut self, kind: N, op: &Op) -> Result<(), Fail> {
        let load = kind == N::TmaLoad;
        let (map, coords) = (if load { 1 } else { 0 }, if load { 2 } else { 1 });
        let map = self.scalar(self.operand(op, map)?)?;
        let mut coordinates = Vec::new();
        for &value in op.group(coords) {
            coordinates.push(self.scalar(value)?);
        }
        let dims = coordinates.len();
        if !(1..=5).contains(&dims) {
            return fail(format!("a tensor copy of {dims} dimensions"));
        }
        let copies = format!("cp.async.bulk.tensor.{dims}d.");
        let own = "shared::cta.global.mbarrier::complete_tx::bytes";
        let has_own = self.b.target.sm >= 100;
        let shared = |group: usize| self.one_address(self.operand(op, group)?);
        let (name, operands) = if load {
            let (dst, mbarrier) = (shared(0)?, shared(3)?);
            (
                // To what may be another block's memory, ptxas 13 guards each copy for sm_120 by a call.
                match has_own {
                    true => own,
                    false => "shared::cluster.global.mbarrier::complete_tx::bytes",
                },
                vec![dst, map.into(), coordinates.into(), mbarrier],
            )
        } else {
            (
                "global.shared::cta.bulk_group",
                vec![map.into(), coordinates.into(), shared(2)?],
            )
        };
        self.b.effect(&format!("{copies}{name}"), operands)
    }

    fn shuffle(&mut self, op: &Op) -> Result<(), Fail> {
        let source = self.operand(op, 0)?;
        let form = self.form(source)?;
        let Some(&mode) = SHUFFLES.get(enumeration(op, "mode")? as usize) else {
            return fail("unknown shuffle");
        };
        let lane = match op.optional(1) {
            Some(lane) => self.scalar(lane)?,
            None => Atom::Imm(int(op, "constant")? as u64),
        };
        let atoms = self.get(source)?;
        let clamp = Atom::Imm(if mode == "up" { 0 } else { 31 });
        let words = if form.elem == Elem::Int(1) {
            self.b
                .value("selp.b32", &[&[Atom::Imm(1)], &[Atom::Imm(0)], &atoms])?
        } else {
            self.b.split_words(form, &atoms)?
        };
        let name = format!("shfl.sync.{mode}.b32");
        let moved = self.b.value(&name, &[&words, &[lane], &[clamp]])?;
        let value = match form.elem {
            Elem::Int(1) => self.b.value("setp.ne.s32", &[&moved, &[Atom::Imm(0)]])?,
            _ => self.b.join_words(form, &moved)?,
        };
        self.define(op, vec![value])
    }
}
