//! Warp roles: which warps run which part of the kernel, and with how many registers.

use super::{Lower, Role};
use crate::dialect::enums::{Predicate, Shuffle, SpecialRegister};
use crate::dialect::nv_tileas::{Op as S, view};
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::lower::unsupported;
use crate::scalar::Signedness;

/// Threads of a warpgroup.
const WARPGROUP: u64 = 128;

/// The barrier at which the role's first warpgroup waits for its turn: behind the whole block's and the role's. The
/// others' follow.
const FIRST_TURN: i64 = 2;

/// The numbers of the barriers at which a warpgroup and the next one wait for their turns.
///
/// A turn is passed by an arrival that does not wait, so that each barrier is of two warpgroups.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    own: ValueId,
    next: ValueId,
}

impl Lower<'_> {
    /// True in thread `n` of the block.
    pub(super) fn thread_is(&mut self, n: u64) -> ValueId {
        let mut e = self.emit();
        let (tid, n) = (e.sreg(SpecialRegister::TidX), n as i64);
        let n = e.i32(n);
        e.icmp(Predicate::Equal, Signedness::Unsigned, tid, n)
    }

    pub(super) fn warp_specialize(
        &mut self,
        op: OpId,
        v: &view::WarpSpecialize<Op>,
    ) -> Result<(), Diagnostic> {
        let consumer_warps = v.consumer_warps() as u64;
        let threads = consumer_warps * 32;
        let (fewer, more) = (v.producer_registers(), v.consumer_registers());
        let (producer, consumer) = (self.m.body_of(op, 0), self.m.body_of(op, 1));
        let (Some(producer), Some(consumer)) = (producer, consumer) else {
            return Err(unsupported(self.m, op, "warp roles without bodies"));
        };
        self.enter_cluster();
        let mut e = self.emit();
        let tid = e.sreg(SpecialRegister::TidX);
        let limit = e.i32(threads as i64);
        let is_producer = e.icmp(
            Predicate::GreaterThanOrEqual,
            Signedness::Unsigned,
            tid,
            limit,
        );
        let matmuls = self.m.body_of(op, 2);
        let whole = self.role;
        self.either(
            is_producer,
            |l| {
                l.set_registers(fewer, false);
                let one = l.thread_is(threads);
                l.own_tensor_memory(false);
                l.when(one, false, |l| l.block(producer))?;
                if let Some(matmuls) = matmuls {
                    let one = l.thread_is(threads + 32);
                    l.role.single = true;
                    l.when(one, false, |l| l.block(matmuls))?;
                    l.role.single = false;
                }
                Ok(vec![])
            },
            |l| {
                l.set_registers(more, true);
                l.role = Role {
                    warps: consumer_warps,
                    barrier: 1,
                    partial: true,
                    single: false,
                    warpgroup: None,
                    turns: None,
                };
                l.own_tensor_memory(true);
                if consumer_warps > 4 {
                    l.role.warpgroup = Some(l.find_warpgroup());
                }
                let takes = |&o: &OpId| S::of(l.m.op(o).kind) == Some(S::TurnTake);
                if l.m.ops_under(consumer).iter().any(takes) {
                    l.open_turns()?;
                }
                let lowered = l.block(consumer).and_then(|()| l.close_turns());
                l.role = whole;
                l.own_tensor_memory(false);
                lowered.map(|()| vec![])
            },
        )?;
        Ok(())
    }

    /// Gives the first warpgroup the first turn.
    fn open_turns(&mut self) -> Result<(), Diagnostic> {
        let groups = (self.role.warps * 32 / WARPGROUP) as i64;
        let group = self.warpgroup();
        let mut e = self.emit();
        let own = e.with(N::Add, group, FIRST_TURN);
        let next = e.with(N::Add, group, 1);
        let next = e.with(N::And, next, groups - 1);
        let next = e.with(N::Add, next, FIRST_TURN);
        let turns = Turns { own, next };
        self.role.turns = Some(turns);
        self.in_group(groups - 1, |l| l.turn_barrier(N::BarArriveOf, turns.next))
    }

    /// Takes the turn that the last warpgroup passed last, so that none is left over.
    fn close_turns(&mut self) -> Result<(), Diagnostic> {
        match self.role.turns.take() {
            Some(turns) => self.in_group(0, |l| l.turn_barrier(N::BarOf, turns.own)),
            None => Ok(()),
        }
    }

    pub(super) fn turn_take(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let turns = self.turns(op)?;
        self.turn_barrier(N::BarOf, turns.own);
        Ok(())
    }

    pub(super) fn turn_pass(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let turns = self.turns(op)?;
        self.turn_barrier(N::BarArriveOf, turns.next);
        Ok(())
    }

    fn turns(&self, op: OpId) -> Result<Turns, Diagnostic> {
        let none = || unsupported(self.m, op, "a turn outside of a role of warpgroups");
        self.role.turns.ok_or_else(none)
    }

    /// A barrier of the warpgroup whose turn it is and the one before.
    fn turn_barrier(&mut self, kind: N, number: ValueId) {
        let mut e = self.emit();
        let threads = e.i32_attr(2 * WARPGROUP as i64);
        e.op(kind, &[&[number]], [threads], &[]);
    }

    /// What only warpgroup `group` of the role does.
    fn in_group(&mut self, group: i64, then: impl FnOnce(&mut Self)) -> Result<(), Diagnostic> {
        let own = self.warpgroup();
        let mut e = self.emit();
        let group = e.i32(group);
        let it = e.icmp(Predicate::Equal, Signedness::Unsigned, own, group);
        self.when(it, false, |l| {
            then(l);
            Ok(())
        })
    }

    fn set_registers(&mut self, count: i64, increase: bool) {
        if count > 0 {
            let count = self.emit().i32_attr(count);
            self.emit()
                .op(N::SetMaxNReg, &[], [count, Some(Attr::Bool(increase))], &[]);
        }
    }

    /// The warpgroup of this thread, in a form that the whole warp shares: found once per role,
    /// since a shuffle stays where it is.
    pub(super) fn warpgroup(&mut self) -> ValueId {
        self.role.warpgroup.unwrap_or_else(|| self.find_warpgroup())
    }

    fn find_warpgroup(&mut self) -> ValueId {
        let mut e = self.emit();
        let tid = e.sreg(SpecialRegister::TidX);
        let group = e.with(N::ShrU, tid, i64::from(WARPGROUP.trailing_zeros()));
        let lane = e.i32(0);
        self.shfl(Shuffle::Idx, group, Some(lane), 0)
    }
}
