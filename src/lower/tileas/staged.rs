//! Operands of warps' matmuls that are made in other registers than the matmul reads.
//!
//! A warp's matmul reads fragments; warps that share rows or columns hold the same ones. What is computed in another
//! layout is handed around through shared memory: converted, all its fragments are in registers at once, the whole of K
//! for several warps. Where a thread has not that many, the tile goes to a buffer of its own, and the
//! matmul reads its fragments there step by step, as it reads those of a ring.

use super::fragments::Operand;
use super::limits::REGISTERS_BESIDE_LOADS;
use super::look::is_view;
use super::missed::Log;
use super::operands::is_stationary;
use super::pressure;
use super::staging::store_at;
use super::stationary::{load_for, order_of};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Side;
use crate::ir::{BlockId, Diagnostic, Module, TypeId, ValueId};
use crate::lower::tileas::buffers::{RESERVE, shared_type, swizzled, tile_bytes};
use crate::lower::tileas::look;
use crate::lower::unsupported;
use rustc_hash::{FxHashMap, FxHashSet};

/// Puts operands under `body` that would be converted into shared memory, the largest fragments of a matmul first, until
/// what is in registers beside them fits in the `available` registers of a thread. `room`: bytes of shared memory for
/// them. Returns those that are left.
pub fn place(
    m: &mut Module,
    body: BlockId,
    warps: u64,
    available: u64,
    room: u64,
    log: &mut Log,
) -> Result<u64, Diagnostic> {
    let found = find(m, body, warps)?;
    if found.is_empty() {
        return Ok(room);
    }
    let tiles: Vec<ValueId> = found.iter().flatten().map(|c| c.tile).collect();
    let others = pressure::registers_without(m, body, warps, &tiles) + REGISTERS_BESIDE_LOADS;
    let free = available.saturating_sub(others);
    let mut choice = Choice::of(m, &found, free, room)?;
    let short = choice.short();
    if short > 0 {
        choice = Choice::of(m, &found, free, room.saturating_sub(short))?;
    }
    let left = choice.left();
    let mut buffers = Buffers::default();
    for (c, ty) in &choice.stored {
        let buffer = buffers.store(m, body, c, *ty);
        load_for(m, c.dot, c.side, buffer);
    }
    for c in choice.refused {
        let why = format!(
            "an operand of {} registers a thread is converted from layout to layout: shared memory has no room for it",
            c.registers
        );
        log.note(m, c.dot, "operands in shared memory", why);
    }
    Ok(left)
}

/// Which operands are stored.
#[derive(Default)]
struct Choice<'f> {
    /// With the types of their buffers: those of one type go one after the other through the same.
    stored: Vec<(&'f Operand, TypeId)>,
    /// Those for which there is no room.
    refused: Vec<&'f Operand>,
    /// Bytes of shared memory that are left.
    room: u64,
    /// Bytes of the largest operand that is converted.
    converted: u64,
}

impl<'f> Choice<'f> {
    /// `free`: registers of a thread for the operands of a matmul.
    fn of(
        m: &mut Module,
        found: &'f [Vec<Operand>],
        free: u64,
        room: u64,
    ) -> Result<Choice<'f>, Diagnostic> {
        let mut choice = Choice {
            room,
            ..Choice::default()
        };
        for operands in found {
            let mut live: u64 = operands.iter().map(|c| c.registers).sum();
            for c in operands {
                if live > free && choice.takes(m, c)? {
                    live -= c.registers;
                    continue;
                }
                if live > free {
                    choice.refused.push(c);
                }
                choice.converted = choice.converted.max(tile_bytes(m, c.tile));
            }
        }
        Ok(choice)
    }

    /// Whether there is room for an operand, which is then stored.
    fn takes(&mut self, m: &mut Module, c: &'f Operand) -> Result<bool, Diagnostic> {
        let (layout, _) = swizzled(m, c.tile, order_of(m, c.tile, c.side))
            .map_err(|e| unsupported(m, c.dot, format!("no layout: {e}")))?;
        let (ty, bytes) = (shared_type(m, c.tile, &layout, 1), tile_bytes(m, c.tile));
        if self.stored.iter().all(|&(_, there)| there != ty) {
            let Some(room) = self.room.checked_sub(bytes) else {
                return Ok(false);
            };
            self.room = room;
        }
        self.stored.push((c, ty));
        Ok(true)
    }

    /// Bytes that are left beside what is converted.
    fn left(&self) -> u64 {
        let converted = self.converted.saturating_sub(RESERVE);
        self.room.saturating_sub(converted)
    }

    /// Bytes that what is converted lacks: it goes through memory, too, beside the buffers.
    fn short(&self) -> u64 {
        self.converted.saturating_sub(self.room + RESERVE)
    }
}

/// The buffers that operands go through: each, and what was stored there last.
#[derive(Default)]
struct Buffers {
    of: FxHashMap<TypeId, (ValueId, ValueId, BlockId)>,
}

impl Buffers {
    /// Stores an operand in front of its matmul.
    fn store(&mut self, m: &mut Module, body: BlockId, c: &Operand, ty: TypeId) -> ValueId {
        let block = m.op(c.dot).block;
        let buffer = match self.of.get(&ty).copied() {
            Some((buffer, tile, home)) if (tile, home) == (c.tile, block) => return buffer,
            Some((buffer, ..)) => buffer,
            None => m.at(body, 0).value(S::AllocTensor, &[], [], ty),
        };
        self.of.insert(ty, (buffer, c.tile, block));
        // Others may still read what is there.
        store_at(m, look::place(m, c.dot), [c.tile, buffer], c.dot, true);
        buffer
    }
}

/// The operands that would be converted, those of a matmul together, the largest fragments first.
fn find(m: &Module, body: BlockId, warps: u64) -> Result<Vec<Vec<Operand>>, Diagnostic> {
    let mut found = Vec::new();
    for dot in m.ops_under(body) {
        let converted = |side, tile| {
            let made = Made::of(m, tile);
            let bits = m.types.width(m.types.elem(m.ty(tile)));
            let fragments = side == Side::Left && bits == 16 && made.by_matmul;
            made.elsewhere && !fragments && !is_stationary(m, body, tile, dot)
        };
        let mut operands = Operand::of(m, dot, warps, converted)?;
        operands.sort_by_key(|c| std::cmp::Reverse(c.registers));
        if !operands.is_empty() {
            found.push(operands);
        }
    }
    Ok(found)
}

/// What an operand is computed from, element by element.
#[derive(Default)]
struct Made {
    /// Something that has a layout of its own: what a loop carries, or another matmul or a reduction makes. What memory
    /// brings is loaded where it is used, if registers are short, and waited for there in any case.
    elsewhere: bool,
    /// What another matmul makes: its result's fragments are a left operand's, of 16 bits.
    by_matmul: bool,
}

impl Made {
    fn of(m: &Module, tile: ValueId) -> Made {
        let mut made = Made::default();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut work = vec![tile];
        while let Some(value) = work.pop() {
            let small = m.types.as_tile(m.ty(value)).is_none_or(|t| {
                let whole = m.types.as_tile(m.ty(tile)).map_or(&[][..], |t| t.1);
                t.1.iter().product::<u64>() < whole.iter().product()
            });
            if small || !seen.insert(value) {
                continue;
            }
            let Some(op) = m.def_op(value) else {
                made.elsewhere = true;
                continue;
            };
            let data = m.op(op);
            match (S::of(data.kind), C::of(data.kind)) {
                (Some(S::LocalLoad | S::TiledLoad | S::Load), _)
                | (_, Some(C::Constant | C::Iota)) => {}
                (Some(S::Dot), _) => {
                    made.elsewhere = true;
                    made.by_matmul = true;
                }
                _ if data.def().traits.has(Traits::ELEMENTWISE)
                    || is_view(m, op)
                    || C::of(data.kind) == Some(C::Broadcast) =>
                {
                    work.extend(&data.operands)
                }
                _ => made.elsewhere = true,
            }
        }
        made
    }
}
