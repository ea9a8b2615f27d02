//! A `tcgen05.mma` when it happens: operands gathered, multiplied, added to D.

use super::layout::Segment;
use super::memory::{Place, TensorMemory};
use super::operands::{codes, positions};
use super::product::{Left, Product};
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::matrix::product::{self, canonical};
use crate::num::format::{f16_to_f32, f32_to_f16};
use crate::program::inst::AccTy;
use crate::program::tensor::MmaKind;

/// A factor as it is multiplied.
trait Number: Copy + Default {
    /// From a code, with the sign that the instruction descriptor adds.
    fn of(code: u64, ty: crate::program::inst::MatTy, negate: bool, packed: bool) -> Self;
    fn scaled(self, scale: f32) -> Self;
}

impl Number for f32 {
    fn of(code: u64, ty: crate::program::inst::MatTy, negate: bool, packed: bool) -> f32 {
        let value = ty.real(code, packed);
        if negate { -value } else { value }
    }
    fn scaled(self, scale: f32) -> f32 {
        self * scale
    }
}

impl Number for i32 {
    fn of(code: u64, ty: crate::program::inst::MatTy, _: bool, _: bool) -> i32 {
        ty.integer(code)
    }
    fn scaled(self, _: f32) -> i32 {
        self
    }
}

impl Product {
    /// Multiplies.
    pub fn perform(&self, env: &mut Env<'_>) -> Result<(), Trap> {
        if self.instruction.kind == MmaKind::I8 {
            self.run::<i32>(env, |d, a, b, n, k| {
                let mut sums: Vec<i64> = d.iter().map(|&w| i64::from(w as i32)).collect();
                product::integers(&mut sums, a, b, n, k);
                let saturate = self.instruction.saturate;
                let result = |s: &i64| product::integer_result(*s, saturate) as u32;
                d.iter_mut().zip(&sums).for_each(|(w, s)| *w = result(s));
            })
        } else {
            let half = self.instruction.d == AccTy::F16;
            let factor = 0.5f32.powi(self.scale_d as i32);
            self.run::<f32>(env, |d, a, b, n, k| {
                let value = |w: &u32| {
                    let x = if half {
                        f16_to_f32(*w as u16)
                    } else {
                        f32::from_bits(*w)
                    };
                    x * factor
                };
                let mut sums: Vec<f32> = d.iter().map(value).collect();
                product::reals(&mut sums, a, b, n, k);
                for (word, &sum) in d.iter_mut().zip(&sums) {
                    *word = if half {
                        f32_to_f16(sum).into()
                    } else {
                        canonical(sum) as u32
                    };
                }
            })
        }
    }

    fn run<T: Number>(
        &self,
        env: &mut Env<'_>,
        multiply: impl Fn(&mut [u32], &[T], &[T], usize, usize),
    ) -> Result<(), Trap> {
        let b = self.right::<T>(env);
        for (index, &cta) in self.blocks.iter().enumerate() {
            for segment in self.parts() {
                let a = self.left::<T>(env, cta, &segment)?;
                let right = self.columns_of(&env.ctas[cta].tensor, &b, &segment)?;
                let mut d = self.old(&env.ctas[cta].tensor, &segment)?;
                multiply(&mut d, &a, &right, segment.count, self.instruction.k);
                let disabled = self.disabled.get(index).copied().unwrap_or(0);
                self.put(&mut env.ctas[cta].tensor, &segment, &d, disabled);
            }
        }
        Ok(())
    }

    /// The layout's segments; by quarters of the lanes where each has scale factors of its own.
    fn parts(&self) -> Vec<Segment> {
        let whole = self.layout.segments(self.instruction.n, self.d.lane);
        if self.scales.is_none() {
            return whole;
        }
        whole
            .iter()
            .flat_map(|segment| {
                segment.lanes.chunks(32).map(|lanes| Segment {
                    lanes: lanes.to_vec(),
                    ..segment.clone()
                })
            })
            .collect()
    }

    /// B, a row of k for each column.
    fn right<T: Number>(&self, env: &Env<'_>) -> Vec<Vec<T>> {
        let i = &self.instruction;
        let per_block = i.n / self.blocks.len();
        (0..i.n)
            .map(|n| {
                let shared = &env.ctas[self.blocks[n / per_block]].shared;
                if self.zero.as_ref().is_some_and(|z| z.zero[n]) {
                    return vec![T::default(); i.k];
                }
                let shift = self.zero.as_ref().map_or(0, |z| z.shift);
                let bytes = self.b.row(shared, n % per_block + shift);
                codes(i.kind, i.b, &bytes, false)
                    .into_iter()
                    .map(|c| T::of(c, i.b, i.negate.1, i.kind.is_packed()))
                    .collect()
            })
            .collect()
    }

    /// A segment's part of B as k × n, scaled.
    fn columns_of<T: Number>(
        &self,
        memory: &TensorMemory,
        b: &[Vec<T>],
        segment: &Segment,
    ) -> Result<Vec<T>, Trap> {
        let (k, count) = (self.instruction.k, segment.count);
        let quarter = segment.lanes[0].0 / 32;
        let mut result = vec![T::default(); k * count];
        for n in 0..count {
            let column = &b[segment.first_n + n];
            let scales = self.scales_of(memory, quarter, n, false)?;
            for (kk, &value) in column.iter().enumerate() {
                result[kk * count + n] = match &scales {
                    Some(scales) => value.scaled(scales[kk * scales.len() / k]),
                    None => value,
                };
            }
        }
        Ok(result)
    }

    fn scales_of(
        &self,
        memory: &TensorMemory,
        quarter: usize,
        row: usize,
        of_a: bool,
    ) -> Result<Option<Vec<f32>>, Trap> {
        let Some((a, b)) = &self.scales else {
            return Ok(None);
        };
        let factors = if of_a { a } else { b };
        (0..factors.count)
            .map(|j| factors.get(memory, quarter, row, j))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// A segment's rows of A, dense and scaled.
    fn left<T: Number>(
        &self,
        env: &Env<'_>,
        cta: usize,
        segment: &Segment,
    ) -> Result<Vec<T>, Trap> {
        let i = &self.instruction;
        let block = &env.ctas[cta];
        let mut result = vec![T::default(); segment.lanes.len() * i.k];
        for (&(lane, row), dense) in segment.lanes.iter().zip(result.chunks_exact_mut(i.k)) {
            let (bytes, inside) = match &self.a {
                Left::Shared(matrix) => (matrix.row(&block.shared, row), false),
                Left::Tensor(place) => (self.tensor_row(&block.tensor, *place, lane)?, true),
            };
            let stored: Vec<T> = codes(i.kind, i.a, &bytes, inside)
                .into_iter()
                .map(|c| T::of(c, i.a, i.negate.0, i.kind.is_packed()))
                .collect();
            match self.metadata {
                None => dense.copy_from_slice(&stored),
                Some(place) => {
                    let nibble = |g: usize| self.nibble(&block.tensor, place, lane, g);
                    for (&to, &value) in positions(i, nibble)?.iter().zip(&stored) {
                        dense[to] = value;
                    }
                }
            }
            if let Some(scales) = self.scales_of(&block.tensor, lane / 32, row, true)? {
                for (kk, x) in dense.iter_mut().enumerate() {
                    *x = x.scaled(scales[kk * scales.len() / i.k]);
                }
            }
        }
        Ok(result)
    }

    fn tensor_row(
        &self,
        memory: &TensorMemory,
        place: Place,
        lane: usize,
    ) -> Result<Vec<u8>, Trap> {
        // The rows are those of D's lanes; `.ashift` takes the next one.
        let lane = if self.shift_a && lane + 1 < super::memory::LANES {
            lane + 1
        } else {
            lane
        };
        let words = self.instruction.a_bytes() / 4;
        let mut bytes = Vec::with_capacity(4 * words);
        for column in place.column..place.column + words {
            let Some(word) = memory.get(lane, column) else {
                return Err(Trap::new(format!(
                    "tcgen05.mma reads A at lane {lane}, column {column} of tensor memory, where nothing has been written"
                )));
            };
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        Ok(bytes)
    }

    /// Metadata of one group of a lane's row (figures 262-267; CuTe's `tmem_e_frg`).
    fn nibble(
        &self,
        memory: &TensorMemory,
        place: Place,
        lane: usize,
        group: usize,
    ) -> Result<u32, Trap> {
        let (at, column, bit) = match self.instruction.kind {
            // 16 rows share a column of 16 lanes: the upper eight rows have the upper half words, the second half of k the
            // second eight lanes.
            MmaKind::F16 | MmaKind::Tf32 => {
                let column = place.column + self.instruction.selector;
                let at = lane / 16 * 16 + lane % 8 + group / 4 * 8;
                (at, column, 16 * (lane / 8 % 2) + group % 4 * 4)
            }
            _ => (lane, place.column + group / 8, group % 8 * 4),
        };
        match memory.get(at, column) {
            Some(word) => Ok(word >> bit & 15),
            None => Err(Trap::new(format!(
                "sparse tcgen05.mma reads metadata at lane {at}, column {column} of tensor memory, where nothing has been \
                 written"
            ))),
        }
    }

    fn old(&self, memory: &TensorMemory, segment: &Segment) -> Result<Vec<u32>, Trap> {
        if !self.accumulate {
            return Ok(vec![0; segment.lanes.len() * segment.count]);
        }
        let mut words = Vec::with_capacity(segment.lanes.len() * segment.count);
        for &(lane, _) in &segment.lanes {
            for column in self.d.column..self.d.column + segment.count {
                let Some(word) = memory.get(lane, column) else {
                    return Err(Trap::new(format!(
                        "tcgen05.mma adds to tensor memory at lane {lane}, column {column}, where nothing has been written; \
                         pass false as enable-input-d for the first product of a sum, or write zeros"
                    )));
                };
                words.push(word);
            }
        }
        Ok(words)
    }

    fn put(&self, memory: &mut TensorMemory, segment: &Segment, d: &[u32], disabled: u128) {
        for (&(lane, _), row) in segment.lanes.iter().zip(d.chunks_exact(segment.count)) {
            if disabled >> lane & 1 == 1 {
                continue;
            }
            for (j, &word) in row.iter().enumerate() {
                memory.set(lane, self.d.column + j, Some(word));
            }
        }
    }
}
