//! What seldom is needed is computed in a branch.
//!
//! A rule says by `nvvm.rarely` that it is: a large argument takes a long reduction, and few programs have one.
//!
//! ```text
//! y = rarely large, slow x, fast x   →   if a register is large { for each register { slow x } }
//!                                        else { fast x }
//! ```
//! A thread branches once for all of its registers, and the loop has the slow code once. It takes the registers in turn:
//! each iteration works on the first one and puts the result behind the others, so that all are where they were in the
//! end. Operations that choose by the same condition, such as a sine and a cosine, share the branch.

mod arm;
mod copy;

use rustc_hash::{FxHashMap, FxHashSet};

use super::emit::Emit;
use crate::dialect::nvvm::Op as N;
use crate::dialect::nvvm::view;
use crate::ir::{Attr, BlockId, LocId, Module, OpId, RegionId, TypeId, ValueId};
use arm::{Arm, own};
use copy::{Copy, Shape};

/// Branches in every kernel.
pub fn run(m: &mut Module) {
    for kernel in m.block(m.body).ops.clone() {
        inside(m, kernel);
    }
}

/// Branches in the blocks of an operation.
fn inside(m: &mut Module, op: OpId) {
    for region in m.op(op).regions.clone() {
        for inner in m.region(region).blocks.clone() {
            block(m, inner);
        }
    }
}

fn block(m: &mut Module, block: BlockId) {
    let ops = m.block(block).ops.clone();
    let mut alike: FxHashMap<ValueId, Vec<OpId>> = FxHashMap::default();
    for &op in &ops {
        inside(m, op);
        if let Some(v) = view::Rarely::of(m.op(op)) {
            alike.entry(v.condition()).or_default().push(op);
        }
    }
    if alike.is_empty() {
        return;
    }
    let places: FxHashMap<OpId, usize> = ops.iter().enumerate().map(|(i, &o)| (o, i)).collect();
    m.block_mut(block).ops.clear();
    let mut replaced: Vec<OpId> = Vec::new();
    let mut done: FxHashSet<OpId> = FxHashSet::default();
    for (here, &op) in ops.iter().enumerate() {
        let condition = view::Rarely::of(m.op(op)).map(|v| v.condition());
        let Some(condition) = condition.filter(|_| !done.contains(&op)) else {
            m.block_mut(block).ops.push(op);
            continue;
        };
        let known = |m: &Module, v: ValueId| {
            let place = m.def_op(v).and_then(|o| places.get(&o));
            place.is_none_or(|&place| place < here)
        };
        let together = alike.get(&condition).map_or(&[][..], |ops| ops);
        let together = together.iter().filter(|o| !done.contains(*o));
        let mut group = Group::new(m, block, condition, together.copied().collect());
        if !group.inputs().all(|v| known(m, v)) {
            group = Group::new(m, block, condition, vec![op]);
        }
        group.branch(m, block);
        done.extend(group.replaced());
        replaced.extend(group.replaced());
    }
    let mut left = std::mem::take(&mut m.block_mut(block).ops);
    left.retain(|o| !done.contains(o));
    // Nothing has to be looked for in an empty block.
    replaced.iter().for_each(|&op| m.erase(op));
    m.block_mut(block).ops = left;
}

/// Operations that choose by one condition.
struct Group {
    condition: ValueId,
    chosen: Vec<OpId>,
    /// What is computed for them alone, in no particular order.
    own: Vec<OpId>,
    always: Arm,
    mostly: Arm,
}

impl Group {
    /// Those of `chosen`, which stand in `block`.
    fn new(m: &Module, block: BlockId, condition: ValueId, chosen: Vec<OpId>) -> Group {
        let views: Vec<_> = chosen
            .iter()
            .filter_map(|&o| view::Rarely::of(m.op(o)))
            .collect();
        let always: Vec<ValueId> = views.iter().map(|v| v.always()).collect();
        let mostly: Vec<ValueId> = views.iter().map(|v| v.mostly()).collect();
        let own = own(m, block, always.iter().chain(&mostly).copied());
        let set: FxHashSet<OpId> = own.iter().copied().collect();
        Group {
            condition,
            always: Arm::new(m, always, &set).with_less_to_read(m, &set),
            mostly: Arm::new(m, mostly, &set),
            chosen,
            own,
        }
    }

    /// What the branches read.
    fn inputs(&self) -> impl Iterator<Item = ValueId> {
        let both = self.always.inputs.iter().chain(&self.mostly.inputs);
        both.chain([&self.condition]).copied()
    }

    /// The operations whose work the branches do.
    fn replaced(&self) -> impl Iterator<Item = OpId> {
        self.chosen.iter().chain(&self.own).copied()
    }

    /// Puts the branches at the end of `block`, and their results in the place of what was chosen.
    fn branch(&self, m: &mut Module, block: BlockId) {
        let loc = self.chosen.first().map_or(LocId::UNKNOWN, |&o| m.op(o).loc);
        let old: Vec<ValueId> = self.chosen.iter().map(|&o| m.result(o)).collect();
        let types: Vec<TypeId> = old.iter().map(|&v| m.ty(v)).collect();
        let any = any_of(&mut Emit { m, block, loc }, self.condition);
        let regions = [m.new_region(), m.new_region()];
        match m.types.reg_count(m.ty(self.condition)) {
            1 => self.once(m, regions[0], loc),
            n => self.in_turn(m, regions[0], loc, n),
        }
        self.mostly(m, regions[1], loc);
        let mut b = m.at_end(block);
        b.loc = loc;
        let op = b.op(N::If, &[&[any]], [], &types, &regions);
        let new = m.op(op).results.to_vec();
        for (old, new) in old.into_iter().zip(new) {
            m.replace_all_uses(old, new);
        }
    }

    fn mostly(&self, m: &mut Module, region: RegionId, loc: LocId) {
        let block = m.new_block(region, &[]);
        let mut e = Emit { m, block, loc };
        let results = Copy::new(Shape::Whole).arm(&mut e, &self.mostly);
        e.op(N::Yield, &[&results], [], &[]);
    }

    /// Where a thread has one register, which the condition holds for.
    fn once(&self, m: &mut Module, region: RegionId, loc: LocId) {
        let block = m.new_block(region, &[]);
        let mut e = Emit { m, block, loc };
        let mut copy = Copy::new(Shape::Whole);
        let bit = e.int(1);
        let holds = e.constant(1, bit);
        copy.set(self.condition, holds);
        let results = copy.arm(&mut e, &self.always);
        e.op(N::Yield, &[&results], [], &[]);
    }

    /// Where it has `n`: a loop that works on one of them after the other.
    fn in_turn(&self, m: &mut Module, region: RegionId, loc: LocId, n: u32) {
        let outer = m.new_block(region, &[]);
        let mut e = Emit {
            m,
            block: outer,
            loc,
        };
        let rotation = Rotation::new(&mut e, &self.always, n);
        let [first, end, step] = [0, i64::from(n), 1].map(|v| e.i32(v));
        let mut types = vec![e.int(32)];
        types.extend(rotation.types());
        let inner_region = m.new_region();
        let inner = m.new_block(inner_region, &types);
        let carried = m.block(inner).args.get(1..).unwrap_or(&[]).to_vec();
        let mut e = Emit {
            m,
            block: inner,
            loc,
        };
        rotation.iteration(&mut e, &self.always, &carried, n);
        let groups: [&[ValueId]; 4] = [&[first], &[end], &[step], &rotation.starts()];
        let attrs = [None, Some(Attr::Unit)];
        let mut b = m.at_end(outer);
        b.loc = loc;
        let op = b.op(N::For, &groups, attrs, &types[1..], &[inner_region]);
        let results = m.op(op).results[..self.chosen.len()].to_vec();
        let mut e = Emit {
            m,
            block: outer,
            loc,
        };
        e.op(N::Yield, &[&results], [], &[]);
    }
}

/// Whether a condition holds for a register.
fn any_of(e: &mut Emit, condition: ValueId) -> ValueId {
    let n = e.count(condition);
    let mut any: Vec<ValueId> = (0..n).map(|i| e.take(condition, &[i])).collect();
    // In pairs, so that none waits for all others.
    while let [_, _, ..] = any[..] {
        let pairs = any.chunks(2).map(|pair| match *pair {
            [a, b] => e.binary(N::Or, a, b),
            _ => pair[0],
        });
        any = pairs.collect();
    }
    any.first().copied().unwrap_or(condition)
}

/// Arrays that a loop rotates by a register in each iteration.
struct Rotation {
    arrays: Vec<Rotated>,
}

/// An array of a [`Rotation`]: results first, in their order.
struct Rotated {
    start: ValueId,
    ty: TypeId,
    /// What its first register is used as.
    input: Option<ValueId>,
    /// Whether a result takes the place of its first register, rather than that register itself.
    result: bool,
}

impl Rotation {
    /// A result takes the place of an input where their types are the same.
    fn new(e: &mut Emit, arm: &Arm, n: u32) -> Rotation {
        let arrays = arm.inputs.iter().filter(|&&v| e.count(v) == n);
        let mut inputs: Vec<ValueId> = arrays.copied().collect();
        let mut rotated = Vec::new();
        for &result in &arm.results {
            let ty = e.m.ty(result);
            let same = inputs.iter().position(|&v| e.m.ty(v) == ty);
            let input = same.map(|i| inputs.remove(i));
            rotated.push(Rotated {
                start: input.unwrap_or_else(|| e.undef_like(result)),
                ty,
                input,
                result: true,
            });
        }
        rotated.extend(inputs.into_iter().map(|v| Rotated {
            start: v,
            ty: e.m.ty(v),
            input: Some(v),
            result: false,
        }));
        Rotation { arrays: rotated }
    }

    fn types(&self) -> impl Iterator<Item = TypeId> {
        self.arrays.iter().map(|a| a.ty)
    }

    fn starts(&self) -> Vec<ValueId> {
        self.arrays.iter().map(|a| a.start).collect()
    }

    /// One iteration, in which the arrays are `carried`.
    fn iteration(&self, e: &mut Emit, arm: &Arm, carried: &[ValueId], n: u32) {
        let mut copy = Copy::new(Shape::Element);
        let firsts: Vec<ValueId> = carried.iter().map(|&v| e.take(v, &[0])).collect();
        for (array, &first) in self.arrays.iter().zip(&firsts) {
            if let Some(input) = array.input {
                copy.set(input, first);
            }
        }
        let results = copy.arm(e, arm);
        let lasts = self
            .arrays
            .iter()
            .enumerate()
            .map(|(i, array)| match array.result {
                true => results[i],
                false => firsts[i],
            });
        let lasts: Vec<ValueId> = lasts.collect();
        let next: Vec<ValueId> = carried
            .iter()
            .zip(lasts)
            .map(|(&array, last)| {
                let rest = e.take_range(array, 1, n - 1);
                e.concat(&[rest, last])
            })
            .collect();
        e.op(N::Yield, &[&next], [], &[]);
    }
}
