//! The operands of a product, gathered when it happens.

use super::{ROWS, stored_k};
use crate::exec::fault::Trap;
use crate::matrix::descriptor::Descriptor;
use crate::matrix::fragment::{a_position, c_position, elements};
use crate::matrix::mma::{read_reals, write_reals};
use crate::matrix::{product, rough};
use crate::program::Row;
use crate::program::inst::{MatTy, Wgmma};

/// A matrix in shared memory: `count` rows of `k` elements from row `first`.
struct SharedOperand<'d> {
    descriptor: &'d Descriptor,
    ty: MatTy,
    first: usize,
    count: usize,
    k: usize,
    mn_major: bool,
}

pub struct Operands<'s> {
    pub w: &'s Wgmma,
    pub shared: &'s [u8],
    pub a: Option<Descriptor>,
    pub a_regs: Option<Vec<Row>>,
    pub b: Descriptor,
    pub first: usize,
    pub metadata: Option<Row>,
}

impl Operands<'_> {
    /// The elements of a shared operand, with their row and k.
    fn shared_matrix(&self, from: &SharedOperand<'_>, mut put: impl FnMut(usize, usize, u64)) {
        let &SharedOperand {
            descriptor: d,
            ty,
            first,
            count,
            k,
            mn_major,
        } = from;
        let chunk_at = |at: u64| -> [u8; 16] {
            let mut chunk = [0; 16];
            if let Some(bytes) = self.shared.get(at as usize..at as usize + 16) {
                chunk.copy_from_slice(bytes);
            }
            chunk
        };
        let bits = ty.container_bits(false) as usize;
        let all = (1u128 << bits) - 1;
        let element =
            |chunk: &[u8; 16], i: usize| (u128::from_le_bytes(*chunk) >> (i * bits) & all) as u64;
        if mn_major {
            for k in 0..k {
                for c in 0..count / 8 {
                    let chunk = chunk_at(d.mn_major_chunk(first / 8 + c, k));
                    for i in 0..8 {
                        put(c * 8 + i, k, element(&chunk, i));
                    }
                }
            }
            return;
        }
        let per_chunk = 128 / bits;
        for mn in 0..count {
            for c in 0..k / per_chunk {
                let chunk = chunk_at(d.k_major_chunk(first + mn, c));
                for i in 0..per_chunk {
                    put(mn, c * per_chunk + i, element(&chunk, i));
                }
            }
        }
    }

    /// A as \[16\]\[k\] and B as \[k\]\[n\].
    fn matrices<T: Copy + Default>(
        &self,
        a_value: impl Fn(u64) -> T,
        b_value: impl Fn(u64) -> T,
    ) -> Result<(Vec<T>, Vec<T>), Trap> {
        let (w, k, n) = (self.w, self.w.k, self.w.n);
        let stored = stored_k(w);
        let (mut a, mut b) = (vec![T::default(); ROWS * stored], vec![T::default(); k * n]);
        let bits = w.a_ty.container_bits(false);
        if let Some(rows) = &self.a_regs {
            elements(rows, bits, |lane, reg, i, word| {
                let (row, kk) = a_position(lane, reg, i, (32 / bits) as usize, ROWS);
                a[row * stored + kk] = a_value(word);
            });
        } else if let Some(descriptor) = &self.a {
            let operand = SharedOperand {
                descriptor,
                ty: w.a_ty,
                first: self.first,
                count: ROWS,
                k: stored,
                mn_major: w.a_mn_major,
            };
            self.shared_matrix(&operand, |m, kk, x| a[m * stored + kk] = a_value(x));
        }
        if let (Some((_, selector)), Some(metadata)) = (w.sparse, &self.metadata) {
            a = crate::matrix::sparse::expand(ROWS, k, bits, &a, metadata, selector)?;
        }
        let operand = SharedOperand {
            descriptor: &self.b,
            ty: w.b_ty,
            first: 0,
            count: n,
            k,
            mn_major: w.b_mn_major,
        };
        self.shared_matrix(&operand, |nn, kk, x| b[kk * n + nn] = b_value(x));
        Ok((a, b))
    }

    pub fn reals(&self, old: &[Row]) -> Result<Vec<Row>, Trap> {
        let w = self.w;
        let sign = |negate: bool| if negate { -1.0 } else { 1.0 };
        let (sa, sb) = (sign(w.negate_a), sign(w.negate_b));
        let (a, b) = self.matrices(
            |x| sa * w.a_ty.real(x, false),
            |x| sb * w.b_ty.real(x, false),
        )?;
        let mut d = read_reals(old, w.d_ty, ROWS, w.n);
        if rough::is(w.a_ty, w.b_ty) {
            let sizes = [w.n, w.k, w.k];
            rough::products(&mut d, w.d_ty, (&a, w.a_ty), (&b, w.b_ty), sizes);
        } else {
            product::reals(&mut d, &a, &b, w.n, w.k);
        }
        Ok(write_reals(&d, w.d_ty, ROWS, w.n, old.len()))
    }

    pub fn integers(&self, old: &[Row]) -> Result<Vec<Row>, Trap> {
        let w = self.w;
        let (a, b) = self.matrices(|x| w.a_ty.integer(x), |x| w.b_ty.integer(x))?;
        let mut d = vec![0i64; ROWS * w.n];
        elements(old, 32, |lane, reg, _, word| {
            let (row, column) = c_position(lane, reg, ROWS);
            d[row * w.n + column] = i64::from(word as u32 as i32);
        });
        product::integers(&mut d, &a, &b, w.n, w.k);
        let fragment = |reg: usize| {
            std::array::from_fn(|lane| {
                let (row, column) = c_position(lane, reg, ROWS);
                product::integer_result(d[row * w.n + column], w.saturate)
            })
        };
        Ok((0..old.len()).map(fragment).collect())
    }
}
