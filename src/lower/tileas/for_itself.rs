//! Small tiles of which each thread loads by itself what it uses.
//!
//! A tile of fewer vectors than a block has threads is loaded in narrow accesses, each element by one thread, and handed
//! around through shared memory where many threads use an element: rows of cosines, for one, which all heads take. Where
//! one or two wide accesses bring all that a thread uses, neither is needed: the tile is loaded in the layout in which it
//! is used.

use super::coalesced::blocked;
use super::look::{casts, is_view};
use super::relation::{Relation, distributed, layout_of};
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::{FactMap, access};
use crate::ir::{Module, OpId, ValueId};
use crate::layout::Layout;

/// Most accesses of a thread.
const ACCESSES: u64 = 2;

/// Loads such tiles as they are used, those that `ops` load for a block of so many `warps`.
pub fn load(m: &mut Module, facts: &FactMap, ops: &[OpId], warps: u64) {
    for &op in ops {
        if let Some(used) = Used::of(m, op)
            && used.is_wide(m, facts, warps) == Some(true)
        {
            used.apply(m);
        }
    }
}

/// A load whose tile is used in one other layout alone.
struct Used {
    load: OpId,
    /// The layouts of the load's tile and of what is computed of it alone, on the way to the conversions.
    layouts: Vec<(ValueId, u32)>,
    conversions: Vec<OpId>,
}

impl Used {
    fn of(m: &mut Module, load: OpId) -> Option<Used> {
        let data = m.op(load);
        if S::of(data.kind) != Some(S::TiledLoad) || access::ordering(data) != Ordering::Weak {
            return None;
        }
        let mut way = vec![m.result(load)];
        let (conversions, mut layout) = loop {
            let tile = *way.last()?;
            let users = m.users(tile);
            if let Some(layout) = converted(m, &users) {
                break (users, layout);
            }
            let [user] = users[..] else {
                return None;
            };
            if !is_view(m, user) && !casts(m, user) {
                return None;
            }
            way.push(m.result(user));
        };
        let mut layouts = Vec::new();
        for &tile in way.iter().rev() {
            layouts.push((tile, layout));
            let def = m.def_op(tile)?;
            if is_view(m, def) {
                let result = m.layouts.get(layout).clone();
                let source = Relation::of(m, def)?.source_of(m, m.source(def), &result);
                layout = m.layouts.intern(source.ok()??);
            }
        }
        Some(Used {
            load,
            layouts,
            conversions,
        })
    }

    /// Whether few accesses, wider than those that are there, bring a thread all it uses.
    fn is_wide(&self, m: &Module, facts: &FactMap, warps: u64) -> Option<bool> {
        let tile = m.result(self.load);
        let (blocked, _) = blocked(m, facts, self.load, tile, warps).ok()?;
        let most = blocked.max_vector;
        let vector = |l: &Layout| Some(l.contiguous_per_thread(&blocked.order).ok()?.min(most));
        let new = m.layouts.get(self.layouts.last()?.1);
        let old = m.layouts.get(layout_of(m, tile)?);
        let vectors = new.registers() / vector(new)?.max(1);
        Some(vectors <= ACCESSES && vector(new)? > vector(old)?)
    }

    fn apply(self, m: &mut Module) {
        for &(tile, layout) in &self.layouts {
            let ty = distributed(m, m.ty(tile), layout);
            m.value_mut(tile).ty = ty;
        }
        let Some(&(tile, _)) = self.layouts.first() else {
            return;
        };
        for conversion in self.conversions {
            m.replace_all_uses(m.result(conversion), tile);
            m.erase(conversion);
        }
    }
}

/// The layout to which all `users` of a tile convert it.
fn converted(m: &Module, users: &[OpId]) -> Option<u32> {
    let to = |&o: &OpId| {
        let converts = S::of(m.op(o).kind) == Some(S::ConvertLayout);
        converts.then(|| layout_of(m, m.result(o))).flatten()
    };
    let layout = users.first().and_then(to)?;
    users
        .iter()
        .all(|o| to(o) == Some(layout))
        .then_some(layout)
}
