//! Pipelines of tensor copies: mbarriers count the transactions; tensor copies out of shared memory.

use super::ring::Ring;
use super::{Iteration, Lower, Mechanism, Release, Stage};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{FenceKind, SpecialRegister};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::Access;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::layout::tma::{TmaBox, TmaBoxes};
use crate::lower::nvvm::emit::Emit;
use crate::lower::unsupported;

pub(super) struct Copies {
    ring: Ring,
    /// Transactions that fill a stage.
    bytes: i64,
    /// Whether threads load from its stages, beside matrix instructions of a whole warp.
    loaded: bool,
    /// Whether its stages are handed back by the matmuls that read them.
    by_matmuls: bool,
    /// Whether the producer's threads copy a part of each stage by themselves.
    by_threads: bool,
    /// Whether its stage is filled once: nobody waits for it to become empty.
    once: bool,
}

impl Copies {
    pub(super) fn new(l: &mut Lower, v: &view::PipelineCreate<Op>) -> Result<Self, Diagnostic> {
        let blocks = v.blocks().map_or(1, |b| b as u64);
        let stages = v.stages() as u64;
        let tensor = i64::from(v.bytes() > 0);
        let once = blocks == 1 && !v.pair() && l.is_filled_once(v.result());
        let consumers = if once { 0 } else { v.consumers() };
        let ring = match (v.pair(), v.copiers()) {
            (true, _) => Ring::of_pair(l, stages, consumers)?,
            (_, Some(warps)) => Ring::of_threads(l, stages, 32 * warps + tensor, consumers)?,
            _ => Ring::new(l, stages, consumers, blocks)?,
        };
        Ok(Self {
            by_threads: v.copiers().is_some(),
            ring,
            bytes: v.bytes(),
            loaded: l.is_loaded(v.result()),
            by_matmuls: l.by_matmuls(v.result()),
            once,
        })
    }
}

impl Mechanism for Copies {
    fn stages(&self) -> u64 {
        self.ring.stages
    }

    fn acquire(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic> {
        let (ring, once) = (self.ring, self.once);
        let stage = l.stage(at, ring.stages);
        let wait = move |l: &mut Lower| {
            if !once {
                ring.wait_empty(l, stage);
            }
        };
        let expect = move |l: &mut Lower, bytes: i64| {
            let full = ring.full(l, stage);
            let bytes = l.emit().i32(bytes);
            l.emit().effect(N::MbarExpectTx, &[full, bytes], []);
            Ok(())
        };
        if self.by_threads {
            wait(l);
            return match self.bytes {
                0 => Ok(()),
                bytes => l.by_first_thread(|l| expect(l, bytes)),
            };
        }
        if !ring.pair {
            let bytes = self.bytes;
            return l.by_first_thread(|l| {
                wait(l);
                expect(l, bytes)
            });
        }
        wait(l);
        // The copies of both blocks complete there. Those of the other may come first: the phase waits for this arrival.
        let first = l.is_first_block();
        l.when(first, false, |l| expect(l, 2 * self.bytes))
    }

    fn of_pair(&self) -> bool {
        self.ring.pair
    }

    /// The transactions were announced when the stage was acquired. Each thread's own copies arrive when they are done;
    /// that orders nothing which the thread stored, so where it did, it waits for its copies and arrives itself.
    fn commit(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic> {
        if !self.by_threads {
            return Ok(());
        }
        let stage = l.stage(at, self.ring.stages);
        let full = self.ring.full(l, stage);
        let pipeline = view::ProducerCommit::of(l.m.op(at.op)).map(|v| v.pipeline());
        if pipeline.is_some_and(|p| l.asynchronous.stored.contains(&p)) {
            l.emit().op(N::CpAsyncCommit, &[], [], &[]);
            let none = l.emit().i32_attr(0);
            l.emit().op(N::CpAsyncWait, &[], [none], &[]);
            l.emit().effect(N::MbarArrive, &[full], []);
        } else {
            l.emit().effect(N::MbarArriveCopies, &[full], []);
        }
        Ok(())
    }

    fn wait(&self, l: &mut Lower, at: Iteration) -> Result<(), Diagnostic> {
        let (ring, by_threads) = (self.ring, self.by_threads);
        let wait = |l: &mut Lower| {
            let stage = l.stage(at, ring.stages);
            ring.wait_full(l, stage);
            // cp.async writes through the generic proxy.
            if by_threads {
                l.fence(FenceKind::ProxyAsyncShared);
            }
            Ok(())
        };
        match self.by_matmuls {
            // The other threads may be a phase behind.
            true => l.by_first_thread(wait),
            false => wait(l),
        }
    }

    fn release(&self, l: &mut Lower, at: Iteration, how: Release) -> Result<(), Diagnostic> {
        if self.once {
            return Ok(());
        }
        let stage = l.stage(at, self.ring.stages);
        let empty = self.ring.empty(l, stage);
        if how.matmuls {
            return self.ring.commit_empty(l, empty);
        }
        let (ring, loaded) = (self.ring, self.loaded);
        ring.arrive_empty(l, empty, at.number, how.enable, loaded)
    }

    /// A stage that was waited for is full.
    fn drain(&self, _: &mut Lower) {}

    fn completes_on(&self, l: &mut Lower, stage: Stage) -> Option<ValueId> {
        Some(self.ring.full(l, stage))
    }
}

/// Coordinates of a box of the tile that begins at `origin`.
fn box_at(e: &mut Emit<'_>, origin: &[ValueId], order: &[usize], b: &TmaBox) -> Vec<ValueId> {
    let mut coords = origin.to_vec();
    for (at, &dim) in coords.iter_mut().zip(order) {
        *at = e.with(N::Add, *at, b.start[dim] as i64);
    }
    coords
}

impl Lower<'_> {
    /// Whether matmuls hand the stages of `pipeline` back.
    fn by_matmuls(&self, pipeline: ValueId) -> bool {
        self.all_ops().iter().any(|&o| {
            view::ConsumerRelease::of(self.m.op(o))
                .is_some_and(|r| r.matmuls() && r.pipeline() == pipeline)
        })
    }

    /// Whether `pipeline` is filled once and read outside of loops. Where a loop reads its stage, handing that back behind the
    /// loop costs next to nothing, and ptxas was seen to spill in the loop without it.
    fn is_filled_once(&self, pipeline: ValueId) -> bool {
        let m = &self.m;
        let all = self.all_ops();
        let of = |find: fn(&Op) -> Option<ValueId>| -> Vec<OpId> {
            let own = all.iter().copied();
            own.filter(|&o| find(m.op(o)) == Some(pipeline)).collect()
        };
        let acquires = of(|op| Some(view::ProducerAcquire::of(op)?.pipeline()));
        let waits = of(|op| Some(view::ConsumerWait::of(op)?.pipeline()));
        let releases = of(|op| Some(view::ConsumerRelease::of(op)?.pipeline()));
        let (&[fill], &[wait], &[release]) = (&acquires[..], &waits[..], &releases[..]) else {
            return false;
        };
        let loops = |o: OpId| matches!(C::of(m.op(o).kind), Some(C::For | C::Loop));
        let mut around = std::iter::successors(m.parent_op(fill), |&o| m.parent_op(o));
        let ops = &m.block(m.op(wait).block).ops;
        let behind = ops.iter().skip_while(|&&o| o != wait);
        let mut held = behind.take_while(|&&o| o != release);
        let in_loop = |&o: &OpId| loops(o) || m.ops_inside(o).into_iter().any(loops);
        m.op(wait).block == m.op(release).block && !around.any(loops) && !held.any(in_loop)
    }

    /// Whether some `local_load` reads what the copies of `pipeline` bring.
    fn is_loaded(&self, pipeline: ValueId) -> bool {
        let ops = self.all_ops();
        let copies = ops.iter().filter_map(|&o| view::TmaLoad::of(self.m.op(o)));
        let buffers: Vec<ValueId> = copies
            .filter(|c| c.pipeline() == pipeline)
            .map(|c| c.destination())
            .collect();
        let mut loads = ops
            .iter()
            .filter_map(|&o| view::LocalLoad::of(self.m.op(o)));
        loads.any(|l| buffers.contains(&l.source()))
    }

    pub(in crate::lower::nvvm) fn tma_load(
        &mut self,
        op: OpId,
        v: &view::TmaLoad<Op>,
    ) -> Result<(), Diagnostic> {
        let p = self.pipeline(op, v.pipeline())?;
        let at = self.iteration(op, v.iteration())?;
        let stage = self.stage(at, p.stages());
        let buffer = self.buffer(op, v.destination())?;
        let blocks = if v.multicast() { self.kernel.blocks } else { 1 };
        let (access, order, boxes) = self.tma_boxes(op, v.op(), &buffer, blocks)?;
        let passed = match self.has_made_map(op) {
            true => None,
            false => Some(self.tensor_map(op, &access, &order, &boxes, &buffer)?),
        };
        let Some(full) = p.completes_on(self, stage) else {
            let message = "a tensor copy in a pipeline of another kind";
            return Err(unsupported(self.m, op, message));
        };
        let kind = if p.of_pair() { N::TmaPair } else { N::TmaLoad };
        self.by_first_thread(|l| {
            let map = match passed {
                Some(map) => map,
                None => l.made_map(op, &access, &order, &boxes)?,
            };
            let base = l.stage_address(&buffer, Some(stage.index));
            let origin = l.tma_origin(op, &access, &order, &buffer)?;
            if blocks > 1 {
                l.share_of_boxes(&boxes, &order, blocks, [base, map, full], &origin);
                return Ok(());
            }
            for b in &boxes.boxes {
                let mut e = l.emit();
                let mut coords = box_at(&mut e, &origin, &order, b);
                l.go_to_page(op, &access, &order, b, &mut coords)?;
                let mut e = l.emit();
                let offset = e.i32(b.offset as i64);
                let dst = e.ptr_add(base, offset);
                e.op(kind, &[&[dst], &[map], &coords, &[full]], [], &[]);
            }
            Ok(())
        })
    }

    /// Puts the number of the page that a box is a part of among its coordinates, where the tile has pages.
    fn go_to_page(
        &mut self,
        op: OpId,
        access: &Access,
        order: &[usize],
        b: &TmaBox,
        coords: &mut [ValueId],
    ) -> Result<(), Diagnostic> {
        let Some(dim) = access.sparse else {
            return Ok(());
        };
        let pages = access.pages(self.m).map(|(_, numbers)| numbers);
        let page = pages.and_then(|p| p.get(usize::try_from(*b.start.get(dim)?).ok()?));
        let at = order.iter().position(|&d| d == dim);
        let Some((&page, coordinate)) = page.zip(at.and_then(|at| coords.get_mut(at))) else {
            return Err(unsupported(
                self.m,
                op,
                "the numbers of its pages are not known one by one",
            ));
        };
        let mut page = self.get(op, page)?;
        let mut e = self.emit();
        if e.m.types.width(e.m.ty(page)) > 32 {
            // What is outside stays outside.
            page = e.with(N::MinS, page, i64::from(i32::MAX));
            page = e.with(N::MaxS, page, -1);
        }
        *coordinate = e.int_cast(page, 32);
        Ok(())
    }

    /// This block's share of `boxes`, for all of `blocks`: as many that follow each other in memory as each has.
    /// `to`: the tile in shared memory, the tensor map, the mbarrier; `origin`: the tile's coordinates.
    fn share_of_boxes(
        &mut self,
        boxes: &TmaBoxes,
        order: &[usize],
        blocks: u64,
        to: [ValueId; 3],
        origin: &[ValueId],
    ) {
        let [base, map, full] = to;
        let share = boxes.boxes.len() / blocks as usize;
        let mask = self.cluster_mask();
        let mut e = self.emit();
        let rank = e.sreg(SpecialRegister::ClusterCtarank);
        let bytes = e.with(N::Mul, rank, (share as u64 * boxes.box_bytes) as i64);
        let own = e.ptr_add(base, bytes);
        // Where boxes stand is linear in the bits of their number, and so in those of the block's.
        let bits: Vec<ValueId> = (0..blocks.ilog2())
            .map(|bit| {
                let shifted = match bit {
                    0 => rank,
                    _ => e.with(N::ShrU, rank, i64::from(bit)),
                };
                match blocks {
                    2 => shifted,
                    _ => e.with(N::And, shifted, 1),
                }
            })
            .collect();
        let mut first = origin.to_vec();
        for (coordinate, &dim) in first.iter_mut().zip(order) {
            for (bit, &on) in bits.iter().enumerate() {
                let step = boxes.boxes[share << bit].start[dim];
                if step > 0 {
                    let moved = e.with(N::Mul, on, step as i64);
                    *coordinate = e.add(*coordinate, moved);
                }
            }
        }
        for b in boxes.boxes.iter().take(share) {
            let coords = box_at(&mut e, &first, order, b);
            let offset = e.i32(b.offset as i64);
            let dst = e.ptr_add(own, offset);
            let blocks = [e.i32_attr(mask)];
            e.op(
                N::TmaMulticast,
                &[&[dst], &[map], &coords, &[full]],
                blocks,
                &[],
            );
        }
    }

    pub(in crate::lower::nvvm) fn tma_store(
        &mut self,
        op: OpId,
        v: &view::TmaStore<Op>,
    ) -> Result<(), Diagnostic> {
        let buffer = self.buffer(op, v.source())?;
        let (access, order, boxes) = self.tma_boxes(op, v.op(), &buffer, 1)?;
        let map = self.tensor_map(op, &access, &order, &boxes, &buffer)?;
        let first = self.thread_is(0);
        self.when(first, false, |l| {
            let base = l.stage_address(&buffer, None);
            let origin = l.tma_origin(op, &access, &order, &buffer)?;
            for b in &boxes.boxes {
                let mut e = l.emit();
                let coords = box_at(&mut e, &origin, &order, b);
                let offset = e.i32(b.offset as i64);
                let src = e.ptr_add(base, offset);
                e.op(N::TmaStore, &[&[map], &coords, &[src]], [], &[]);
            }
            l.emit().op(N::BulkCommit, &[], [], &[]);
            Ok(())
        })
    }

    /// In the thread that starts the copies.
    pub(in crate::lower::nvvm) fn store_wait(
        &mut self,
        v: &view::StoreWait<Op>,
    ) -> Result<(), Diagnostic> {
        let first = self.thread_is(0);
        let read = (!v.complete()).then_some(Attr::Unit);
        self.when(first, false, |l| {
            let mut e = l.emit();
            let pending = e.i32_attr(0);
            e.op(N::BulkWait, &[], [pending, read], &[]);
            Ok(())
        })
    }
}
