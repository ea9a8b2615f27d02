//! `mma.sync` (PTX ISA 9.7.14.5).

use super::fragment::{a_position, b_position, c_position, elements};
use super::{product, rough, volta};
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::matrix::product::canonical;
use crate::num::format::{E4M3, f16_to_f32, f32_to_f16, scale};
use crate::program::inst::{AccTy, BlockScale, MatTy, Mma, Product, Src};
use crate::program::{LANES, Row};

/// The compute capability whose `mma.sync` adds products of 8-bit floats with few bits ([`rough`]), so many at a time.
const ROUGH: u32 = 89;
const ROUGH_STEP: usize = 16;

/// 4-bit floating-point data is packed when k says so.
fn packed(mma: &Mma) -> bool {
    mma.product.a_ty == MatTy::E2M1
        && mma.product.b_ty == MatTy::E2M1
        && mma.product.k >= if mma.sparse.is_some() { 128 } else { 64 }
}

fn per_register(ty: MatTy, packed: bool) -> usize {
    let bits = ty.container_bits(packed);
    if bits == 64 { 1 } else { (32 / bits) as usize }
}

/// Registers of the accumulator.
fn accumulator_registers(m: usize, n: usize, ty: AccTy) -> usize {
    m * n / LANES / if ty == AccTy::F16 { 2 } else { 1 }
}

/// Checks that the operands fit the shape.
pub fn check(mma: &Mma) -> Result<(), String> {
    let Product { m, n, k, .. } = mma.product;
    if !matches!((m, n), (8, 8) | (16, 8)) {
        return Err("mma has no such shape".into());
    }
    if volta::is(mma) {
        return volta::check(mma);
    }
    if !(mma.a_row && mma.b_col) {
        return Err("A must be .row and B .col".into());
    }
    let stored_k = if mma.sparse.is_some() { k / 2 } else { k };
    let want = [
        (
            "A",
            mma.product.a.len(),
            m * stored_k / LANES / per_register(mma.product.a_ty, packed(mma)),
        ),
        (
            "B",
            mma.product.b.len(),
            n * k / LANES / per_register(mma.product.b_ty, packed(mma)),
        ),
        (
            "C",
            mma.product.c.len(),
            accumulator_registers(m, n, mma.product.c_ty),
        ),
        (
            "D",
            mma.product.d.len(),
            accumulator_registers(m, n, mma.product.d_ty),
        ),
    ];
    for (name, found, wanted) in want {
        if found != wanted || wanted == 0 {
            return Err(format!(
                "{name} has {found} registers, the shape and types need {wanted}"
            ));
        }
    }
    Ok(())
}

fn rows(env: &Env<'_>, warp: &Warp, frame: Frame, srcs: &[Src]) -> Result<Vec<Row>, Trap> {
    srcs.iter()
        .map(|&s| warp.source(env, frame, s, u32::MAX))
        .collect()
}

/// Executes the instruction; all 32 lanes take part.
pub fn execute(env: &mut Env<'_>, warp: &mut Warp, frame: Frame, mma: &Mma) -> Result<(), Trap> {
    let (a, b) = (
        rows(env, warp, frame, &mma.product.a)?,
        rows(env, warp, frame, &mma.product.b)?,
    );
    let c = rows(env, warp, frame, &mma.product.c)?;
    let sparsity = match mma.sparse {
        Some((metadata, selector)) => {
            Some((warp.source(env, frame, metadata, u32::MAX)?, selector))
        }
        None => None,
    };
    let multiply_adds = mma.product.m * mma.product.n * mma.product.k;
    env.count_matrix(multiply_adds);
    env.matrix_span(warp, multiply_adds);
    let d = if env.skips_products() {
        c
    } else if volta::is(mma) {
        volta::products(mma, &a, &b, &c)
    } else if mma.product.a_ty == MatTy::F64 {
        double(mma, &a, &b, &c)
    } else if mma.product.a_ty.is_integer() {
        integer(mma, &a, &b, &c, sparsity.as_ref())?
    } else {
        let scales = mma
            .scale
            .map(|s| Scales::read(env, warp, frame, s))
            .transpose()?;
        let rough = env.shared.program.target.0 == ROUGH && scales.is_none();
        real(mma, &a, &b, &c, sparsity.as_ref(), scales.as_ref(), rough)?
    };
    for (reg, row) in mma.product.d.iter().zip(&d) {
        warp.set(frame, *reg, u32::MAX, row);
    }
    Ok(())
}

/// A dense A of m × k from its fragment, expanded by 2:4 metadata if there is any.
fn dense_a<T: Copy + Default>(
    mma: &Mma,
    rows: &[Row],
    sparsity: Option<&(Row, u32)>,
    value: impl Fn(u64) -> T,
) -> Result<Vec<T>, Trap> {
    let stored_k = if sparsity.is_some() {
        mma.product.k / 2
    } else {
        mma.product.k
    };
    let bits = mma.product.a_ty.container_bits(packed(mma));
    let mut stored = vec![T::default(); mma.product.m * stored_k];
    elements(rows, bits, |lane, reg, i, word| {
        let (row, k) = a_position(
            lane,
            reg,
            i,
            per_register(mma.product.a_ty, packed(mma)),
            mma.product.m,
        );
        stored[row * stored_k + k] = value(word);
    });
    match sparsity {
        None => Ok(stored),
        Some((metadata, selector)) => super::sparse::expand(
            mma.product.m,
            mma.product.k,
            bits,
            &stored,
            metadata,
            *selector,
        ),
    }
}

fn dense_b<T: Copy + Default>(mma: &Mma, rows: &[Row], value: impl Fn(u64) -> T) -> Vec<T> {
    let mut b = vec![T::default(); mma.product.k * mma.product.n];
    elements(
        rows,
        mma.product.b_ty.container_bits(packed(mma)),
        |lane, reg, i, word| {
            let (k, column) = b_position(lane, reg, i, per_register(mma.product.b_ty, packed(mma)));
            b[k * mma.product.n + column] = value(word);
        },
    );
    b
}

fn real(
    mma: &Mma,
    a: &[Row],
    b: &[Row],
    c: &[Row],
    sparsity: Option<&(Row, u32)>,
    scales: Option<&Scales>,
    rough: bool,
) -> Result<Vec<Row>, Trap> {
    let pack = packed(mma);
    let mut a = dense_a(mma, a, sparsity, |bits| mma.product.a_ty.real(bits, pack))?;
    let mut b = dense_b(mma, b, |bits| mma.product.b_ty.real(bits, pack));
    if let Some(scales) = scales {
        scales.apply(mma, &mut a, &mut b);
    }
    let mut d = read_reals(c, mma.product.c_ty, mma.product.m, mma.product.n);
    let Product { n, k, .. } = mma.product;
    let (a_ty, b_ty) = (mma.product.a_ty, mma.product.b_ty);
    if rough && rough::is(a_ty, b_ty) {
        let sizes = [n, k, ROUGH_STEP];
        rough::products(&mut d, mma.product.d_ty, (&a, a_ty), (&b, b_ty), sizes);
    } else {
        product::reals(&mut d, &a, &b, n, k);
    }
    Ok(write_reals(
        &d,
        mma.product.d_ty,
        mma.product.m,
        mma.product.n,
        mma.product.d.len(),
    ))
}

/// A floating-point accumulator of m × n from its fragment.
pub fn read_reals(rows: &[Row], ty: AccTy, m: usize, n: usize) -> Vec<f32> {
    let mut c = vec![0f32; m * n];
    let bits = if ty == AccTy::F16 { 16 } else { 32 };
    let per_reg = 32 / bits as usize;
    elements(rows, bits, |lane, reg, i, word| {
        let (row, column) = c_position(lane, reg * per_reg + i, m);
        c[row * n + column] = if bits == 16 {
            f16_to_f32(word as u16)
        } else {
            f32::from_bits(word as u32)
        };
    });
    c
}

/// The fragment of a floating-point accumulator.
pub fn write_reals(d: &[f32], ty: AccTy, m: usize, n: usize, registers: usize) -> Vec<Row> {
    let mut rows = vec![[0u64; LANES]; registers];
    for (reg, row) in rows.iter_mut().enumerate() {
        for (lane, word) in row.iter_mut().enumerate() {
            let at = |i: usize| {
                let (row, column) = c_position(lane, i, m);
                d[row * n + column]
            };
            *word = if ty == AccTy::F16 {
                u64::from(f32_to_f16(at(2 * reg))) | u64::from(f32_to_f16(at(2 * reg + 1))) << 16
            } else {
                canonical(at(reg))
            };
        }
    }
    rows
}

fn double(mma: &Mma, a: &[Row], b: &[Row], c: &[Row]) -> Vec<Row> {
    let a = dense_a(mma, a, None, f64::from_bits).unwrap_or_default();
    let b = dense_b(mma, b, f64::from_bits);
    let mut d = vec![0f64; mma.product.m * mma.product.n];
    elements(c, 64, |lane, reg, _, word| {
        let (row, column) = c_position(lane, reg, mma.product.m);
        d[row * mma.product.n + column] = f64::from_bits(word);
    });
    product::doubles(&mut d, &a, &b, mma.product.n, mma.product.k);
    let fragment = |reg: usize| {
        std::array::from_fn(|lane| {
            let (row, column) = c_position(lane, reg, mma.product.m);
            d[row * mma.product.n + column].to_bits()
        })
    };
    (0..mma.product.d.len()).map(fragment).collect()
}

fn integer(
    mma: &Mma,
    a: &[Row],
    b: &[Row],
    c: &[Row],
    sparsity: Option<&(Row, u32)>,
) -> Result<Vec<Row>, Trap> {
    let a = dense_a(mma, a, sparsity, |bits| mma.product.a_ty.integer(bits))?;
    let b = dense_b(mma, b, |bits| mma.product.b_ty.integer(bits));
    let mut d = vec![0i64; mma.product.m * mma.product.n];
    elements(c, 32, |lane, reg, _, word| {
        let (row, column) = c_position(lane, reg, mma.product.m);
        d[row * mma.product.n + column] = i64::from(word as u32 as i32);
    });
    if mma.product.a_ty == MatTy::B1 && !mma.product.bit_and {
        product::xor_popcounts(&mut d, &a, &b, mma.product.n, mma.product.k);
    } else {
        product::integers(&mut d, &a, &b, mma.product.n, mma.product.k);
    }
    let fragment = |reg: usize| {
        std::array::from_fn(|lane| {
            let (row, column) = c_position(lane, reg, mma.product.m);
            product::integer_result(d[row * mma.product.n + column], mma.product.saturate)
        })
    };
    Ok((0..mma.product.d.len()).map(fragment).collect())
}

/// Block scales, one per row of A (column of B) and part of k (PTX ISA 9.7.14.3).
struct Scales {
    vectors: usize,
    e4m3: bool,
    a: (Row, usize, usize),
    b: (Row, usize, usize),
}

impl Scales {
    fn read(env: &Env<'_>, warp: &Warp, frame: Frame, scale: BlockScale) -> Result<Scales, Trap> {
        let one = |(data, byte, thread): (Src, Src, Src)| -> Result<(Row, usize, usize), Trap> {
            let fetch = |src| warp.source(env, frame, src, u32::MAX);
            Ok((
                fetch(data)?,
                fetch(byte)?[0] as usize & 3,
                fetch(thread)?[0] as usize & 3,
            ))
        };
        Ok(Scales {
            vectors: scale.vectors,
            e4m3: scale.e4m3,
            a: one(scale.a)?,
            b: one(scale.b)?,
        })
    }

    fn value(&self, bits: u64) -> f32 {
        let bits = bits & 0xff;
        if self.e4m3 {
            return E4M3.decode(bits & 0x7f) as f32;
        }
        if bits == 255 {
            f32::NAN
        } else {
            scale(1.0, bits as i32 - 127) as f32
        }
    }

    fn apply(&self, mma: &Mma, a: &mut [f32], b: &mut [f32]) {
        let part = mma.product.k / self.vectors;
        for (i, x) in a.iter_mut().enumerate() {
            let (row, k) = (i / mma.product.k, i % mma.product.k);
            // Threads 4g + pair*2 + {0, 1} hold the scales of rows g and g + 8.
            let (data, byte, thread) = &self.a;
            let lane = row % 8 * 4 + (thread & 1) * 2 + row / 8;
            *x *= self.value(data[lane] >> (8 * (byte + k / part)));
        }
        for (i, y) in b.iter_mut().enumerate() {
            let (k, column) = (i / mma.product.n, i % mma.product.n);
            let (data, byte, thread) = &self.b;
            *y *= self.value(data[column * 4 + thread] >> (8 * (byte + k / part)));
        }
    }
}
