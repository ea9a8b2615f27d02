//! Warp roles: which warps run which part of the kernel, and with how many registers.

use super::{Lower, Role};
use crate::dialect::enums::{Predicate, Shuffle, SpecialRegister};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::lower::unsupported;
use crate::scalar::Signedness;

/// Threads of a warpgroup.
const WARPGROUP: u64 = 128;

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
                    let mut one = l.thread_is(threads + 32);
                    if l.kernel.pair {
                        let first = l.is_first_block();
                        one = l.emit().and(one, first);
                    }
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
                };
                l.own_tensor_memory(true);
                if consumer_warps > 4 {
                    l.role.warpgroup = Some(l.find_warpgroup());
                }
                let lowered = l.block(consumer);
                l.role = whole;
                l.own_tensor_memory(false);
                lowered.map(|()| vec![])
            },
        )?;
        Ok(())
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
