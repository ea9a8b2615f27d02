//! `ldmatrix`, `stmatrix` and `movmatrix` (PTX ISA 9.7.14.5.15-17).

use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::memory::{Place, addresses, place, read, write};
use crate::exec::warp::Warp;
use crate::program::inst::{MatrixMove, MatrixShape, Reg, Src};
use crate::program::{LANES, Row};

/// Reads `bytes` bytes of a matrix row.
fn read_row(
    env: &mut Env<'_>,
    warp: &mut Warp,
    mv: &MatrixMove,
    lane: usize,
    address: u64,
    bytes: usize,
) -> Result<Vec<u8>, Trap> {
    let at = shared_row(env, warp, mv, address, 16)?;
    let Place::Shared { cta, offset } = at else {
        return Err(Trap::new("a matrix row is not in shared memory"));
    };
    let mut row = Vec::with_capacity(bytes);
    for i in (0..bytes as u64).step_by(8) {
        let n = (bytes as u64 - i).min(8) as u32;
        let word = read(
            env,
            warp,
            lane,
            Place::Shared {
                cta,
                offset: offset + i,
            },
            n,
        )?;
        row.extend_from_slice(&word.to_le_bytes()[..n as usize]);
    }
    Ok(row)
}

fn shared_row(
    env: &Env<'_>,
    warp: &Warp,
    mv: &MatrixMove,
    address: u64,
    align: u64,
) -> Result<Place, Trap> {
    if !address.is_multiple_of(align) {
        return Err(Trap::new(format!(
            "matrix row address {address:#x} is no multiple of {align}"
        )));
    }
    match place(env, warp, mv.address.space, address)? {
        found @ Place::Shared { .. } => Ok(found),
        _ => Err(Trap::new(format!(
            "matrix row address {address:#x} is not in shared memory"
        ))),
    }
}

/// `ldmatrix` and `stmatrix`; all 32 lanes take part.
pub fn execute(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    mv: &MatrixMove,
) -> Result<(), Trap> {
    let base = if mv.shape == MatrixShape::M8n8B16 && mv.regs.len() < 4 {
        // Only the first lanes give addresses.
        let used = (1u64 << (8 * mv.regs.len())) as u32 - 1;
        addresses(env, warp, frame, &mv.address, used)?
    } else {
        addresses(env, warp, frame, &mv.address, address_lanes(mv))?
    };
    env.note_rows(warp, &base, address_lanes(mv).count_ones() as usize);
    match (mv.shape, mv.store) {
        (MatrixShape::M8n8B16, false) => load_b16(env, warp, frame, mv, &base),
        (MatrixShape::M8n8B16, true) => store_b16(env, warp, frame, mv, &base),
        (MatrixShape::M16n8B8, true) => store_b8(env, warp, frame, mv, &base),
        (
            MatrixShape::M16n16B8
            | MatrixShape::M16n16Unpack { .. }
            | MatrixShape::M8n16Unpack { .. },
            false,
        ) => load_b8(env, warp, frame, mv, &base),
        _ => Err(Trap::new(
            "this matrix shape is not simulated in this direction",
        )),
    }
}

fn address_lanes(mv: &MatrixMove) -> u32 {
    let lanes = match mv.shape {
        MatrixShape::M16n16B8 | MatrixShape::M16n16Unpack { .. } => 16 * (mv.regs.len() / 2),
        MatrixShape::M16n8B8 => 8 * mv.regs.len(),
        _ => 8 * mv.regs.len(),
    };
    ((1u64 << lanes.min(32)) - 1) as u32
}

fn load_b16(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    mv: &MatrixMove,
    base: &Row,
) -> Result<(), Trap> {
    for (matrix, &reg) in mv.regs.iter().enumerate() {
        let mut cells = [[0u64; 8]; 8];
        for (row, line) in cells.iter_mut().enumerate() {
            let lane = matrix * 8 + row;
            let bytes = read_row(env, warp, mv, lane, base[lane], 16).map_err(|t| t.at(lane))?;
            for (cell, pair) in line.iter_mut().zip(bytes.chunks_exact(2)) {
                *cell = u64::from(pair[0]) | u64::from(pair[1]) << 8;
            }
        }
        let value: Row = std::array::from_fn(|lane| {
            let (outer, inner) = (lane / 4, lane % 4 * 2);
            let at = |i: usize| {
                if mv.trans {
                    cells[inner + i][outer]
                } else {
                    cells[outer][inner + i]
                }
            };
            at(0) | at(1) << 16
        });
        set(warp, frame, reg, &value);
    }
    Ok(())
}

fn set(warp: &mut Warp, frame: Frame, reg: Src, value: &Row) {
    if let Src::Reg(row) = reg {
        warp.set(frame, Reg(row), u32::MAX, value);
    }
}

fn store_b16(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    mv: &MatrixMove,
    base: &Row,
) -> Result<(), Trap> {
    for (matrix, &reg) in mv.regs.iter().enumerate() {
        let value = warp.source(env, frame, reg, u32::MAX)?;
        let cell = |row: usize, column: usize| {
            let (outer, inner) = if mv.trans {
                (column, row)
            } else {
                (row, column)
            };
            value[outer * 4 + inner / 2] >> (16 * (inner % 2)) & 0xffff
        };
        for row in 0..8 {
            let lane = matrix * 8 + row;
            let Place::Shared { cta, offset } =
                shared_row(env, warp, mv, base[lane], 16).map_err(|t| t.at(lane))?
            else {
                continue;
            };
            for half in 0..2 {
                let word = (0..4).fold(0, |w, i| w | cell(row, 4 * half + i) << (16 * i));
                let at = Place::Shared {
                    cta,
                    offset: offset + 8 * half as u64,
                };
                write(env, warp, lane, at, 8, word).map_err(|t| t.at(lane))?;
            }
        }
    }
    Ok(())
}

/// `stmatrix.m16n8.trans.b8`: each matrix is 16 × 8 bytes, stored transposed as 8 rows of 16.
fn store_b8(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    mv: &MatrixMove,
    base: &Row,
) -> Result<(), Trap> {
    for (matrix, &reg) in mv.regs.iter().enumerate() {
        let value = warp.source(env, frame, reg, u32::MAX)?;
        // Lane l holds column l / 4, rows 4 (l % 4) + 0..3.
        for column in 0..8 {
            let lane = matrix * 8 + column;
            let Place::Shared { cta, offset } =
                shared_row(env, warp, mv, base[lane], 16).map_err(|t| t.at(lane))?
            else {
                continue;
            };
            for part in 0..4 {
                let at = Place::Shared {
                    cta,
                    offset: offset + 4 * part as u64,
                };
                write(env, warp, lane, at, 4, value[column * 4 + part]).map_err(|t| t.at(lane))?;
            }
        }
    }
    Ok(())
}

/// `ldmatrix` of bytes: 16 × 16 transposed, and the forms that expand 6-bit or 4-bit rows to bytes.
fn load_b8(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    mv: &MatrixMove,
    base: &Row,
) -> Result<(), Trap> {
    let transposed = !matches!(mv.shape, MatrixShape::M8n16Unpack { .. });
    let rows_per = if transposed { 16 } else { 8 };
    let matrices = if transposed {
        mv.regs.len() / 2
    } else {
        mv.regs.len()
    };
    for matrix in 0..matrices {
        let mut cells = vec![[0u8; 16]; rows_per];
        for (row, line) in cells.iter_mut().enumerate() {
            let lane = matrix * rows_per + row;
            let bytes = read_row(env, warp, mv, lane, base[lane], 16).map_err(|t| t.at(lane))?;
            *line = unpack(mv.shape, &bytes);
        }
        if !transposed {
            let value: Row = std::array::from_fn(|lane| {
                let line = &cells[lane / 4];
                (0..4).fold(0, |w, i| w | u64::from(line[lane % 4 * 4 + i]) << (8 * i))
            });
            set(warp, frame, mv.regs[matrix], &value);
            continue;
        }
        for half in 0..2 {
            let value: Row = std::array::from_fn(|lane| {
                (0..4).fold(0, |w, i| {
                    w | u64::from(cells[lane % 4 * 4 + i][lane / 4 + 8 * half]) << (8 * i)
                })
            });
            set(warp, frame, mv.regs[matrix * 2 + half], &value);
        }
    }
    Ok(())
}

/// 16 elements of a row as bytes: 6-bit ones as 00xxxxxx, 4-bit ones as 00xxxx00.
fn unpack(shape: MatrixShape, bytes: &[u8]) -> [u8; 16] {
    let bit_field = |i: usize, width: usize| {
        let start = i * width;
        let pair = u16::from(bytes[start / 8])
            | u16::from(bytes.get(start / 8 + 1).copied().unwrap_or(0)) << 8;
        (pair >> (start % 8)) as u8 & ((1 << width) - 1)
    };
    match shape {
        MatrixShape::M8n16Unpack { six: true } | MatrixShape::M16n16Unpack { six: true } => {
            std::array::from_fn(|i| bit_field(i, 6))
        }
        MatrixShape::M8n16Unpack { six: false } | MatrixShape::M16n16Unpack { six: false } => {
            std::array::from_fn(|i| bit_field(i, 4) << 2)
        }
        _ => std::array::from_fn(|i| bytes[i]),
    }
}

/// `movmatrix.sync.aligned.m8n8.trans.b16`
pub fn transpose(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    dst: Reg,
    src: Src,
) -> Result<(), Trap> {
    let value = warp.source(env, frame, src, u32::MAX)?;
    let cell =
        |row: usize, column: usize| value[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff;
    let result: Row = std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        cell(column, row) | cell(column + 1, row) << 16
    });
    debug_assert_eq!(result.len(), LANES);
    warp.set(frame, dst, u32::MAX, &result);
    Ok(())
}
