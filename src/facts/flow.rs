//! Facts of every value of a function, by a forward walk with a fixpoint per loop.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::asked::Asked;
use super::attr::pointee_bytes;
use super::leaf::Leaf;
use super::map::FactMap;
use super::transfer::{assume, block_size, constant, grid_bounds, transfer, within_block};
use super::{Facts, Uniformity, axes, gcd, pow2_part, range};
use crate::dialect::{Control, OpKind, cuda_tile, nv_tileas, nvvm};
use crate::ir::{Attr, BlockId, DYNAMIC, Module, Op, OpId, Type, ValueId};

/// The facts of every value inside `func` (an entry, a `nvvm.func`, any operation with regions).
pub fn of(module: &Module, func: OpId) -> FactMap {
    walk(module, func, None)
}

/// The facts of values inside `func` that an e-graph does not find by itself: those of all but the results of pure
/// operations.
pub fn for_egraph(module: &Module, func: OpId) -> FactMap {
    walk(module, func, Some(Asked::inside(module, func)))
}

fn walk(module: &Module, func: OpId, asked: Option<Asked>) -> FactMap {
    let room = module.values_under(func);
    let mut walk = Walk {
        module,
        asked,
        threads: block_size(module.op(func)),
        facts: FactMap::with_room(room),
        stamps: Vec::with_capacity(room),
        now: 0,
        frames: Vec::new(),
        divergence: Uniformity::Block,
    };
    let op = module.op(func);
    for &region in &op.regions {
        for &block in &module.region(region).blocks {
            for &arg in &module.block(block).args {
                walk.set(arg, parameter(module, arg));
            }
            walk.block(block);
        }
    }
    walk.facts
}

/// A kernel parameter: the same for all threads; pointers have their pointee's alignment.
fn parameter(module: &Module, arg: ValueId) -> Facts {
    let ty = module.ty(arg);
    let mut facts = Facts::top(&module.types, ty);
    if let Type::Ptr { .. } = module.types.get(module.types.elem(ty)) {
        facts.divisor = pow2_part(pointee_bytes(&module.types, ty));
    }
    facts
}

/// After this many rounds a loop's carried values are given up.
const ROUNDS: usize = 8;
/// From this round on, bounds that still move jump to the type's range.
const WIDEN: usize = 2;

/// What leaves a loop's body.
#[derive(Default)]
struct Frame {
    next: Option<Vec<Facts>>,
    exit: Option<Vec<Facts>>,
}

/// When facts of a value were last found, and when they were last news; steps of the walk.
struct Stamp {
    found: u32,
    changed: u32,
}

struct Walk<'m> {
    module: &'m Module,
    /// The values that facts are found of, if not all.
    asked: Option<Asked>,
    /// The threads of the block that runs the function, where it is known.
    threads: Option<i64>,
    facts: FactMap,
    /// By place in `facts`.
    stamps: Vec<Stamp>,
    now: u32,
    /// The enclosing loops, innermost last.
    frames: Vec<Frame>,
    /// Over which threads the current place is reached together.
    divergence: Uniformity,
}

/// Whether the counter of a loop, and its bounds, are unsigned.
fn counts_unsigned(op: &Op) -> bool {
    let tile = cuda_tile::view::For::of(op).map(|v| v.unsignedCmp());
    tile.or_else(|| nvvm::view::For::of(op).map(|v| v.unsigned())) == Some(true)
}

/// Whether a terminator goes on (`Some(true)`), leaves a loop (`Some(false)`) or neither.
fn loop_exit(kind: OpKind) -> Option<bool> {
    match Control::of(kind)? {
        Control::Continue => Some(true),
        Control::Break => Some(false),
        _ => None,
    }
}

fn merge(into: &mut Option<Vec<Facts>>, values: Vec<Facts>) {
    match into {
        None => *into = Some(values),
        Some(old) => old
            .iter_mut()
            .zip(&values)
            .for_each(|(o, v)| *o = o.join(v)),
    }
}

impl Walk<'_> {
    fn of(&self, value: ValueId) -> Facts {
        self.facts.of(self.module, value)
    }

    fn known(&self, value: ValueId) -> Cow<'_, Facts> {
        match self.facts.get(value) {
            Some(facts) => Cow::Borrowed(facts),
            None => Cow::Owned(self.of(value)),
        }
    }

    fn all(&self, values: &[ValueId]) -> Vec<Facts> {
        values.iter().map(|&v| self.of(v)).collect()
    }

    /// Walks a block; returns the facts of its terminator's operands if it is a plain yield.
    fn block(&mut self, block: BlockId) -> Option<Vec<Facts>> {
        let module = self.module;
        let mut last = None;
        for &id in &module.block(block).ops {
            let op = module.op(id);
            match loop_exit(op.kind) {
                Some(goes_on) => {
                    let mut values = self.all(&op.operands);
                    for value in &mut values {
                        value.uniform = value.uniform.max(self.divergence);
                    }
                    if let Some(frame) = self.frames.last_mut() {
                        merge(
                            if goes_on {
                                &mut frame.next
                            } else {
                                &mut frame.exit
                            },
                            values,
                        );
                    }
                    last = None;
                }
                None if op.kind.def().traits.has(crate::dialect::Traits::TERMINATOR) => {
                    last = Some(self.all(&op.operands));
                }
                None if op.regions.is_empty() => self.simple(id),
                None => self.structured(id),
            }
        }
        last
    }

    fn simple(&mut self, id: OpId) {
        let module = self.module;
        let op = module.op(id);
        if self.asked.as_ref().is_some_and(|asked| !asked.has(op)) || self.is_current(op) {
            return;
        }
        for (index, &result) in op.results.iter().enumerate() {
            let facts = self.result(id, index);
            self.set(result, facts);
        }
    }

    /// Whether the facts of an operation's results are what they would be if found again. A loop's body is walked several
    /// times, and most of what it computes depends on little that the loop carries.
    fn is_current(&self, op: &Op) -> bool {
        use cuda_tile::Op;
        // Which depend on what their operand was made of.
        if let Some(Op::GetTensorShape | Op::GetIndexSpaceShape) = Op::of(op.kind) {
            return false;
        }
        let Some(found) = op.results.first().and_then(|&v| self.stamp(v)) else {
            return false;
        };
        let older = |&v: &ValueId| self.stamp(v).is_none_or(|s| s.changed < found.found);
        op.operands.iter().all(older)
    }

    fn stamp(&self, value: ValueId) -> Option<&Stamp> {
        self.stamps.get(self.facts.place(value)?)
    }

    /// Records facts that were found now.
    fn set(&mut self, value: ValueId, facts: Facts) {
        self.now += 1;
        let now = self.now;
        match self.facts.place(value) {
            Some(place) => {
                let stamp = &mut self.stamps[place];
                stamp.found = now;
                let known = self.facts.at_mut(place);
                if *known != facts {
                    *known = facts;
                    stamp.changed = now;
                }
            }
            None => {
                self.facts.set(value, facts);
                self.stamps.push(Stamp {
                    found: now,
                    changed: now,
                });
            }
        }
    }

    fn result(&self, id: OpId, index: usize) -> Facts {
        use cuda_tile::Op;
        let module = self.module;
        let op = module.op(id);
        let ty = module.ty(op.results[index]);
        let top = || Facts::top(&module.types, ty);
        if let Some(Attr::Dense { data, ty: held }) = op.attr(0)
            && op.def().traits.has(crate::dialect::Traits::CONSTANT)
        {
            let mut facts = constant(&module.types, data, *held);
            if facts.axes.is_empty() && ty != *held {
                facts.axes = constant(&module.types, data, ty).axes;
            }
            return facts;
        }
        match Op::of(op.kind) {
            Some(Op::GetTileBlockId) => return grid_bounds(&module.types, ty, index, false),
            Some(Op::GetNumTileBlocks) => return grid_bounds(&module.types, ty, index, true),
            Some(Op::GetTensorShape) => {
                return self
                    .extent(op.operands.first(), index)
                    .unwrap_or_else(|| self.extent_top(ty));
            }
            Some(Op::GetIndexSpaceShape) => {
                return self
                    .tiles(op.operands.first(), index)
                    .unwrap_or_else(|| self.extent_top(ty));
            }
            Some(Op::Assume) => {
                let mut facts = op.operands.first().map_or_else(top, |&v| self.of(v));
                if let Some(Attr::Assume(predicate)) = op.attr(0) {
                    assume(&module.types, predicate, ty, &mut facts);
                }
                return facts;
            }
            _ => {}
        }
        if let Some(nv_tileas::Op::ClusterRank) = nv_tileas::Op::of(op.kind) {
            let mut facts = top();
            (facts.lo, facts.hi) = (0, 15);
            return facts;
        }
        if !op.def().is_pure() {
            let mut facts = top();
            if op.kind.dialect == crate::dialect::Dialect::Nvvm {
                facts.uniform = Uniformity::Thread;
            }
            return facts;
        }
        let known: SmallVec<[_; 4]> = op.operands.iter().map(|&v| self.known(v)).collect();
        let operands: SmallVec<[_; 4]> = known
            .iter()
            .zip(&op.operands)
            .map(|(f, &v)| (f.as_ref(), module.ty(v)))
            .collect();
        let leaf = |i| Leaf::from(op.attr(i));
        let mut facts = transfer(&module.types, op.kind, &leaf, &operands, ty);
        within_block(op.kind, &leaf, self.threads, &mut facts);
        if Op::of(op.kind) == Some(Op::Permute)
            && let (Some(Attr::I32s(order)), Some(from)) = (op.attr(0), known.first())
        {
            facts.axes = axes::permuted(&from.axes, order);
        }
        facts
    }

    fn extent_top(&self, ty: crate::ir::TypeId) -> Facts {
        let mut facts = Facts::top(&self.module.types, ty);
        facts.lo = 0;
        facts
    }

    /// Extent `dim` of a tensor view whose making is in sight.
    fn extent(&self, view: Option<&ValueId>, dim: usize) -> Option<Facts> {
        let &view = view?;
        let module = self.module;
        let Type::TensorView { shape, .. } = module.types.get(module.ty(view)) else {
            return None;
        };
        let extent = *shape.get(dim)?;
        if extent != DYNAMIC {
            return Some(Facts::int(extent, 64));
        }
        let op = module.op(module.def_op(view)?);
        if cuda_tile::Op::of(op.kind) != Some(cuda_tile::Op::MakeTensorView) {
            return None;
        }
        let at = shape.iter().take(dim).filter(|&&d| d == DYNAMIC).count();
        let mut facts = self.of(*op.group(1).get(at)?);
        facts.lo = facts.lo.max(0);
        (facts.lo <= facts.hi).then_some(facts)
    }

    /// Number of tiles along `dim` of a partition view.
    fn tiles(&self, view: Option<&ValueId>, dim: usize) -> Option<Facts> {
        let &view = view?;
        let module = self.module;
        let Type::PartitionView { tile, dim_map, .. } = module.types.get(module.ty(view)) else {
            return None;
        };
        let op = module.op(module.def_op(view)?);
        let of = usize::try_from(*dim_map.get(dim)?).ok()?;
        let extent = self.extent(op.operands.first(), of)?;
        let tile = i64::from(*tile.get(dim)?).max(1);
        let mut facts = Facts {
            constant: None,
            divisor: 1,
            lo: (extent.lo + tile - 1) / tile,
            hi: extent.hi.saturating_add(tile - 1) / tile,
            ..extent
        };
        facts.normalise(64);
        Some(facts)
    }

    fn structured(&mut self, id: OpId) {
        let op = self.module.op(id);
        match Control::of(op.kind) {
            Some(Control::For) => self.counted(id, counts_unsigned(op)),
            Some(Control::Loop) => self.endless(id),
            Some(Control::If) => self.branch(id),
            _ => self.opaque(id),
        }
    }

    fn set_results(&mut self, id: OpId, values: Option<Vec<Facts>>, uniform: Uniformity) {
        let module = self.module;
        for (i, &result) in module.op(id).results.iter().enumerate() {
            let known = values.as_ref().and_then(|v| v.get(i).cloned());
            let mut facts = known.unwrap_or_else(|| Facts::top(&module.types, module.ty(result)));
            facts.uniform = facts.uniform.max(uniform);
            self.set(result, facts);
        }
    }

    fn counted(&mut self, id: OpId, unsigned: bool) {
        let module = self.module;
        let op = module.op(id);
        let (Some(body), [lower, upper, step, inits @ ..]) =
            (module.body_of(id, 0), op.operands.as_slice())
        else {
            return self.set_results(id, None, Uniformity::Thread);
        };
        let (lower, upper, step) = (self.of(*lower), self.of(*upper), self.of(*step));
        let uniform = lower.uniform.max(upper.uniform).max(step.uniform);
        let args = &module.block(body).args;
        if let Some(&counter) = args.first() {
            let mut facts = Facts::top(&module.types, module.ty(counter));
            if !unsigned || lower.nonneg() && upper.nonneg() {
                facts.lo = lower.lo;
                facts.hi = upper.hi.saturating_sub(1).max(lower.lo);
            }
            facts.divisor = gcd(lower.divisor, step.divisor);
            facts.uniform = uniform;
            facts.normalise(module.types.bits(module.ty(counter)).unwrap_or(64));
            self.set(counter, facts);
        }
        let inits = self.all(inits);
        let carried: SmallVec<[ValueId; 4]> = args.iter().skip(1).copied().collect();
        let frame = self.fixpoint(body, &carried, &inits);
        let mut last = inits;
        if let Some(next) = frame.next {
            last.iter_mut().zip(&next).for_each(|(l, n)| *l = l.join(n));
        }
        self.set_results(id, Some(last), uniform);
    }

    fn endless(&mut self, id: OpId) {
        let module = self.module;
        let inits = self.all(&module.op(id).operands);
        let Some(body) = module.body_of(id, 0) else {
            return self.set_results(id, None, Uniformity::Thread);
        };
        let carried = module.block(body).args.clone();
        let frame = self.fixpoint(body, &carried, &inits);
        self.set_results(id, frame.exit, Uniformity::Block);
    }

    /// Walks a loop's body until its carried values no longer change; leaves their facts recorded.
    fn fixpoint(&mut self, body: BlockId, carried: &[ValueId], inits: &[Facts]) -> Frame {
        let module = self.module;
        let mut state: Vec<Facts> = inits.to_vec();
        let outer = self.divergence;
        for round in 0.. {
            for (&arg, facts) in carried.iter().zip(&state) {
                self.set(arg, facts.clone());
            }
            self.frames.push(Frame::default());
            let plain = self.block(body);
            let mut frame = self.frames.pop().unwrap_or_default();
            self.divergence = outer;
            if let Some(values) = plain {
                merge(&mut frame.next, values);
            }
            let Some(next) = &frame.next else {
                return frame;
            };
            let mut new: Vec<Facts> = state.iter().zip(next).map(|(s, n)| s.join(n)).collect();
            if new == state {
                return frame;
            }
            for (i, facts) in new.iter_mut().enumerate() {
                let Some(&arg) = carried.get(i) else { continue };
                let (min, max) = range(&module.types, module.ty(arg));
                if round >= WIDEN {
                    facts.lo = if facts.lo < state[i].lo {
                        min
                    } else {
                        facts.lo
                    };
                    facts.hi = if facts.hi > state[i].hi {
                        max
                    } else {
                        facts.hi
                    };
                }
                if round >= ROUNDS {
                    *facts = Facts::top(&module.types, module.ty(arg));
                    facts.uniform = Uniformity::Thread;
                }
            }
            state = new;
        }
        Frame::default()
    }

    fn branch(&mut self, id: OpId) {
        let module = self.module;
        let op = module.op(id);
        let condition = op
            .operands
            .first()
            .map_or(Uniformity::Thread, |&c| self.of(c).uniform);
        let outer = self.divergence;
        self.divergence = outer.max(condition);
        let mut values = None;
        for i in 0..op.regions.len() {
            if let Some(block) = module.body_of(id, i)
                && let Some(yielded) = self.block(block)
            {
                merge(&mut values, yielded);
            }
        }
        self.divergence = outer;
        self.set_results(id, values, condition);
    }

    /// An operation whose regions' arguments are anything (reduce, scan, roles).
    fn opaque(&mut self, id: OpId) {
        let module = self.module;
        let op = module.op(id);
        for &region in &op.regions {
            for &block in &module.region(region).blocks {
                for &arg in &module.block(block).args {
                    self.set(arg, Facts::top(&module.types, module.ty(arg)));
                }
                self.block(block);
            }
        }
        let uniform = op.operands.iter().map(|&v| self.of(v).uniform).max();
        self.set_results(id, None, uniform.unwrap_or(Uniformity::Block));
    }
}
