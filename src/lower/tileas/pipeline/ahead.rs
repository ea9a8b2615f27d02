//! Which loads can be started iterations before their tiles are used.

use super::purpose::Purpose;
use super::{guard, padding, slice, tokens};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view;
use crate::facts::FactMap;
use crate::facts::access::{self, Access, group};
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::lower::run::{Cut, Run};
use crate::lower::tileas::look::{elements, is_zero, loads_weakly};

/// The operands of a tiled access that say where it goes.
pub const ACCESS: [&str; 4] = ["base", "extents", "strides", "index"];

/// The operands of an access through pointers that do.
pub const POINTED: [&str; 2] = ["pointers", "mask"];

const NOT_OF_LOOP: &str = "it is no load of the loop itself";
const ORDERED: &str =
    "it is ordered with accesses of other threads (its memory ordering is not weak)";
const NO_POINTERS: &str = "it has no pointers";
const AFTER_WRITE: &str = "its token makes it wait for a write";
const NOT_ZERO: &str =
    "copies fill with zeros what is outside of the tensor, and its padding is another value";
/// Of a load whose copies would be of less than four bytes.
pub const UNALIGNED: &str = "its rows are not known to begin at multiples of four bytes";

/// Most numbers that are loaded to say where a tile is gathered: threads have them in registers when they start its
/// copies, and wait for them there.
pub const MOST_INDICES: u64 = 256;

/// Whether an operation in a loop's `body` is a load that can be started iterations ahead, or why not: its address
/// follows from the counter, and it waits for no write in the loop. What waits for it comes later all the more: see
/// [`forget_token`].
pub fn starts_ahead(
    m: &Module,
    body: BlockId,
    load: OpId,
    purpose: Purpose,
) -> Result<(), &'static str> {
    if S::of(m.op(load).kind) != Some(S::TiledLoad) || !reached(m, body, load) {
        return Err(NOT_OF_LOOP);
    }
    copies_tile(m, load, purpose)?;
    waits_in_front(m, body, load)?;
    match follows_counter(m, body, load, 1) {
        true => Ok(()),
        false => Err(
            "where it loads from depends on a value that the loop computes from one iteration to the next, not on its counter alone",
        ),
    }
}

/// Whether a load stands in a loop's `body` or behind branches of it.
pub fn reached(m: &Module, body: BlockId, load: OpId) -> bool {
    guard::guards(m, body, m.op(load).block).is_some()
}

/// Whether a tiled load can be made earlier than it stands, as a copy to shared memory for `purpose`, or why not: it is
/// weak and waits for no write.
pub fn starts_anywhere(m: &Module, load: OpId, purpose: Purpose) -> Result<(), &'static str> {
    copies_tile(m, load, purpose)?;
    waits_for_reads(m, load)
}

/// Whether what a load waits for are reads, or why not.
pub fn waits_for_reads(m: &Module, load: OpId) -> Result<(), &'static str> {
    waits_for(m, load, |token| tokens::only_read(m, token))
}

/// Whether what a load in a loop's `body` waits for are reads or stands in front of the loop, where one fence serves the
/// copies of all iterations, or why not.
fn waits_in_front(m: &Module, body: BlockId, load: OpId) -> Result<(), &'static str> {
    waits_for(m, load, |token| tokens::only_read_in_loop(m, body, token))
}

/// Whether a load waits for nothing, or for a token that is `harmless`, or why not.
fn waits_for(
    m: &Module,
    load: OpId,
    harmless: impl FnOnce(ValueId) -> bool,
) -> Result<(), &'static str> {
    match access::token(m.op(load)).is_none_or(harmless) {
        true => Ok(()),
        false => Err(AFTER_WRITE),
    }
}

/// Whether a tiled load can be a copy to shared memory for `purpose`, or why not, whatever it waits for.
pub fn copies_tile(m: &Module, load: OpId, purpose: Purpose) -> Result<(), &'static str> {
    let data = m.op(load);
    let Some(access) = Access::of(data) else {
        return Err(NOT_OF_LOOP);
    };
    // Elements of four bits have no address of their own.
    let whole_bytes = m
        .types
        .as_tile(m.ty(m.result(load)))
        .and_then(|(elem, _)| m.types.bits(elem))
        .is_some_and(|bits| bits.is_multiple_of(8));
    match () {
        () if access::ordering(data) != Ordering::Weak => Err(ORDERED),
        () if !whole_bytes => Err("its elements have less than eight bits"),
        () if access.sparse.is_some() && access.pages(m).is_none() => {
            Err("its rows are gathered by their numbers")
        }
        () if !padding::allows(m, load, purpose) => Err(NOT_ZERO),
        () => Ok(()),
    }
}

/// Whether a load through pointers in a loop's `body` can be started iterations ahead, as copies of several
/// elements each that leave zeros where its mask is false.
pub fn gathers_ahead(
    m: &Module,
    facts: &FactMap,
    body: BlockId,
    load: OpId,
    purpose: Purpose,
) -> Result<(), &'static str> {
    copies_runs(m, facts, load, purpose)?;
    waits_in_front(m, body, load)?;
    match () {
        () if !reached(m, body, load) => Err(NOT_OF_LOOP),
        () if !follows_counter(m, body, load, MOST_INDICES) => Err(
            "its pointers depend on a value that the loop computes from one iteration to the next, not on its counter alone",
        ),
        () => Ok(()),
    }
}

/// Whether threads can copy what a load loads through pointers, several elements at a time, earlier than it stands.
pub fn copies_through_pointers(
    m: &Module,
    facts: &FactMap,
    load: OpId,
    purpose: Purpose,
) -> Result<(), &'static str> {
    copies_runs(m, facts, load, purpose)?;
    waits_for_reads(m, load)
}

/// Whether threads can copy what a load loads through pointers, element by element if need be: by a load and a store, which
/// only warps that do nothing else should wait for.
pub fn copies_elements(m: &Module, load: OpId, purpose: Purpose) -> Result<(), &'static str> {
    copies_pointed(m, load, purpose)?;
    waits_for_reads(m, load)
}

/// Whether a load through pointers can be copies of several elements each, whatever it waits for.
fn copies_runs(
    m: &Module,
    facts: &FactMap,
    load: OpId,
    purpose: Purpose,
) -> Result<(), &'static str> {
    let data = m.op(load);
    let Some(pointers) = access::pointers(data) else {
        return Err(NO_POINTERS);
    };
    let Some(run) = Run::of(m, facts, pointers).filter(|r| r.width * r.bytes >= 4) else {
        return Err(
            "its pointers are not known to go to runs of at least four adjacent, aligned bytes (an assumption such as `div_by` can say so)",
        );
    };
    let once = |v: ValueId| Cut::of(m, facts, v, run.dim, run.width).is_some();
    copies_pointed(m, load, purpose)?;
    match access::mask(data).is_none_or(once) {
        true => Ok(()),
        false => Err("its mask may differ between the elements of one copy"),
    }
}

/// Whether a load through pointers can be copies of single elements, whatever it waits for.
fn copies_pointed(m: &Module, load: OpId, purpose: Purpose) -> Result<(), &'static str> {
    let data = m.op(load);
    let zero = |v: ValueId| m.def_op(v).is_some_and(|o| is_zero(m, o));
    match () {
        () if access::pointers(data).is_none() => Err(NO_POINTERS),
        () if S::of(data.kind) != Some(S::Load) => Err(NOT_OF_LOOP),
        () if access::ordering(data) != Ordering::Weak => Err(ORDERED),
        () if purpose == Purpose::Operands
            && !view::Load::of(data)
                .and_then(|v| v.padding())
                .is_none_or(zero) =>
        {
            Err(NOT_ZERO)
        }
        () => Ok(()),
    }
}

/// The values that say where a load loads from.
pub fn address_of(m: &Module, load: OpId) -> Vec<ValueId> {
    let names = ACCESS.iter().chain(&POINTED);
    names
        .flat_map(|name| group(m.op(load), name).to_vec())
        .collect()
}

/// Whether where a load loads from, and whether its branches are taken, is computed from the counter and from outside
/// the loop, by pure operations and loads of up to `most` numbers, such as a page's or those of gathered rows.
pub fn follows_counter(m: &Module, body: BlockId, load: OpId, most: u64) -> bool {
    let guards = guard::of_loads(m, body, &[load]);
    let mut roots = address_of(m, load);
    roots.extend(guards.iter().map(|g| g.condition));
    let blocks: Vec<BlockId> = std::iter::once(body)
        .chain(guards.iter().map(|g| g.block))
        .collect();
    let slice = slice::backward_in(m, &blocks, roots.iter().copied());
    let pure = |&o: &OpId| m.op(o).only_computes() || loads_numbers(m, &blocks, o, most);
    let operands = slice.iter().flat_map(|&o| m.op(o).operands.to_vec());
    let carried = m.block(body).args.get(1..).unwrap_or(&[]);
    slice.iter().all(pure)
        && roots
            .iter()
            .copied()
            .chain(operands)
            .all(|v| !carried.contains(&v))
}

/// Whether an operation of a loop's `blocks` loads up to `most` numbers and waits for nothing in them.
fn loads_numbers(m: &Module, blocks: &[BlockId], op: OpId, most: u64) -> bool {
    let data = m.op(op);
    let before = |t: ValueId| {
        let inside = m.def_op(t).is_some_and(|d| blocks.contains(&m.op(d).block));
        !inside && tokens::only_read(m, t)
    };
    loads_weakly(data)
        && elements(m, m.result(op)) <= most
        && Access::of(data).is_none_or(|a| a.sparse.is_none())
        && access::token(data).is_none_or(before)
}

/// What waited for a load now waits for what the load waited for: whoever uses the tile has waited for it.
pub fn forget_token(m: &mut Module, body: BlockId, load: OpId) {
    let data = m.op(load).clone();
    let Some(&result) = data.results.last() else {
        return;
    };
    if !matches!(m.types.get(m.ty(result)), Type::Token) {
        return;
    }
    let token = match access::token(&data) {
        Some(token) => token,
        None => {
            let ty = m.ty(result);
            m.at(body, 0).value(C::MakeToken, &[], [], ty)
        }
    };
    m.replace_all_uses(result, token);
}
