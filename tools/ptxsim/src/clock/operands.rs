//! Registers and predicates that an instruction reads and writes, as places of a scoreboard.

use crate::program::inst::{
    Address, CallValue, Inst, MbarOp, Op, Pred, PredSrc, Query, Reg, Src, WaitPhase, WgmmaA,
};
use crate::program::tensor::{Tensor, TensorA, TensorAddress};

/// Places of one instruction. Predicates are behind the registers: place `2 · n + 1`; registers are `2 · n`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Operands {
    /// read
    pub reads: Vec<u32>,
    /// written
    pub writes: Vec<u32>,
}

impl Operands {
    /// Those of an instruction. Branches, barriers and fences have what their operands say.
    pub fn of(inst: &Inst) -> Operands {
        let mut o = Operands::default();
        o.flag(inst.guard);
        o.arithmetic(&inst.op);
        o
    }

    /// One more than the highest place.
    pub fn places(&self) -> u32 {
        let all = self.reads.iter().chain(&self.writes);
        all.max().map_or(0, |m| m + 1)
    }

    fn src(&mut self, src: Src) {
        if let Src::Reg(row) = src {
            self.reads.push(2 * row);
        }
    }

    fn srcs(&mut self, srcs: &[Src]) {
        srcs.iter().for_each(|&s| self.src(s));
    }

    fn flag(&mut self, flag: PredSrc) {
        if let Some(pred) = flag.pred {
            self.reads.push(2 * pred.0 + 1);
        }
    }

    fn address(&mut self, address: &Address) {
        self.src(address.base);
    }

    fn dst(&mut self, reg: Reg) {
        self.writes.push(2 * reg.0);
    }

    fn dsts(&mut self, regs: &[Option<Reg>]) {
        regs.iter().flatten().for_each(|&r| self.dst(r));
    }

    fn set(&mut self, pred: Pred) {
        self.writes.push(2 * pred.0 + 1);
    }

    fn matrix_registers(&mut self, regs: &[Src], written: bool) {
        for &src in regs {
            match src {
                Src::Reg(row) if written => self.writes.push(2 * row),
                _ => self.src(src),
            }
        }
    }

    fn arithmetic(&mut self, op: &Op) {
        match op {
            Op::Lanes {
                dst, srcs, count, ..
            } => {
                self.srcs(&srcs[..usize::from(*count).min(srcs.len())]);
                self.dst(*dst);
            }
            Op::Move { dst, src } => {
                self.src(*src);
                self.dst(*dst);
            }
            Op::Compare {
                srcs,
                count,
                combine,
                p,
                q,
                ..
            } => {
                self.srcs(&srcs[..usize::from(*count).min(srcs.len())]);
                if let Some((_, with)) = combine {
                    self.flag(*with);
                }
                p.iter().chain(q).for_each(|&p| self.set(p));
            }
            Op::Carry {
                dst,
                srcs,
                count,
                reads,
                writes,
                carry,
                ..
            } => {
                self.srcs(&srcs[..usize::from(*count).min(srcs.len())]);
                if *reads {
                    self.reads.push(2 * carry.0 + 1);
                }
                self.dst(*dst);
                if *writes {
                    self.set(*carry);
                }
            }
            Op::PredLogic { dst, a, b, .. } => {
                self.flag(*a);
                self.flag(*b);
                self.set(*dst);
            }
            Op::PredMove { dst, src } => {
                self.flag(*src);
                self.set(*dst);
            }
            Op::Select { dst, a, b, pred } => {
                self.srcs(&[*a, *b]);
                self.flag(*pred);
                self.dst(*dst);
            }
            Op::Special { dst, .. } => self.dst(*dst),
            Op::Unpack { dsts, src, .. } => {
                self.src(*src);
                self.dsts(dsts);
            }
            Op::Pack { dst, srcs, .. } => {
                self.srcs(srcs);
                self.dst(*dst);
            }
            _ => self.memory(op),
        }
    }

    fn memory(&mut self, op: &Op) {
        match op {
            Op::Load { dsts, address, .. } => {
                self.address(address);
                self.dsts(dsts);
            }
            Op::Store { srcs, address, .. } => {
                self.address(address);
                self.srcs(srcs);
            }
            Op::Atom {
                dsts,
                address,
                srcs,
                compare,
                ..
            } => {
                self.address(address);
                self.srcs(srcs);
                compare.iter().for_each(|&c| self.src(c));
                self.dsts(dsts);
            }
            Op::Prefetch { address, .. } => self.address(address),
            Op::ZeroShared { address, size } => {
                self.address(address);
                self.src(*size);
            }
            Op::CvtaTo { dst, src, .. } => {
                self.src(*src);
                self.dst(*dst);
            }
            Op::IsSpace { dst, src, .. } => {
                self.src(*src);
                self.set(*dst);
            }
            Op::Mapa {
                dst, address, rank, ..
            } => {
                self.srcs(&[*address, *rank]);
                self.dst(*dst);
            }
            Op::GetCtaRank { dst, address, .. } => {
                self.src(*address);
                self.dst(*dst);
            }
            Op::CpAsync {
                dst,
                src,
                src_size,
                ignore,
                ..
            } => {
                self.address(dst);
                self.address(src);
                src_size.iter().for_each(|&s| self.src(s));
                ignore.iter().for_each(|&p| self.flag(p));
            }
            Op::CpAsyncArrive { barrier, .. } => self.address(barrier),
            Op::Mbarrier { op, address } => self.mbarrier(op, address),
            Op::BulkCopy(copy) => {
                copy.dst.iter().for_each(|a| self.address(a));
                self.address(&copy.src);
                self.src(copy.size);
                copy.barrier.iter().for_each(|a| self.address(a));
                copy.multicast.iter().for_each(|&s| self.src(s));
            }
            Op::TensorCopy(copy) => {
                self.address(&copy.map);
                self.srcs(&copy.coords);
                copy.shared.iter().for_each(|a| self.address(a));
                copy.barrier.iter().for_each(|a| self.address(a));
                copy.multicast.iter().for_each(|&s| self.src(s));
            }
            Op::StAsync {
                address,
                barrier,
                srcs,
                ..
            } => {
                self.address(address);
                self.address(barrier);
                self.srcs(srcs);
            }
            _ => self.warp(op),
        }
    }

    fn mbarrier(&mut self, op: &MbarOp, address: &Address) {
        self.address(address);
        match op {
            MbarOp::Init { count } => self.src(*count),
            MbarOp::ExpectTx { bytes } | MbarOp::CompleteTx { bytes } => self.src(*bytes),
            MbarOp::Arrive {
                count,
                expect,
                state,
                ..
            } => {
                count.iter().chain(expect).for_each(|&s| self.src(s));
                state.iter().for_each(|&r| self.dst(r));
            }
            MbarOp::TestWait { result, phase, .. } => {
                let (WaitPhase::State(src) | WaitPhase::Parity(src)) = phase;
                self.src(*src);
                self.set(*result);
            }
            MbarOp::PendingCount { dst, state } => {
                self.src(*state);
                self.dst(*dst);
            }
            MbarOp::Inval => {}
        }
    }

    fn warp(&mut self, op: &Op) {
        match op {
            Op::BranchIndirect { index, .. } => self.src(*index),
            Op::Call { args, returns, .. } => {
                for value in args.iter().chain(returns) {
                    match value {
                        CallValue::Value(src) => self.src(*src),
                        CallValue::Target(reg) => self.dst(*reg),
                        CallValue::Param(..) => {}
                    }
                }
            }
            Op::Bar {
                id,
                count,
                dst_reg,
                dst_pred,
                ..
            } => {
                self.src(*id);
                count.iter().for_each(|&c| self.src(c));
                dst_reg.iter().for_each(|&r| self.dst(r));
                dst_pred.iter().for_each(|&p| self.set(p));
            }
            Op::Shfl {
                dst,
                pred,
                src,
                lane,
                clamp,
                ..
            } => {
                self.srcs(&[*src, *lane, *clamp]);
                self.dst(*dst);
                pred.iter().for_each(|&p| self.set(p));
            }
            Op::Vote {
                dst, dst_pred, src, ..
            } => {
                self.flag(*src);
                dst.iter().for_each(|&r| self.dst(r));
                dst_pred.iter().for_each(|&p| self.set(p));
            }
            Op::Match { dst, pred, src, .. } => {
                self.src(*src);
                self.dst(*dst);
                pred.iter().for_each(|&p| self.set(p));
            }
            Op::Redux { dst, src, .. } | Op::MoveMatrix { dst, src } => {
                self.src(*src);
                self.dst(*dst);
            }
            Op::Elect { dst, pred, .. } => {
                dst.iter().for_each(|&r| self.dst(r));
                self.set(*pred);
            }
            Op::ActiveMask { dst } => self.dst(*dst),
            Op::QueryCancel { response, what } => {
                self.srcs(response);
                match what {
                    Query::IsCanceled(pred) => self.set(*pred),
                    Query::FirstBlock(regs) => self.dsts(regs),
                }
            }
            _ => self.matrix(op),
        }
    }

    fn matrix(&mut self, op: &Op) {
        match op {
            Op::Mma(mma) => self.product(&mma.product),
            Op::Wmma(product) => self.product(product),
            Op::WmmaMove(mv) => {
                self.address(&mv.address);
                mv.stride.iter().for_each(|&s| self.src(s));
                self.matrix_registers(&mv.regs, !mv.store);
            }
            Op::MatrixMove(mv) => {
                self.address(&mv.address);
                self.matrix_registers(&mv.regs, !mv.store);
            }
            Op::Wgmma(w) => {
                // Accumulators are ordered by the queue of the warp, not by the scoreboard.
                if let WgmmaA::Registers(regs) = &w.a {
                    self.srcs(regs);
                }
                if let WgmmaA::Descriptor(src) = w.a {
                    self.src(src);
                }
                self.src(w.b);
                self.flag(w.scale_d);
            }
            Op::Tensor(tensor) => self.tensor(tensor),
            _ => {}
        }
    }

    fn product(&mut self, p: &crate::program::inst::Product) {
        for srcs in [&p.a, &p.b, &p.c] {
            self.srcs(srcs);
        }
        p.d.iter().for_each(|&r| self.dst(r));
    }

    fn tensor(&mut self, tensor: &Tensor) {
        let at = |o: &mut Operands, a: &TensorAddress| o.src(a.base);
        match tensor {
            Tensor::Move(mv) => {
                at(self, &mv.address);
                self.matrix_registers(&mv.regs, !mv.store);
                mv.reduce.iter().for_each(|r| self.dst(r.dst));
            }
            Tensor::Commit { barrier, .. } => self.address(barrier),
            Tensor::Mma(mma) => {
                at(self, &mma.d);
                match &mma.a {
                    TensorA::Shared(src) => self.src(*src),
                    TensorA::Tensor(address) => at(self, address),
                }
                self.srcs(&[mma.b, mma.descriptor]);
                self.flag(mma.accumulate);
            }
            _ => {}
        }
    }
}
