//! Tensor copies: what a tensor map can describe, and stores through shared memory.

use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::access::{self, Access, constant};
use crate::ir::{Attr, Diagnostic, Module, OpId, TypeId, ValueId};
use crate::layout::shared::Swizzle;
use crate::layout::tma::boxes;
use crate::lower::tileas::buffers::{memory_order, shared_type, swizzled};
use crate::lower::tileas::look;
use crate::lower::tileas::pipeline::described::{GRANULE, described, is_aligned};
use crate::lower::tileas::pipeline::sum::Sum;

/// Whether tensor copies can do a tiled access, or why not: a tensor map describes the tensor ([`described`]), which is
/// aligned as the hardware wants (CUDA driver API, `cuTensorMapEncodeTiled`), and tiles start at whole granules:
/// a GPU stops with an illegal instruction where an innermost coordinate is none (seen on an H100; Triton's tutorial of
/// tensor copies says so, the PTX ISA does not).
///
/// `made`: the kernel may make the map itself.
pub fn tma_legal(
    m: &Module,
    func: OpId,
    op: OpId,
    facts: &FactMap,
    made: bool,
) -> Result<(), String> {
    let access = Access::of(m.op(op)).ok_or("it accesses no tensor")?;
    legal(m, func, op, &access, facts, made)
}

fn legal(
    m: &Module,
    func: OpId,
    op: OpId,
    access: &Access,
    facts: &FactMap,
    made: bool,
) -> Result<(), String> {
    let require = |holds: bool, why: &str| match holds {
        true => Ok(()),
        false => Err(why.to_owned()),
    };
    let hints = m.op(op).attr_named("hints");
    require(
        !hints.is_some_and(|h| forbids_tma(m, h)),
        "its hint `allow_tma` is false",
    )?;
    let rank = access.extents.len();
    require(
        rank == access.index.len() && (1..=5).contains(&rank),
        "a tensor map has one to five dimensions, those of the tile",
    )?;
    require(
        access.sparse.is_none() || access.pages(m).is_some(),
        "rows are gathered by their numbers",
    )?;
    match described(m, func, op, access, facts) {
        Ok(d) => aligned(m, access, facts, d.aligned, &d.column),
        Err(_) if made => {
            let starts = is_aligned(access.base, facts);
            aligned(m, access, facts, starts, &Sum::default())
        }
        Err(why) => Err(why),
    }
}

/// Whether the starts of tiles are known to be aligned, of a tensor `column` elements behind what a map starts from, which is
/// (`starts`) or not.
fn aligned(
    m: &Module,
    access: &Access,
    facts: &FactMap,
    starts: bool,
    column: &Sum,
) -> Result<(), String> {
    let elem = access::pointee(m, access.base);
    let bytes = u64::from(m.types.width(elem) / 8);
    if bytes == 0 {
        return Err("its elements have less than eight bits".to_owned());
    }
    let divides = |v: ValueId, n: u64| facts.get(v).is_some_and(|f| f.divisor % n == 0);
    let wrong = |what: &str| {
        Err(format!(
            "{what} is not known to be a multiple of {GRANULE} bytes: assume it (`div_by`)"
        ))
    };
    let order = access.order(facts);
    let inner = order.first().copied();
    let unit = |&dim: &usize| {
        access
            .stride(dim)
            .is_some_and(|s| constant(facts, s) == Some(1))
    };
    let Some(inner) = inner.filter(unit) else {
        return Err("no stride of the tensor is known to be 1".to_owned());
    };
    let inner_tensor = access.dim_map.get(inner).copied();
    let start = access.first_divisor(facts, inner).saturating_mul(bytes);
    let mut strides = access.strides.iter().enumerate();
    match () {
        () if !starts => wrong("the base address"),
        () if !strides
            .all(|(i, &s)| Some(i) == inner_tensor || divides(s, (GRANULE / bytes).max(1))) =>
        {
            wrong("a stride of the tensor")
        }
        () if start < GRANULE || !column.divides(facts, (GRANULE / bytes).max(1)) => {
            wrong("where a tile begins in its row")
        }
        () => Ok(()),
    }
}

/// Whether the innermost extent of what an access goes to is of whole granules.
fn whole_rows(m: &Module, access: &Access, facts: &FactMap) -> bool {
    let extent = || {
        let inner = access.extent(*access.order(facts).first()?)?;
        let bytes = m.types.bits(access::pointee(m, access.base))? / 8;
        Some(facts.get(inner)?.divisor.wrapping_mul(u64::from(bytes)))
    };
    extent().is_some_and(|bytes| bytes % GRANULE == 0)
}

/// `allow_tma = false` among the hints.
fn forbids_tma(m: &Module, hints: &Attr) -> bool {
    let Attr::Hints(by_arch) = hints else {
        return false;
    };
    by_arch.iter().any(|(_, dict)| match dict {
        Attr::Dict(entries) => entries
            .iter()
            .any(|(n, a)| m.str(*n) == "allow_tma" && matches!(a, Attr::Bool(false))),
        _ => false,
    })
}

/// Whether a store can go through shared memory by a tensor copy: the rows of the tensor are of whole granules, for what
/// of the last one is beyond the row is written, too (seen on an H100).
pub fn store_legal(m: &Module, func: OpId, op: OpId, facts: &FactMap) -> bool {
    let data = m.op(op);
    let (Some(tile), Some(access)) = (access::tile(data), Access::of(data)) else {
        return false;
    };
    let order = memory_order(m, facts, op);
    let Ok((layout, _)) = swizzled(m, tile, &order) else {
        return false;
    };
    let mut all = Swizzle::ALL.into_iter();
    // Of less, threads store what they hold in fewer instructions than take it through shared memory.
    legal(m, func, op, &access, facts, false).is_ok()
        && whole_rows(m, &access, facts)
        && access::ordering(data) == Ordering::Weak
        && all.any(|s| boxes(&layout, &order, s).is_ok_and(|b| b.are_whole_patterns()))
}

/// Where a store's tile goes on its way.
#[derive(Clone, Copy)]
pub enum Way {
    /// Through a new buffer in the place of the rings, which are idle; `again` where another store went there.
    InPlaceOfRings { again: bool },
    /// Through a buffer of its own, which may still be read from the last time. `ordered`: what copies wrote before has to
    /// be there when this one writes.
    Through { buffer: ValueId, ordered: bool },
}

/// Puts the tensor copy of what `op` stores in its place. Copies of one kernel are started by one
/// thread, which waits for those before: what a later store waits for is done. Where anything else waits for
/// this one (`awaited`), it is waited for at once.
pub fn store(
    m: &mut Module,
    op: OpId,
    facts: &FactMap,
    way: Way,
    awaited: bool,
) -> Result<(), Diagnostic> {
    let data = m.op(op).clone();
    let Some(tile) = access::tile(&data) else {
        return Ok(());
    };
    let own = match way {
        Way::Through { buffer, .. } => Ok(buffer),
        Way::InPlaceOfRings { .. } => Err(store_buffer(m, op, facts)?),
    };
    let (block, at) = look::place(m, op);
    let mut b = m.at(block, at);
    b.loc = data.loc;
    let complete = |all: bool| [all.then_some(Attr::Unit)];
    let before = match way {
        Way::InPlaceOfRings { again } => again.then_some(true),
        Way::Through { ordered, .. } => Some(ordered),
    };
    if let Some(all) = before {
        b.op(S::StoreWait, &[], complete(all), &[], &[]);
        b.op(S::ProxyFence, &[], [], &[], &[]);
    }
    let buffer = own.unwrap_or_else(|ty| b.value(S::AllocTensor, &[], [], ty));
    b.op(S::LocalStore, &[&[tile], &[buffer], &[], &[]], [], &[], &[]);
    b.op(S::ProxyFence, &[], [], &[], &[]);
    let group = |name| crate::facts::access::group(&data, name);
    let groups: [&[ValueId]; 5] = [
        group("base"),
        group("extents"),
        group("strides"),
        group("index"),
        &[buffer],
    ];
    let attrs = ["dim_map", "traversal"].map(|n| data.attr_named(n).cloned());
    b.op(S::TmaStore, &groups, attrs, &[], &[]);
    if awaited {
        b.op(S::StoreWait, &[], complete(true), &[], &[]);
        b.op(S::ProxyFence, &[], [], &[], &[]);
    }
    m.erase(op);
    Ok(())
}

/// The type of the buffer that a store goes through.
pub fn store_buffer(m: &mut Module, op: OpId, facts: &FactMap) -> Result<TypeId, Diagnostic> {
    let tile = access::tile(m.op(op))
        .ok_or_else(|| crate::lower::unsupported(m, op, "no tile to store"))?;
    let order = memory_order(m, facts, op);
    let (layout, _) = swizzled(m, tile, &order)
        .map_err(|e| crate::lower::unsupported(m, op, format!("no layout: {e}")))?;
    Ok(shared_type(m, tile, &layout, 1))
}
