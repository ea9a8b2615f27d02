//! `wmma.load`, `wmma.store` and `wmma.mma` (PTX ISA 9.7.14.4).
//!
//! Which element lies in which register is unspecified; programs may rely only on `wmma` agreeing with itself. Here a
//! lane holds a run of the row-major matrix, and where the ISA gives a fragment more room than the matrix needs, the
//! runs start over from the beginning.

use super::fragment::elements;
use super::product;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::memory::{addresses, place, read, write};
use crate::exec::warp::Warp;
use crate::matrix::product::canonical;
use crate::num::format::{f16_to_f32, f32_to_f16};
use crate::program::inst::{AccTy, MatTy, Product, Reg, Src, WmmaMove};
use crate::program::{LANES, Row};

/// Elements per register.
fn per_register(bits: u32) -> usize {
    if bits == 64 { 1 } else { (32 / bits) as usize }
}

/// The matrix of `total` elements from its fragment.
fn gather<T: Copy + Default>(
    rows: &[Row],
    bits: u32,
    total: usize,
    value: impl Fn(u64) -> T,
) -> Vec<T> {
    let per_reg = per_register(bits);
    let per_lane = rows.len() * per_reg;
    let mut matrix = vec![T::default(); total];
    elements(rows, bits, |lane, reg, i, word| {
        matrix[(lane * per_lane + reg * per_reg + i) % total] = value(word);
    });
    matrix
}

/// The fragment of a matrix.
fn scatter(matrix: &[u64], bits: u32, registers: usize) -> Vec<Row> {
    let per_reg = per_register(bits);
    let per_lane = registers * per_reg;
    let one = |lane: usize, reg: usize| {
        (0..per_reg).fold(0, |word, i| {
            word | matrix[(lane * per_lane + reg * per_reg + i) % matrix.len()]
                << (bits as usize * i)
        })
    };
    (0..registers)
        .map(|reg| std::array::from_fn(|lane| one(lane, reg)))
        .collect()
}

/// How many registers a fragment of `count` elements has at least.
pub fn registers(count: usize, bits: u32) -> usize {
    count / LANES / per_register(bits)
}

/// Byte address and bit within the byte of every element, in row-major order.
fn element_places(mv: &WmmaMove, base: u64, stride: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
    let (rows, columns) = (mv.rows as u64, mv.columns as u64);
    (0..rows * columns).map(move |i| {
        let (row, column) = (i / columns, i % columns);
        let at = if mv.row_major {
            row * stride + column
        } else {
            column * stride + row
        };
        let bit = at * u64::from(mv.bits);
        (base.wrapping_add(bit / 8), (bit % 8) as u32)
    })
}

/// `wmma.load` and `wmma.store`; all 32 lanes take part and agree on the address.
pub fn execute_move(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    mv: &WmmaMove,
) -> Result<(), Trap> {
    let base = uniform(
        &addresses(env, warp, frame, &mv.address, u32::MAX)?,
        "an address",
    )?;
    let least = if mv.row_major { mv.columns } else { mv.rows } as u64;
    let stride = match mv.stride {
        Some(src) => uniform(&warp.source(env, frame, src, u32::MAX)?, "a stride")? & 0xffff_ffff,
        None => least,
    };
    if stride < least {
        return Err(Trap::new(format!(
            "wmma stride {stride} is less than the {least} elements of a row or column"
        )));
    }
    // PTX ISA 9.7.14.4.2: the fragment's size in bytes, 32 for what a lane holds 8 registers of.
    if base % 16 != 0 && mv.bits < 64 {
        return Err(Trap::new(format!(
            "wmma address {base:#x} is no multiple of 16"
        )));
    }
    let (size, mask) = (mv.bits.div_ceil(8), crate::num::int::mask(mv.bits));
    let places: Vec<_> = element_places(mv, base, stride).collect();
    if mv.store {
        let rows = mv
            .regs
            .iter()
            .map(|&s| warp.source(env, frame, s, u32::MAX))
            .collect::<Result<Vec<_>, _>>()?;
        let matrix = gather(&rows, mv.bits, mv.rows * mv.columns, |x| x);
        for ((address, _), value) in places.into_iter().zip(matrix) {
            let at = place(env, warp, mv.address.space, address)?;
            write(env, warp, 0, at, size, value)?;
        }
        return Ok(());
    }
    let mut matrix = Vec::with_capacity(places.len());
    for (address, bit) in places {
        let at = place(env, warp, mv.address.space, address)?;
        matrix.push(read(env, warp, 0, at, size)? >> bit & mask);
    }
    for (src, row) in mv.regs.iter().zip(scatter(&matrix, mv.bits, mv.regs.len())) {
        if let Src::Reg(reg) = src {
            warp.set(frame, Reg(*reg), u32::MAX, &row);
        }
    }
    Ok(())
}

fn uniform(row: &Row, what: &str) -> Result<u64, Trap> {
    match row.iter().position(|&x| x != row[0]) {
        Some(lane) => Err(Trap::lane(
            lane,
            format!("disagrees with its warp about {what} of a wmma instruction"),
        )),
        None => Ok(row[0]),
    }
}

fn accumulator_bits(ty: AccTy) -> u32 {
    match ty {
        AccTy::F16 => 16,
        AccTy::F64 => 64,
        _ => 32,
    }
}

/// `wmma.mma`
pub fn execute(env: &mut Env<'_>, warp: &mut Warp, frame: Frame, w: &Product) -> Result<(), Trap> {
    let fetch = |srcs: &[Src]| -> Result<Vec<Row>, Trap> {
        srcs.iter()
            .map(|&s| warp.source(env, frame, s, u32::MAX))
            .collect()
    };
    let (a, b, c) = (fetch(&w.a)?, fetch(&w.b)?, fetch(&w.c)?);
    let multiply_adds = w.m * w.n * w.k;
    env.count_matrix(multiply_adds);
    env.matrix_span(warp, multiply_adds);
    let (m, n, k) = (w.m, w.n, w.k);
    let (a_bits, c_bits) = (w.a_ty.container_bits(false), accumulator_bits(w.c_ty));
    let d: Vec<u64> = match w.d_ty {
        AccTy::F64 => {
            let (a, b) = (
                gather(&a, 64, m * k, f64::from_bits),
                gather(&b, 64, k * n, f64::from_bits),
            );
            let mut d = gather(&c, 64, m * n, f64::from_bits);
            product::doubles(&mut d, &a, &b, n, k);
            d.into_iter().map(f64::to_bits).collect()
        }
        AccTy::S32 => {
            let a = gather(&a, a_bits, m * k, |x| w.a_ty.integer(x));
            let b = gather(&b, a_bits, k * n, |x| w.b_ty.integer(x));
            let mut d = gather(&c, 32, m * n, |x| i64::from(x as u32 as i32));
            if w.a_ty == MatTy::B1 && !w.bit_and {
                product::xor_popcounts(&mut d, &a, &b, n, k);
            } else {
                product::integers(&mut d, &a, &b, n, k);
            }
            d.into_iter()
                .map(|sum| product::integer_result(sum, w.saturate))
                .collect()
        }
        _ => {
            let a = gather(&a, a_bits, m * k, |x| w.a_ty.real(x, false));
            let b = gather(&b, a_bits, k * n, |x| w.b_ty.real(x, false));
            let mut d = gather(&c, c_bits, m * n, |x| match w.c_ty {
                AccTy::F16 => f16_to_f32(x as u16),
                _ => f32::from_bits(x as u32),
            });
            product::reals(&mut d, &a, &b, n, k);
            d.into_iter()
                .map(|x| match w.d_ty {
                    AccTy::F16 => f32_to_f16(x).into(),
                    _ => canonical(x),
                })
                .collect()
        }
    };
    for (reg, row) in
        w.d.iter()
            .zip(scatter(&d, accumulator_bits(w.d_ty), w.d.len()))
    {
        warp.set(frame, *reg, u32::MAX, &row);
    }
    Ok(())
}
