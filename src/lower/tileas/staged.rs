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
use crate::lower::tileas::buffers::{shared_type, swizzled, tile_bytes};
use crate::lower::tileas::look;
use crate::lower::unsupported;
use rustc_hash::{FxHashMap, FxHashSet};

/// Puts operands under `body` that would be converted into shared memory, the largest fragments of a matmul first, until
/// what is in registers beside them fits in the `available` registers of a thread. `room`: bytes of shared memory for
/// them.
pub fn place(
    m: &mut Module,
    body: BlockId,
    warps: u64,
    available: u64,
    room: u64,
    log: &mut Log,
) -> Result<(), Diagnostic> {
    let found = find(m, body, warps)?;
    if found.is_empty() {
        return Ok(());
    }
    let tiles: Vec<ValueId> = found.iter().flatten().map(|c| c.tile).collect();
    let others = pressure::registers_without(m, body, warps, &tiles);
    let mut buffers = Buffers {
        room,
        of: FxHashMap::default(),
    };
    for mut operands in found {
        let fragments: u64 = operands.iter().map(|c| c.registers).sum();
        let mut live = others + REGISTERS_BESIDE_LOADS + fragments;
        operands.sort_by_key(|c| std::cmp::Reverse(c.registers));
        for c in operands {
            if live <= available {
                break;
            }
            match buffers.store(m, body, &c)? {
                Some(buffer) => {
                    live -= c.registers;
                    load_for(m, c.dot, c.side, buffer);
                }
                None => {
                    let why = format!(
                        "an operand of {} registers a thread is converted from layout to layout: shared memory has no room for it",
                        c.registers
                    );
                    log.note(m, c.dot, "operands in shared memory", why);
                }
            }
        }
    }
    Ok(())
}

/// The buffers that operands go through: those of one type one after the other through the same.
struct Buffers {
    /// Bytes of shared memory that are left.
    room: u64,
    /// Each, and what was stored there last.
    of: FxHashMap<TypeId, (ValueId, ValueId, BlockId)>,
}

impl Buffers {
    /// Stores an operand in front of its matmul; `None`: there is no room.
    fn store(
        &mut self,
        m: &mut Module,
        body: BlockId,
        c: &Operand,
    ) -> Result<Option<ValueId>, Diagnostic> {
        let (layout, _) = swizzled(m, c.tile, order_of(m, c.tile, c.side))
            .map_err(|e| unsupported(m, c.dot, format!("no layout: {e}")))?;
        let (ty, bytes) = (shared_type(m, c.tile, &layout, 1), tile_bytes(m, c.tile));
        let block = m.op(c.dot).block;
        let last = self.of.get(&ty).copied();
        let buffer = match last {
            Some((buffer, tile, home)) if (tile, home) == (c.tile, block) => {
                return Ok(Some(buffer));
            }
            Some((buffer, ..)) => buffer,
            None if bytes > self.room => return Ok(None),
            None => {
                self.room -= bytes;
                m.at(body, 0).value(S::AllocTensor, &[], [], ty)
            }
        };
        self.of.insert(ty, (buffer, c.tile, block));
        // Others may still read what is there.
        store_at(m, look::place(m, c.dot), [c.tile, buffer], c.dot, true);
        Ok(Some(buffer))
    }
}

/// The operands that would be converted, those of a matmul together.
fn find(m: &Module, body: BlockId, warps: u64) -> Result<Vec<Vec<Operand>>, Diagnostic> {
    let mut found = Vec::new();
    for dot in m.ops_under(body) {
        let converted = |side, tile| {
            let made = Made::of(m, tile);
            let bits = m.types.width(m.types.elem(m.ty(tile)));
            let fragments = side == Side::Left && bits == 16 && made.by_matmul;
            made.elsewhere && !fragments && !is_stationary(m, body, tile, dot)
        };
        let operands = Operand::of(m, dot, warps, converted)?;
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
