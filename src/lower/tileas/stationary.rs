//! Operands of warps' matmuls that exist before the loop around them.
//!
//! Their fragments are in registers while the loop runs, as attention's queries are; warps that share rows or columns
//! hold the same ones. Where registers are short the tile is in a buffer of shared memory instead, and each matmul
//! reads its fragments there as it reads those of a ring: in the stage that brought the tile, where that is kept as long.
//! Where there is no room either, fewer blocks than asked for share a multiprocessor.

use super::decided::{Plan, sharing};
use super::limits::REGISTERS_BESIDE_LOADS;
use super::missed::Log;
use super::operands::{Source, drop_unused, is_stationary};
use super::sink::{self, Rings};
use super::staging::{Form, Staging};
use super::{fragments, pressure};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{BlockId, Diagnostic, Module, OpId, ValueId};
use crate::lower::tileas::buffers::{
    BATCHED_COLUMNS, BATCHED_ROWS, COLUMNS, Order, ROWS, tile_bytes,
};
use crate::lower::tileas::look;
use crate::lower::tileas::pipeline::slice::{Map, copy_in_front};
use crate::target::Target;

/// Puts stationary operands under `body` into shared memory, the largest fragments first, until what is in registers
/// fits. `room`: bytes of shared memory for them where one block has all of it. Returns the blocks that should share a
/// multiprocessor, and the bytes that are left to one of these.
pub fn place(
    m: &mut Module,
    body: BlockId,
    target: &Target,
    plan: &Plan,
    room: u64,
    log: &mut Log,
) -> Result<(Option<i64>, u64), Diagnostic> {
    let mut found = find(m, body, plan.tile_warps)?;
    let asked = sharing(plan.occupancy);
    let whole = u64::from(target.shared_per_block());
    let share = |n: u64| room.saturating_sub(whole - whole / n.max(1));
    if found.is_empty() {
        return Ok((plan.occupancy, share(asked)));
    }
    let tiles: Vec<ValueId> = found.iter().map(|s| s.tile).collect();
    let others = pressure::registers_without(m, body, plan.tile_warps, &tiles);
    let mut live = others + REGISTERS_BESIDE_LOADS;
    found.sort_by_key(|s| std::cmp::Reverse(s.registers));
    let rings = sink::rings(m, &m.ops_under(body));
    // Several matmuls may read one tile on the same side.
    let mut operands: Vec<Operand> = Vec::new();
    for s in &found {
        if !operands.iter().any(|o| o.is(s)) {
            live += s.registers;
            operands.push(Operand {
                tile: s.tile,
                side: s.side,
                registers: s.registers,
                bytes: match kept(m, &rings, s) {
                    Some(_) => 0,
                    None => tile_bytes(m, s.tile),
                },
            });
        }
    }
    // As many blocks as asked for, if registers admit them at all; those that roles were made for have theirs.
    let fewest = match &plan.roles {
        Some(roles) if roles.redistributes() => asked,
        _ => 1,
    };
    let (blocks, moved, left) = (fewest..=asked)
        .rev()
        .map(|n| {
            let (moved, left) = to_move(&operands, live, share(n), plan.registers(target, n));
            (n, moved, left)
        })
        .find(|(n, _, left)| *n == fewest || *left <= plan.registers(target, *n))
        .unwrap_or((1, Vec::new(), live));
    let available = plan.registers(target, blocks);
    let mut staging = Staging::new(body);
    for s in found {
        let Some(operand) = operands.iter().find(|o| o.is(&s)) else {
            continue;
        };
        if moved.iter().any(|o| o.is(&s)) {
            match kept(m, &rings, &s) {
                Some(chain) => read_again(m, &s, &chain),
                None => read_where_used(m, &s, &mut staging)?,
            }
        } else if left > available {
            let why = format!(
                "an operand of {} registers a thread stays in registers: shared memory has no room for its {} bytes",
                s.registers, operand.bytes
            );
            log.note(m, s.dot, "operands in shared memory", why);
        }
    }
    let left = staging.finish(m, share(blocks));
    let blocks = i64::try_from(blocks).unwrap_or(1);
    Ok((plan.occupancy.map(|o| o.min(blocks)), left))
}

/// A tile that matmuls read on one side.
#[derive(Clone, Copy)]
struct Operand {
    tile: ValueId,
    side: Side,
    /// Of a thread, for its fragments.
    registers: u64,
    bytes: u64,
}

impl Operand {
    fn is(&self, s: &fragments::Operand) -> bool {
        self.tile == s.tile && self.side == s.side
    }
}

/// The operands that go to the `room` bytes of shared memory, the first ones first, until what is `live` fits in the
/// `available` registers of a thread; and what is live then.
fn to_move(
    operands: &[Operand],
    mut live: u64,
    mut room: u64,
    available: u64,
) -> (Vec<Operand>, u64) {
    let mut moved = Vec::new();
    for o in operands {
        if live > available && o.bytes <= room {
            live = live.saturating_sub(o.registers);
            room -= o.bytes;
            moved.push(*o);
        }
    }
    (moved, live)
}

/// The stationary operands of the matmuls of warps under `body`.
fn find(m: &Module, body: BlockId, warps: u64) -> Result<Vec<fragments::Operand>, Diagnostic> {
    let mut found = Vec::new();
    for dot in m.ops_under(body) {
        let stays = |_, tile| is_stationary(m, body, tile, dot);
        found.extend(fragments::Operand::of(m, dot, warps, stays)?);
    }
    Ok(found)
}

/// The operations that read the tile from a ring and change its shape, if nothing gives its stage back until the matmul.
fn kept(m: &Module, rings: &Rings, s: &fragments::Operand) -> Option<Vec<OpId>> {
    let mut chain = vec![m.def_op(s.tile)?];
    while let Some(&last) = chain.last()
        && look::is_view(m, last)
    {
        chain.push(m.def_op(m.source(last))?);
    }
    let load = chain.last().copied();
    let load = load.filter(|&o| S::of(m.op(o).kind) == Some(S::LocalLoad))?;
    let home = m.op(load).block;
    let mut around = s.dot;
    while m.op(around).block != home {
        around = m.parent_op(around)?;
    }
    chain.reverse();
    sink::is_quiet_through(m, rings, load, around).then_some(chain)
}

/// Reads the tile in front of the matmul once more, by copies of the operations in `chain`.
fn read_again(m: &mut Module, s: &fragments::Operand, chain: &[OpId]) {
    let mut map = Map::default();
    for &op in chain {
        copy_in_front(m, op, s.dot, &mut map);
    }
    if let Some(&again) = map.get(&s.tile) {
        m.set_operand(s.dot, s.side.name(), again);
    }
    drop_unused(m, [s.tile]);
}

/// Stores the tile when it is known, and loads it in front of the matmul.
fn read_where_used(
    m: &mut Module,
    s: &fragments::Operand,
    staging: &mut Staging,
) -> Result<(), Diagnostic> {
    let source = Source::Stored(Form::Order(order_of(m, s.tile, s.side)));
    *staging = staging.with(m, s.dot, source.stored(s.tile));
    let (buffer, _) = source.place(m, s.dot, s.side, s.tile, staging)?;
    load_for(m, s.dot, s.side, buffer);
    Ok(())
}

/// How the tile that a warp's matmul reads on this side is best stored.
pub(super) fn order_of(m: &Module, tile: ValueId, side: Side) -> Order {
    let (elem, extents) = m.types.as_tile(m.ty(tile)).unwrap_or((m.ty(tile), &[]));
    let bits = m.types.width(elem);
    let row_bits = extents
        .last()
        .map_or(0, |&columns| columns * u64::from(bits));
    // Fragments of 16-bit elements are read transposed as well, if a row has what a thread reads of it: operands of few
    // columns have less. Others want their K next to each other.
    let by_rows = side == Side::Left || (bits == 16 && row_bits >= 128);
    match (by_rows, extents.len()) {
        (true, 3) => BATCHED_ROWS,
        (false, 3) => BATCHED_COLUMNS,
        (true, _) => ROWS,
        (false, _) => COLUMNS,
    }
}

/// Loads the operand on this side of `dot` from `buffer`, in front of it.
pub(super) fn load_for(m: &mut Module, dot: OpId, side: Side, buffer: ValueId) {
    let ty = m.ty(Matmul::known(m.op(dot)).operand(side));
    let loc = m.op(dot).loc;
    let (block, at) = look::place(m, dot);
    let mut b = m.at(block, at);
    b.loc = loc;
    let load = b.op(S::LocalLoad, &[&[buffer], &[]], [], &[ty], &[]);
    let loaded = m.result(load);
    m.set_operand(dot, side.name(), loaded);
}
