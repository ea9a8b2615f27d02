//! Offsets that are made safe for elements that an access leaves out anyway are used as they are.
//!
//! `load(p + select(mask, i, 0), mask)` is how careful programs write it: no pointer leaves the tensor, whether it is used
//! or not. Where the access has the selection's condition in its mask, the other offsets are never used, and behind the
//! selection nothing could tell that neighbours lie next to each other.
//!
//! ```text
//! c = i < n; p = offset(base, broadcast(select c, i, 0))
//! load p, mask = broadcast(c) & …                         → load offset(base, broadcast(i)), mask = …
//! ```

use super::tileas::look::place;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::ir::{Module, OpId, ValueId};
use rustc_hash::FxHashMap;

/// Most operations between an access and the selections behind its pointers that are looked at.
const MOST: usize = 64;

/// Rewrites the accesses of every entry.
pub fn run(m: &mut Module) {
    for entry in m.block(m.body).ops.clone() {
        let Some(body) = m.body_of(entry, 0) else {
            continue;
        };
        for op in m.ops_under(body) {
            if let Some((name, pointers, mask)) = masked(m, op) {
                let known = Known::of(m, mask);
                let mut bare = Bare::new(&known, op);
                if let Some(pointers) = bare.without(m, pointers, Vec::new()) {
                    m.set_operand(op, name, pointers);
                }
            }
        }
    }
}

/// The pointers of a masked access, the operand that they are, and the mask.
fn masked(m: &Module, op: OpId) -> Option<(&'static str, ValueId, ValueId)> {
    let data = m.op(op);
    if let Some(load) = view::LoadPtr::of(data) {
        return Some(("source", load.source(), load.mask()?));
    }
    let store = view::StorePtr::of(data)?;
    Some(("destination", store.destination(), store.mask()?))
}

/// The shapes that a tile takes on its way to an access, the last one first.
type Shapes = Vec<Vec<u64>>;

/// The conditions that hold for every element that an access does not leave out.
struct Known(Vec<(ValueId, Shapes)>);

impl Known {
    fn of(m: &Module, mask: ValueId) -> Known {
        let mut known = Known(Vec::new());
        known.add(m, mask, Vec::new());
        known
    }

    /// `condition` holds, seen through `shapes`; so do both sides of what is true only where both are.
    fn add(&mut self, m: &Module, condition: ValueId, shapes: Shapes) {
        if self.0.len() == MOST {
            return;
        }
        self.0.push((condition, shapes.clone()));
        let Some(op) = m.def_op(condition) else {
            return;
        };
        match (C::of(m.op(op).kind), &m.op(op).operands[..]) {
            (Some(C::AndI), &[a, b]) => {
                self.add(m, a, shapes.clone());
                self.add(m, b, shapes);
            }
            (Some(C::Reshape | C::Broadcast), &[tile]) => {
                self.add(m, tile, through(m, op, &shapes));
            }
            _ => (),
        }
    }

    fn holds(&self, condition: ValueId, shapes: &Shapes) -> bool {
        let mut known = self.0.iter();
        known.any(|(v, s)| *v == condition && s == shapes)
    }
}

/// `shapes` and, behind them, that of the result of `op`, which changes the shape of a tile.
fn through(m: &Module, op: OpId, shapes: &Shapes) -> Shapes {
    let shape = m.types.as_tile(m.ty(m.result(op)));
    let mut all = shapes.clone();
    all.push(shape.map_or_else(Vec::new, |(_, shape)| shape.to_vec()));
    all
}

/// Pointers without the selections whose conditions are known, computed in front of an access.
struct Bare<'a> {
    known: &'a Known,
    access: OpId,
    /// What became of values that were looked at.
    seen: FxHashMap<(ValueId, Shapes), Option<ValueId>>,
}

impl<'a> Bare<'a> {
    fn new(known: &'a Known, access: OpId) -> Self {
        Bare {
            known,
            access,
            seen: FxHashMap::default(),
        }
    }

    /// `value`, which the access sees through `shapes`, without such selections, if it has any. What is assumed of a
    /// selection's result need not hold without it: nothing behind an assumption is looked at.
    fn without(&mut self, m: &mut Module, value: ValueId, shapes: Shapes) -> Option<ValueId> {
        let op = m.def_op(value)?;
        if let Some(select) = view::Select::of(m.op(op)) {
            let [condition, chosen] = [select.cond(), select.val_if_true()];
            let known = self.known.holds(condition, &shapes);
            return known.then(|| self.without(m, chosen, shapes).unwrap_or(chosen));
        }
        let shapes = match C::of(m.op(op).kind)? {
            C::Offset | C::AddI | C::SubI | C::MulI | C::ShLI | C::ExtI => shapes,
            C::Reshape | C::Broadcast => through(m, op, &shapes),
            _ => return None,
        };
        let place = (value, shapes.clone());
        if let Some(&done) = self.seen.get(&place) {
            return done;
        }
        let operands = if self.seen.len() < MOST {
            self.seen.insert(place.clone(), None);
            self.operands_without(m, op, &shapes)
        } else {
            None
        };
        let bare = operands.map(|operands| self.again(m, op, &operands));
        self.seen.insert(place, bare);
        bare
    }

    /// The operands of `op`, if one of them has such a selection.
    fn operands_without(
        &mut self,
        m: &mut Module,
        op: OpId,
        shapes: &Shapes,
    ) -> Option<Vec<ValueId>> {
        let operands = m.op(op).operands.to_vec();
        let bare: Vec<Option<ValueId>> = operands
            .iter()
            .map(|&v| self.without(m, v, shapes.clone()))
            .collect();
        bare.iter().any(Option::is_some).then(|| {
            let both = bare.into_iter().zip(operands);
            both.map(|(bare, v)| bare.unwrap_or(v)).collect()
        })
    }

    /// `op` of other operands, in front of the access.
    fn again(&self, m: &mut Module, op: OpId, operands: &[ValueId]) -> ValueId {
        let data = m.op(op);
        let (kind, attrs, loc) = (data.kind, data.attrs.clone(), data.loc);
        let ty = m.ty(m.result(op));
        let (block, at) = place(m, self.access);
        let mut b = m.at(block, at);
        b.loc = loc;
        b.value(kind, operands, attrs, ty)
    }
}
