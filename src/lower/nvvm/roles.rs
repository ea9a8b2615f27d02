//! Warp roles: which warps run which part of the kernel, and with how many registers.

use super::{Issuer, Lower, Role};
use crate::dialect::enums::{Predicate, Shuffle, SpecialRegister};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, BlockId, Diagnostic, Op, OpId, ValueId};
use crate::lower::unsupported;
use crate::scalar::Signedness;

/// Threads of a warpgroup.
pub(super) const WARPGROUP: u64 = 128;

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
        let matmuls = [2, 3].map(|i| self.m.body_of(op, i));
        let (whole, copiers) = (self.role, self.copiers());
        self.either(
            is_producer,
            |l| {
                l.set_registers(fewer, false);
                let one = l.thread_is(threads);
                l.own_tensor_memory(false);
                match copiers {
                    Some(warps) => l.copying_warps(warps, one, producer)?,
                    None => {
                        l.role.issuer = Issuer::Alone;
                        let lowered = l.when(one, false, |l| l.block(producer));
                        l.role.issuer = whole.issuer;
                        lowered?;
                    }
                }
                for (warp, matmuls) in (consumer_warps + 1..).zip(matmuls.into_iter().flatten()) {
                    l.matmul_warp(warp, matmuls)?;
                }
                Ok(vec![])
            },
            |l| {
                l.set_registers(more, true);
                l.role = Role {
                    warps: consumer_warps,
                    barrier: 1,
                    partial: true,
                    issuer: Issuer::First,
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

    /// The role of a producer of as many `warps` as the consumers are, so that tiles are spread over its threads as they
    /// are over theirs; `one` of them starts tensor copies.
    fn copying_warps(
        &mut self,
        warps: u64,
        one: ValueId,
        producer: BlockId,
    ) -> Result<(), Diagnostic> {
        let whole = std::mem::replace(
            &mut self.role,
            Role {
                warps,
                barrier: 2,
                partial: true,
                issuer: Issuer::Where(one),
                warpgroup: None,
            },
        );
        self.memory.part(true);
        let lowered = self.block(producer);
        // Threads end when what they have started is done.
        let none = self.emit().i32_attr(0);
        self.emit().op(N::CpAsyncWait, &[], [none], &[]);
        self.memory.part(false);
        self.role = whole;
        lowered
    }

    /// The role of `warp`, which issues matmuls: one thread of it runs it.
    ///
    /// For a pair's matmuls the whole warp takes the branch and the loops, and one thread issues: ptxas would put a loop
    /// over "each of the threads" around every `tcgen05.mma.cta_group::2` whose descriptors are not in uniform registers.
    fn matmul_warp(&mut self, warp: u64, matmuls: BlockId) -> Result<(), Diagnostic> {
        let issuer = self.thread_is(warp * 32);
        let (here, issuer) = match self.kernel.pair {
            false => (issuer, Issuer::Alone),
            true => {
                let own = self.find_warp();
                let mut e = self.emit();
                let warp = e.i32(warp as i64);
                let here = e.icmp(Predicate::Equal, Signedness::Unsigned, own, warp);
                let first = self.is_first_block();
                (self.emit().and(here, first), Issuer::Where(issuer))
            }
        };
        let uniform = self.kernel.pair;
        let outer = std::mem::replace(&mut self.role.issuer, issuer);
        let lowered = self.when(here, uniform, |l| l.block(matmuls));
        self.role.issuer = outer;
        lowered
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
        self.find_group(WARPGROUP)
    }

    fn find_warp(&mut self) -> ValueId {
        self.find_group(32)
    }

    /// Which `threads` of the block this one is among; a power of two, of whole warps.
    fn find_group(&mut self, threads: u64) -> ValueId {
        let mut e = self.emit();
        let tid = e.sreg(SpecialRegister::TidX);
        let group = e.with(N::ShrU, tid, i64::from(threads.trailing_zeros()));
        let lane = e.i32(0);
        self.shfl(Shuffle::Idx, group, Some(lane), 0)
    }
}
