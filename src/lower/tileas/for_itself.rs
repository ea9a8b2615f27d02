//! Small tiles of which each thread loads by itself what it uses, and stores by itself what it has computed.
//!
//! A tile of fewer vectors than a block has threads is loaded in narrow accesses, each element by one thread, and handed
//! around through shared memory where many threads use an element: rows of cosines, for one, which all heads take. Where
//! one or two wide accesses bring all that a thread uses, neither is needed: the tile is loaded in the layout in which it
//! is used. If that is no more than a thread would load for others, accesses of a word will do. Likewise, a tile is stored
//! in the layout in which it was computed where that takes a thread two stores of two words.

use super::coalesced::blocked;
use super::look::{casts, is_view};
use super::relation::{Relation, layout_of, set_layout};
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, tile_of};
use crate::ir::{Module, OpId, ValueId};
use crate::layout::Layout;

/// Most accesses of a thread.
const ACCESSES: u64 = 2;
/// Bits of an access that is wide enough: a conversion would take more than a second one.
const WORD: u64 = 32;
/// The same of an access that writes: narrower ones leave parts of sectors to be written.
const WRITTEN: u64 = 64;

/// Loads and stores such tiles as they are used and computed, those of `ops` in a block of so many `warps`.
pub fn access(m: &mut Module, facts: &FactMap, ops: &[OpId], warps: u64) {
    for &op in ops {
        if let Some(made) = Made::of(m, op)
            && made.is_wide(m, facts, warps) == Some(true)
        {
            made.apply(m);
        }
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

    /// Whether few accesses, wider than those that are there or wide enough, bring a thread all it uses.
    fn is_wide(&self, m: &Module, facts: &FactMap, warps: u64) -> Option<bool> {
        let tile = m.result(self.load);
        let (blocked, _) = blocked(m, facts, self.load, tile, warps).ok()?;
        let most = blocked.max_vector;
        let vector = |l: &Layout| Some(l.contiguous_per_thread(&blocked.order).ok()?.min(most));
        let new = m.layouts.get(self.layouts.last()?.1);
        let old = m.layouts.get(layout_of(m, tile)?);
        let vectors = new.registers() / vector(new)?.max(1);
        let word = vector(new)? * u64::from(blocked.element_bits) >= WORD;
        let enough = word && new.registers() <= old.registers();
        Some(vectors <= ACCESSES && (enough || vector(new)? > vector(old)?))
    }

    fn apply(self, m: &mut Module) {
        set(m, &self.layouts);
        let Some(&(tile, _)) = self.layouts.first() else {
            return;
        };
        for conversion in self.conversions {
            m.replace_all_uses(m.result(conversion), tile);
            m.erase(conversion);
        }
    }
}

/// A store of what is converted for it alone.
struct Made {
    store: OpId,
    /// The layouts that what is computed of the conversion's source has without it, the stored tile at last.
    layouts: Vec<(ValueId, u32)>,
    conversion: OpId,
}

impl Made {
    fn of(m: &mut Module, store: OpId) -> Option<Made> {
        if S::of(m.op(store).kind) != Some(S::TiledStore) {
            return None;
        }
        let mut way = vec![tile_of(m, store)?];
        let conversion = loop {
            let tile = *way.last()?;
            let (maker, users) = (m.def_op(tile)?, m.users(tile));
            if users.len() != 1 {
                return None;
            }
            if S::of(m.op(maker).kind) == Some(S::ConvertLayout) {
                break maker;
            }
            if !is_view(m, maker) && !casts(m, maker) {
                return None;
            }
            way.push(m.source(maker));
        };
        let mut layout = layout_of(m, m.source(conversion))?;
        let mut layouts = Vec::new();
        // What the conversion makes is its source; the others follow from it.
        for &tile in way.iter().rev() {
            let maker = m.def_op(tile)?;
            if is_view(m, maker) {
                let source = m.layouts.get(layout).clone();
                let result = Relation::of(m, maker)?.result_of(m, tile, &source);
                layout = m.layouts.intern(result.ok()?);
            }
            layouts.push((tile, layout));
        }
        Some(Made {
            store,
            layouts,
            conversion,
        })
    }

    /// Whether a few wide stores write all that a thread has.
    fn is_wide(&self, m: &Module, facts: &FactMap, warps: u64) -> Option<bool> {
        let &(tile, layout) = self.layouts.last()?;
        let (blocked, _) = blocked(m, facts, self.store, tile, warps).ok()?;
        let layout = m.layouts.get(layout);
        let vector = layout.contiguous_per_thread(&blocked.order).ok()?;
        let vector = vector.min(blocked.max_vector);
        let wide = vector * u64::from(blocked.element_bits) >= WRITTEN;
        Some(wide && layout.registers() / vector.max(1) <= ACCESSES)
    }

    fn apply(self, m: &mut Module) {
        set(m, &self.layouts);
        let source = m.source(self.conversion);
        m.replace_all_uses(m.result(self.conversion), source);
        m.erase(self.conversion);
    }
}

/// Gives tiles their layouts.
fn set(m: &mut Module, layouts: &[(ValueId, u32)]) {
    for &(tile, layout) in layouts {
        set_layout(m, tile, layout);
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
