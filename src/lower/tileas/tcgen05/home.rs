//! Accumulators that a loop carries live in their buffer for the whole loop.
//!
//! What starts the loop is stored in front of it, the result is loaded behind it. Where the loop does something else
//! with what it carries (attention scales it), that is loaded where it is first used and stored again in front of the
//! matmul. Loops around it that only hand it to it, a convolution's over the window, leave it there, too.

use super::emit::{before, flag_type, is_zero};
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::enums::{self, Predicate};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::lower::build::{case, cased};
use crate::lower::carried;
use crate::lower::tileas::look::{ancestor_in, place};
use crate::lower::tileas::pipeline::tokens::jumps;
use crate::scalar::Signedness;

/// An accumulator that a loop carries from one matmul to the same matmul of the next iteration, or from the last one of a
/// chain to its first ([`super::links`]).
pub struct Home {
    /// Which carried value it is.
    place: usize,
    /// Which it is of each loop further out that only hands it on, from the inside to the outside.
    outer: Vec<usize>,
    /// The operation of the loop's block that first uses it.
    first: OpId,
    /// Nothing but the matmuls uses it.
    pub untouched: bool,
    /// It starts as zero, and only the matmuls use it: the first matmul of the loop writes.
    zero: bool,
}

impl Home {
    /// Whether the accumulator of a chain of matmuls can live in its buffer during the loop around them.
    pub fn find(m: &Module, body: BlockId, [first, last]: [OpId; 2]) -> Option<Home> {
        let block = m.op(first).block;
        let around = m.parent_op(first)?;
        if C::of(m.op(around).kind) != Some(C::For) {
            return None;
        }
        let end = m.terminator(block)?;
        if jumps(m, around) != [end] {
            return None;
        }
        let result = *m.op(last).results.first()?;
        let handed = |v: &&ValueId| **v == result;
        let place = m.op(end).operands.iter().position(|v| *v == result)?;
        let times = m.op(end).operands.iter().filter(handed).count();
        let arg = *m.block(block).args.get(place + 1)?;
        let users = m.users(arg);
        let ops = &m.block(block).ops;
        let at = |op: OpId| ops.iter().position(|&o| o == op);
        let own = at(first)?;
        let places: Option<Vec<usize>> = users
            .iter()
            .map(|&u| at(ancestor_in(m, body, block, u)?))
            .collect();
        let places = places?;
        let used = places.iter().min().copied()?;
        // Behind the first matmul the buffer has the new value.
        if times != 1 || places.iter().any(|&p| p > own) {
            return None;
        }
        let uses = m.op(first).operands.iter().filter(|&&v| v == arg).count();
        let untouched = users == [first] && uses == 1 && Matmul::known(m.op(first)).acc == arg;
        let init = *carried::inits(m.op(around)).get(place)?;
        Some(Home {
            place,
            outer: match untouched {
                true => handed_on(m, around, place),
                false => Vec::new(),
            },
            first: *ops.get(used)?,
            untouched,
            zero: untouched && is_zero(m, init),
        })
    }

    /// How many loops it lives in its buffer for.
    pub fn loops(&self) -> usize {
        1 + self.outer.len()
    }

    /// The loops around the matmul that carry it, and where, the innermost first.
    fn carriers(&self, m: &Module, dot: OpId) -> Option<Vec<(OpId, usize)>> {
        let mut found = vec![(m.parent_op(dot)?, self.place)];
        for &place in &self.outer {
            let (inner, _) = *found.last()?;
            found.push((m.parent_op(inner)?, place));
        }
        Some(found)
    }

    /// In front of the matmul: the accumulator is in `buffer`. The matmul's `accumulate`.
    pub fn enter(&self, m: &mut Module, dot: OpId, buffer: ValueId) -> Option<ValueId> {
        let block = m.op(dot).block;
        let arg = *m.block(block).args.get(self.place + 1)?;
        let &(around, at) = self.carriers(m, dot)?.last()?;
        let init = *carried::inits(m.op(around)).get(at)?;
        if self.zero {
            return later(m, around, dot);
        }
        before(m, around, S::TensorStore, &[&[init], &[buffer], &[]]);
        if self.untouched {
            return None;
        }
        let (block, at) = place(m, self.first);
        let ty = m.ty(arg);
        let loc = m.op(dot).loc;
        let mut b = m.at(block, at);
        b.loc = loc;
        let load = b.op(S::TensorLoad, &[&[buffer], &[], &[]], [], &[ty], &[]);
        let loaded = m.result(load);
        m.replace_all_uses(arg, loaded);
        let acc = Matmul::known(m.op(dot)).acc;
        if acc != loaded {
            before(m, dot, S::TensorStore, &[&[acc], &[buffer], &[]]);
        }
        None
    }

    /// Behind the matmul: the loop no longer carries the accumulator, which is loaded behind the loop. Other users
    /// of the matmul in the loop load it, too.
    pub fn leave(&self, m: &mut Module, dot: OpId, buffer: ValueId) {
        let Some(carriers) = self.carriers(m, dot) else {
            return;
        };
        let (&[(inner, _), ..], &[.., (around, place_around)]) = (&carriers[..], &carriers[..])
        else {
            return;
        };
        let block = m.op(dot).block;
        let (result, loc) = (m.result(dot), m.op(dot).loc);
        let ty = m.ty(result);
        let end = m.terminator(block);
        if m.users(result).into_iter().any(|o| Some(o) != end) {
            let (block, at) = place(m, dot);
            let mut b = m.at(block, at);
            b.loc = loc;
            let load = b.op(S::TensorLoad, &[&[buffer], &[], &[]], [], &[ty], &[]);
            let loaded = m.result(load);
            m.replace_all_uses(result, loaded);
        }
        let (bounds, init) = (
            m.op(inner).operands.to_vec(),
            carried::inits(m.op(inner)).to_vec(),
        );
        let result = m.op(around).results[place_around];
        if m.is_used(result) {
            if self.zero && !runs(m, &bounds) {
                let instead = if_not_run(m, around, [bounds[0], bounds[1]]);
                let mut b = m.at(instead, 0);
                b.loc = loc;
                let groups: [&[ValueId]; 3] = [&[init[self.place]], &[buffer], &[]];
                b.op(S::TensorStore, &groups, [], &[], &[]);
            }
            // All accumulators are complete before one is loaded, so that loads of several may take turns.
            let (home, at) = place(m, choice_behind(m, around).unwrap_or(around));
            let mut b = m.at(home, at + 1);
            b.loc = loc;
            let load = b.op(S::TensorLoad, &[&[buffer], &[], &[]], [], &[ty], &[]);
            let new = m.result(load);
            m.replace_all_uses(result, new);
        }
        for (carrier, place) in carriers {
            carried::drop_carried(m, carrier, place);
        }
    }
}

/// What the loops around `inner` carry what it carries at `place` as, which they do nothing with but hand it to `inner`.
fn handed_on(m: &Module, mut inner: OpId, mut place: usize) -> Vec<usize> {
    let mut places = Vec::new();
    while let Some(outer) = handed_to(m, inner, place) {
        let Some(holder) = m.parent_op(inner) else {
            break;
        };
        places.push(outer);
        (inner, place) = (holder, outer);
    }
    places
}

/// Which value of the loop around `inner` is its value at `place`, and nothing else.
fn handed_to(m: &Module, inner: OpId, place: usize) -> Option<usize> {
    let holder = m.parent_op(inner)?;
    let block = m.op(inner).block;
    let end = m.terminator(block)?;
    if C::of(m.op(holder).kind) != Some(C::For) || jumps(m, holder) != [end] {
        return None;
    }
    let result = *m.op(inner).results.get(place)?;
    let init = *carried::inits(m.op(inner)).get(place)?;
    let outer = m.op(end).operands.iter().position(|&v| v == result)?;
    let own = m.block(block).args.get(outer + 1) == Some(&init);
    (own && m.is_used_once(result, end) && m.is_used_once(init, inner)).then_some(outer)
}

/// Whether an iteration is not the loop's first.
fn later(m: &mut Module, around: OpId, dot: OpId) -> Option<ValueId> {
    let counter = *m.block(m.op(dot).block).args.first()?;
    let lower = tile::For::of(m.op(around))?.lowerBound();
    let ty = flag_type(m);
    let attrs = [cased(Predicate::NotEqual), cased(Signedness::Signed)];
    let (block, at) = place(m, dot);
    Some(m.at(block, at).value(C::CmpI, &[counter, lower], attrs, ty))
}

/// Whether a loop with these bounds is known to run at all.
fn runs(m: &Module, bounds: &[ValueId]) -> bool {
    let number = |v: ValueId| crate::lower::tileas::protocol::number(m.op(m.def_op(v)?));
    let [lower, upper] = [0, 1].map(|i| bounds.get(i).and_then(|&v| number(v)));
    matches!((lower, upper), (Some(l), Some(u)) if l < u)
}

/// What is done behind the loop `around` unless it has run: one choice for all that it leaves.
fn if_not_run(m: &mut Module, around: OpId, [lower, upper]: [ValueId; 2]) -> BlockId {
    if let Some(block) = choice_behind(m, around).and_then(|c| m.body_of(c, 1)) {
        return block;
    }
    let (flag, loc) = (flag_type(m), m.op(around).loc);
    let unsigned = tile::For::of(m.op(around)).is_some_and(|v| v.unsignedCmp());
    let regions = [0, 1].map(|_| m.new_region());
    let blocks = regions.map(|r| m.new_block(r, &[]));
    for block in blocks {
        m.at_end(block).op(C::Yield, &[&[]], [], &[], &[]);
    }
    let (block, at) = place(m, around);
    let attrs = [
        cased(Predicate::LessThan),
        case(
            &enums::SIGNEDNESS,
            if unsigned { "unsigned" } else { "signed" },
        ),
    ];
    let mut b = m.at(block, at + 1);
    b.loc = loc;
    let ran = b.value(C::CmpI, &[lower, upper], attrs, flag);
    b.op(C::If, &[&[ran]], [], &[], &regions);
    blocks[1]
}

/// The choice directly behind the loop `around` that [`if_not_run`] has made, if it has.
fn choice_behind(m: &Module, around: OpId) -> Option<OpId> {
    let (block, at) = place(m, around);
    let [compare, choice] = *m.block(block).ops.get(at + 1..at + 3)? else {
        return None;
    };
    let bounds = m.op(around).operands.get(..2)?;
    let of_loop =
        C::of(m.op(compare).kind) == Some(C::CmpI) && m.op(compare).operands[..] == *bounds;
    let mut inside = m.ops_inside(choice).into_iter();
    let stores = |o: OpId| S::of(m.op(o).kind) == Some(S::TensorStore);
    let own = C::of(m.op(choice).kind) == Some(C::If) && inside.any(stores);
    (of_loop && own && m.op(choice).operands == m.op(compare).results).then_some(choice)
}
