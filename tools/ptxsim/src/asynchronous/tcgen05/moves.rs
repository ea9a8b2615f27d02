//! `tcgen05.ld` and `tcgen05.st` (PTX ISA 9.7.16.8): registers of a warp from and to its quarter of tensor memory.
//!
//! Where each register lies is what figures 183-187 draw and CuTe's `Copy_Traits` of these instructions say.

use super::memory::{COLUMNS, Place};
use super::tensor_place;
use crate::check::{TensorAccess, TensorUse};
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::program::inst::{Reg, Src};
use crate::program::tensor::{LoadReduce, MoveShape, ReduceType, TensorMove};
use crate::program::{LANES, Row};

impl MoveShape {
    /// Lane of tensor memory (from the address) and column (in units of a register's) of register `reg` in `lane`.
    fn position(self, lane: usize, reg: usize) -> (usize, usize) {
        match self {
            MoveShape::L32B32 => (lane, reg),
            // Pairs of registers in the row eight below alternate with those of the row itself.
            MoveShape::L16B256 => (
                lane / 4 + 8 * (reg / 2 % 2),
                reg / 4 * 8 + lane % 4 * 2 + reg % 2,
            ),
            MoveShape::L16B128 => (lane / 4 + 8 * (reg % 2), reg / 2 * 4 + lane % 4),
            MoveShape::L16B64 => (lane / 4 + 8 * (lane % 2), reg * 2 + lane / 2 % 2),
            MoveShape::L16B32x2 { .. } => (lane % 16, reg),
        }
    }

    /// Lanes that it touches.
    fn lanes(self) -> usize {
        match self {
            MoveShape::L32B32 => 32,
            _ => 16,
        }
    }

    /// Columns of 32 bits of one repetition.
    fn width(self) -> usize {
        match self {
            MoveShape::L32B32 | MoveShape::L16B32x2 { .. } => 1,
            MoveShape::L16B64 => 2,
            MoveShape::L16B128 => 4,
            MoveShape::L16B256 => 8,
        }
    }
}

/// Executes one of them.
pub fn execute(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    line: u32,
    mv: &TensorMove,
) -> Result<(), Trap> {
    let place = tensor_place(env, warp, frame, mv.address, u32::MAX)?;
    let name = if mv.store { "tcgen05.st" } else { "tcgen05.ld" };
    check_quarter(warp, place, mv.shape, name)?;
    let wide = mv.shape.width() * mv.count as usize * if mv.packed { 2 } else { 1 };
    let first = place.column..place.column + wide;
    let mut spans = vec![first];
    if let MoveShape::L16B32x2 { split } = mv.shape {
        let second = place.column + split as usize;
        spans.push(second..second + wide);
    }
    let number = env.tensor_move(warp, mv.store);
    for columns in spans {
        if columns.end > COLUMNS {
            return Err(Trap::new(format!(
                "{name} of columns {} to {} leaves tensor memory, which has {COLUMNS}",
                columns.start,
                columns.end - 1
            )));
        }
        env.ctas[warp.cta].tensor.check(&columns, name)?;
        let groups = if mv.shape.lanes() == 32 { 3 } else { 1 };
        env.tensor_access(TensorAccess {
            warp: env.serial(warp),
            cta: warp.cta,
            groups: groups << (place.lane / 16),
            columns,
            how: if mv.store {
                TensorUse::Store
            } else {
                TensorUse::Load
            },
            number,
            line,
        })?;
    }
    if mv.store {
        store(env, warp, frame, mv, place)
    } else {
        load(env, warp, frame, mv, place);
        Ok(())
    }
}

/// A warp reaches the 32 lanes of its number within the warpgroup (9.7.16.8.1).
fn check_quarter(warp: &Warp, place: Place, shape: MoveShape, name: &str) -> Result<(), Trap> {
    let first = warp.id as usize % 4 * 32;
    let aligned = place.lane.is_multiple_of(shape.lanes());
    if aligned && place.lane >= first && place.lane + shape.lanes() <= first + 32 {
        return Ok(());
    }
    let step = if shape.lanes() == 32 {
        String::new()
    } else {
        format!(" or {}", first + 16)
    };
    Err(Trap::new(format!(
        "{name} at lane {} of tensor memory: warp {} of its warpgroup reaches lanes {first} to {} only, and this shape begins \
         at lane {first}{step}",
        place.lane,
        warp.id % 4,
        first + 31
    )))
}

/// Lane and first column of a register.
fn cell(mv: &TensorMove, place: Place, lane: usize, reg: usize) -> (usize, usize) {
    let (down, along) = mv.shape.position(lane, reg);
    let split = match mv.shape {
        MoveShape::L16B32x2 { split } if lane >= 16 => split as usize,
        _ => 0,
    };
    let scale = if mv.packed { 2 } else { 1 };
    (place.lane + down, place.column + split + scale * along)
}

fn load(env: &Env<'_>, warp: &mut Warp, frame: Frame, mv: &TensorMove, place: Place) {
    let memory = &env.ctas[warp.cta].tensor;
    let mut rows: Vec<(Row, u32)> = Vec::with_capacity(mv.regs.len());
    for reg in 0..mv.regs.len() {
        let (mut row, mut written) = ([0u64; LANES], 0u32);
        for (lane, word) in row.iter_mut().enumerate() {
            let (at, column) = cell(mv, place, lane, reg);
            let value = if mv.packed {
                let (low, high) = (memory.get(at, column), memory.get(at, column + 1));
                low.zip(high).map(|(l, h)| l & 0xffff | h << 16)
            } else {
                memory.get(at, column)
            };
            *word = value.unwrap_or(0).into();
            written |= u32::from(value.is_some()) << lane;
        }
        rows.push((row, written));
    }
    for (src, (row, written)) in mv.regs.iter().zip(&rows) {
        if let Src::Reg(r) = src {
            put(warp, frame, Reg(*r), row, *written);
        }
    }
    if let Some(reduce) = &mv.reduce {
        let all = rows.iter().fold(u32::MAX, |m, (_, w)| m & w);
        let row = std::array::from_fn(|lane| {
            let words = rows.iter().map(|(row, _)| row[lane] as u32);
            words.reduce(|a, b| combine(reduce, a, b)).map_or(0, |w| {
                u64::from(if reduce.abs { w & 0x7fff_ffff } else { w })
            })
        });
        put(warp, frame, reduce.dst, &row, all);
    }
}

/// What nothing has written in tensor memory leaves the register undefined.
fn put(warp: &mut Warp, frame: Frame, reg: Reg, row: &Row, written: u32) {
    warp.set(frame, reg, u32::MAX, row);
    warp.defined[(frame.rows + reg.0) as usize] &= written;
}

/// Minimum or maximum of two elements.
fn combine(reduce: &LoadReduce, a: u32, b: u32) -> u32 {
    match reduce.ty {
        ReduceType::U32 if reduce.max => a.max(b),
        ReduceType::U32 => a.min(b),
        ReduceType::S32 if reduce.max => (a as i32).max(b as i32) as u32,
        ReduceType::S32 => (a as i32).min(b as i32) as u32,
        ReduceType::F32 => {
            let clear = |w: u32| f32::from_bits(if reduce.abs { w & 0x7fff_ffff } else { w });
            let (x, y) = (clear(a), clear(b));
            if x.is_nan() || y.is_nan() {
                if reduce.nan || x.is_nan() && y.is_nan() {
                    return 0x7fff_ffff;
                }
                return if x.is_nan() { y } else { x }.to_bits();
            }
            let first = if reduce.max { x > y } else { x < y };
            // +0 is greater than -0.
            let tie = x == y && (x.is_sign_positive() == reduce.max);
            if first || tie { x } else { y }.to_bits()
        }
    }
}

fn store(
    env: &mut Env<'_>,
    warp: &Warp,
    frame: Frame,
    mv: &TensorMove,
    place: Place,
) -> Result<(), Trap> {
    for (reg, src) in mv.regs.iter().enumerate() {
        let (row, defined) = match src {
            Src::Const(_) => (warp.source(env, frame, *src, 0)?, u32::MAX),
            Src::Reg(r) => {
                let index = (frame.rows + r) as usize;
                (warp.source(env, frame, *src, 0)?, warp.defined[index])
            }
        };
        let memory = &mut env.ctas[warp.cta].tensor;
        for (lane, &word) in row.iter().enumerate() {
            let (at, column) = cell(mv, place, lane, reg);
            let value = (defined >> lane & 1 == 1).then_some(word as u32);
            if mv.packed {
                memory.set(at, column, value.map(|v| v & 0xffff));
                memory.set(at, column + 1, value.map(|v| v >> 16));
            } else {
                memory.set(at, column, value);
            }
        }
    }
    Ok(())
}
