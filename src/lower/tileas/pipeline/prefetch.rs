//! Loops whose loads can be started iterations ahead.

use crate::dialect::cuda_tile::view as tile;
use crate::dialect::enums::Ordering;
use crate::lower::tileas::buffers::tile_bytes;
use crate::lower::tileas::expected::Expected;
use crate::lower::tileas::look::{is_matmul, is_number, reach_arranged};
use crate::lower::tileas::pipeline::ahead::{UNALIGNED, gathers_ahead, reached, starts_ahead};

use super::purpose::Purpose;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, Access};
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, ValueId};
use rustc_hash::FxHashSet;

/// A loop with loads that can be started iterations ahead. What else it computes does not matter.
#[derive(Clone, Debug)]
pub struct Prefetch {
    pub for_op: OpId,
    pub body: BlockId,
    pub loads: Vec<OpId>,
    pub purpose: Purpose,
}

impl Prefetch {
    /// The loads of `for_op` that can be started ahead for `purpose`, or what stands against it.
    pub fn find(
        m: &Module,
        for_op: OpId,
        facts: &FactMap,
        purpose: Purpose,
    ) -> Result<Prefetch, (OpId, String)> {
        let no = |op: OpId, why: &str| Err((op, why.to_owned()));
        let data = m.op(for_op);
        let (Some(body), Some(counted)) = (m.body_of(for_op, 0), tile::For::of(data)) else {
            return no(for_op, "it is a `loop`, which has no counter; a `for` has");
        };
        if counted.unsignedCmp() {
            return no(for_op, "the loop's counter is unsigned");
        }
        let end = m.terminator(body);
        let under = m.ops_under(body);
        let inside = under.iter().filter(|&&o| Some(o) != end);
        let mut harms = inside.filter_map(|&o| Some((o, harm(m, body, o, purpose)?)));
        if let Some((op, why)) = harms.next() {
            return no(op, why);
        }
        if purpose == Purpose::Stream {
            return Self::stream(m, for_op, body, facts);
        }
        let ahead = |o: OpId| {
            starts_ahead(m, body, o, purpose).is_ok()
                || gathers_ahead(m, facts, body, o, purpose).is_ok()
        };
        let wanted = |&o: &OpId| ahead(o) && feeds_matmul(m, &under, o);
        let loads: Vec<OpId> = under.iter().copied().filter(wanted).collect();
        if loads.is_empty() {
            let gather = under
                .iter()
                .copied()
                .find(|&o| S::of(m.op(o).kind) == Some(S::Load) && feeds_matmul(m, &under, o));
            if let Some(gather) = gather
                && let Err(why) = gathers_ahead(m, facts, body, gather, purpose)
            {
                return no(gather, why);
            }
            return no(
                for_op,
                "no load that follows from the loop's counter feeds a matmul",
            );
        }
        Ok(Prefetch {
            for_op,
            body,
            loads,
            purpose,
        })
    }

    /// Whether the loop writes memory.
    pub fn writes(&self, m: &Module) -> bool {
        let writes = |&o: &OpId| {
            use S::{AtomicRmw, Store, TiledAtomic, TiledStore};
            let kind = S::of(m.op(o).kind);
            kind.is_some_and(|k| [Store, TiledStore, TiledAtomic, AtomicRmw].contains(&k))
        };
        m.ops_under(self.body).iter().any(writes)
    }

    /// The tiles that a loop without matmuls loads, or why the first of them cannot be started ahead.
    fn stream(
        m: &Module,
        for_op: OpId,
        body: BlockId,
        facts: &FactMap,
    ) -> Result<Prefetch, (OpId, String)> {
        let mut loads = Vec::new();
        let mut against = None;
        let purpose = Purpose::Stream;
        for load in m.ops_under(body) {
            if !loads_tile(m, load) || !reached(m, body, load) {
                continue;
            }
            let found = match S::of(m.op(load).kind) {
                Some(S::Load) => gathers_ahead(m, facts, body, load, purpose),
                _ => starts_ahead(m, body, load, purpose).and_then(|()| {
                    match copies_words(m, facts, load) {
                        true => Ok(()),
                        false => Err(UNALIGNED),
                    }
                }),
            };
            match found {
                Ok(()) => loads.push(load),
                Err(why) => against = against.or(Some((load, why.to_owned()))),
            }
        }
        match against {
            Some(against) if loads.is_empty() => Err(against),
            _ => Ok(Prefetch {
                for_op,
                body,
                loads,
                purpose: Purpose::Stream,
            }),
        }
    }
}

/// Whether an operation loads a tile of more than one element.
pub fn loads_tile(m: &Module, op: OpId) -> bool {
    matches!(S::of(m.op(op).kind), Some(S::TiledLoad | S::Load)) && !is_number(m, op)
}

/// Whether `cp.async`, of four bytes at least, can copy the tile of a tiled load.
pub fn copies_words(m: &Module, facts: &FactMap, load: OpId) -> bool {
    let tile = m.ty(m.result(load));
    let extents = m.types.as_tile(tile).map_or(&[][..], |t| t.1);
    let access = Access::of(m.op(load));
    access.is_some_and(|a| a.alignment(m, facts, extents, m.types.elem(tile)) >= 4)
}

/// Why loads cannot run ahead of an operation: it leaves the loop's iteration early, orders what follows it, or is a loop by
/// itself. Writes do not stand against it: a load that has to come behind one waits for its token, and is not started ahead.
fn harm(m: &Module, body: BlockId, op: OpId, purpose: Purpose) -> Option<&'static str> {
    let data = m.op(op);
    let kind = C::of(data.kind);
    let traits = data.def().traits;
    let loads = matches!(S::of(data.kind), Some(S::TiledLoad | S::Load));
    let stores = matches!(S::of(data.kind), Some(S::TiledStore | S::Store));
    let weak = (loads || stores) && access::ordering(data) == Ordering::Weak;
    let beside = stores || loads && reached(m, body, op);
    let atomic = matches!(S::of(data.kind), Some(S::TiledAtomic | S::AtomicRmw));
    let passed = atomic
        && purpose == Purpose::Operands
        && matches!(
            access::ordering(data),
            Ordering::Weak | Ordering::Relaxed | Ordering::Release
        );
    let leaves = traits.has(Traits::TERMINATOR) && kind != Some(C::Yield);
    let effect =
        !traits.has(Traits::PURE) && data.regions.is_empty() && !traits.has(Traits::TERMINATOR);
    match () {
        () if weak && beside || passed => None,
        () if leaves => Some("an iteration of the loop ends early here"),
        () if matches!(kind, Some(C::For | C::Loop)) => {
            Some("a loop inside of the loop: only loops without another are pipelined")
        }
        () if effect && loads && weak => Some("a load in a branch of the loop"),
        () if effect && loads => Some(
            "a load that is ordered with accesses of other threads (its memory ordering is not weak)",
        ),
        () if effect => {
            Some("the loop waits here, or orders what follows, which loads must not overtake")
        }
        () => None,
    }
}

/// Whether a matmul takes what `op` loads, as it is, after elementwise operations and changes of shape, or with other tiles.
pub fn feeds_matmul(m: &Module, under: &[OpId], op: OpId) -> bool {
    takes(m, under, &reach_arranged(m, under, m.result(op)))
}

/// Whether a matmul among `under` reads one of these values.
pub fn takes(m: &Module, under: &[OpId], values: &FxHashSet<ValueId>) -> bool {
    let takes = |&o: &OpId| m.op(o).operands.iter().any(|v| values.contains(v));
    under.iter().any(|o| is_matmul(m, *o) && takes(o))
}

/// Bytes of scratch memory that the matmuls under `body` may need while the rings are in use: operands
/// that come neither out of a ring nor, as is `expected`, out of registers take a trip through it, and multiply-adds take both through it.
///
/// Stores in the loop, and those that follow in a loop around this one, convert their tiles, too: the ring is not free
/// for that, because the next iteration fills it again.
pub fn scratch(m: &Module, body: BlockId, stream: &Prefetch, expected: &Expected) -> u64 {
    let loads = &stream.loads;
    let stored = |o: &OpId| {
        matches!(
            S::of(m.op(*o).kind),
            Some(S::TiledStore | S::TiledAtomic | S::MultimemReduce | S::MultimemStore)
        )
    };
    let nested = m.op(stream.for_op).block != body;
    let busy = if nested { body } else { stream.body };
    let stores = m.ops_under(busy).into_iter().filter(stored);
    let store = stores.filter_map(|o| Some(tile_bytes(m, access::tile(m.op(o))?)));
    let store = store.max().unwrap_or(0);
    let need = |matmul: OpId| {
        let data = m.op(matmul);
        if matches!(S::of(data.kind), Some(S::Dot | S::ScaledDot)) {
            return expected.through_memory(m, matmul, |o| loads.contains(&o));
        }
        let operands = Matmul::of(data).into_iter().flat_map(Matmul::sources);
        // Eight bits may be widened first.
        operands.map(|v| 2 * tile_bytes(m, v)).sum()
    };
    let matmuls = m.ops_under(body).into_iter().filter(|&o| is_matmul(m, o));
    matmuls.map(need).max().unwrap_or(0).max(store)
}

/// Bytes of scratch memory that operations under `body` besides matmuls and conversions may need, which work in parts: those
/// that take a tile through it whole, and reductions of what so many `warps` hold.
pub fn taken_whole(m: &Module, body: BlockId, warps: u64) -> u64 {
    let bytes = |values: &[ValueId]| values.iter().map(|&v| tile_bytes(m, v)).max().unwrap_or(0);
    let need = |op: OpId| {
        let data = m.op(op);
        let (read, made) = (bytes(&data.operands), bytes(&data.results));
        match C::of(data.kind) {
            Some(C::Reduce | C::Scan) => read.min(made * warps),
            Some(C::Cat | C::Extract | C::Insert) => read.max(made),
            _ => 0,
        }
    };
    m.ops_under(body).into_iter().map(need).max().unwrap_or(0)
}
