//! Scale factors of block-scaled `mma.sync`: which thread holds which, and how an instruction selects its own.
//!
//! An instruction takes one, two or four scales of each row of A (column of B), bytes of a 32-bit register of some
//! threads of each quad: of a pair for A (its rows `lane / 4` and `lane / 4 + 8`), of one thread for B. Selectors say
//! which pair or thread, and which bytes. So a register holds the scales of several instructions: of further steps
//! along K first, then of further rows (columns).
//!
//! Source: PTX ISA, "Block Scaling for mma.sync".

use super::mma::MmaSync;
use super::shape::log2;
use super::{Layout, LayoutError, Shape};

/// Bytes of a register.
const BYTES: u64 = 4;

/// An operand of a matmul.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    A,
    B,
}

impl Side {
    /// Threads of a quad, or pairs of them, that an instruction can select.
    fn choices(self) -> u64 {
        match self {
            Side::A => 2,
            Side::B => 4,
        }
    }

    /// Where the scales of an instruction are. `first`: the number of the first of them, counting the scales of a
    /// row (column), then rows (columns) one instruction apart.
    pub fn select(self, first: u64) -> Selector {
        Selector {
            word: first / (BYTES * self.choices()),
            thread: first / BYTES % self.choices(),
            byte: first % BYTES,
        }
    }
}

/// Where an instruction finds its scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    /// Which of a thread's registers.
    pub word: u64,
    /// Thread of each quad, or pair of them.
    pub thread: u64,
    /// The first byte.
    pub byte: u64,
}

/// The scales of a tile multiplied with block-scaled `mma.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MmaScales {
    pub mma: MmaSync,
    /// Scales of a row of A, and of a column of B.
    pub along_k: u64,
}

impl MmaScales {
    /// Scales that an instruction takes of each row.
    pub fn per_instruction(&self) -> u64 {
        let steps = self.mma.tile.k / self.mma.instruction.k.max(1);
        self.along_k / steps.max(1)
    }

    /// The layout of A's scales, an `m` × `along_k` tile.
    pub fn a(&self) -> Result<Layout, LayoutError> {
        let (m, i) = (&self.mma, self.check()?);
        let shape = Shape::new(&[m.tile.m, self.along_k])?;
        let own = parts(&shape, 0, i.m, m.tile.m / m.warps_m.max(1))?;
        let mut items = self.items(&shape, 1, own)?;
        let pair = items.thread(1);
        let row = |n| shape.along(0, n);
        let lanes = vec![row(8), pair[0], row(1), row(2), row(4)];
        let mut warps = parts(&shape, 0, m.tile.m / m.warps_m.max(1), m.tile.m)?;
        warps.extend(zeros(m.warps_n)?);
        Layout::distributed(shape, items.registers(), lanes, warps)
    }

    /// The layout of B's scales, an `along_k` × `n` tile.
    pub fn b(&self) -> Result<Layout, LayoutError> {
        let (m, i) = (&self.mma, self.check()?);
        let shape = Shape::new(&[self.along_k, m.tile.n])?;
        let each = m.tile.n / m.own_n();
        let own = parts(&shape, 1, i.n, each)?;
        let mut items = self.items(&shape, 0, own)?;
        let quad = items.thread(2);
        let column = |n| shape.along(1, n);
        let lanes = vec![quad[0], quad[1], column(1), column(2), column(4)];
        let mut warps = zeros(m.warps_m)?;
        warps.extend(parts(&shape, 1, each, m.tile.n)?);
        warps.extend(zeros(m.warps_n / m.own_n())?);
        Layout::distributed(shape, items.registers(), lanes, warps)
    }

    /// The shape of an instruction that takes such scales.
    fn check(&self) -> Result<super::mma::MatmulShape, LayoutError> {
        let i = self.mma.check()?;
        match (self.mma.element_bits, self.per_instruction()) {
            (8, 1) | (4, 2 | 4) => Ok(i),
            (bits, many) => Err(LayoutError::Unsupported(format!(
                "mma.sync takes no {many} scales of {} elements of {bits} bits",
                i.k
            ))),
        }
    }

    /// The scales of one row (column) along K, then `others`.
    fn items(&self, shape: &Shape, k_dim: usize, others: Vec<u64>) -> Result<Items, LayoutError> {
        let mut bits = parts(shape, k_dim, 1, self.along_k)?;
        bits.extend(others);
        Ok(Items {
            bytes: bits.iter().copied().take(2).collect(),
            rest: bits.get(2..).unwrap_or(&[]).to_vec(),
        })
    }
}

/// Scales as basis vectors: of the bytes of a register, then what is not placed yet.
struct Items {
    bytes: Vec<u64>,
    rest: Vec<u64>,
}

impl Items {
    /// Takes what the selectable `bits` of a lane's number hold: nothing more where all is placed.
    fn thread(&mut self, bits: usize) -> Vec<u64> {
        let many = bits.min(self.rest.len());
        let mut taken: Vec<u64> = self.rest.drain(..many).collect();
        taken.resize(bits, 0);
        taken
    }

    fn registers(self) -> Vec<u64> {
        self.bytes.into_iter().chain(self.rest).collect()
    }
}

/// The bits of coordinates from `from` up to `to` along a dimension.
fn parts(shape: &Shape, dim: usize, from: u64, to: u64) -> Result<Vec<u64>, LayoutError> {
    let (first, last) = (log2("part of a tile", from)?, log2("part of a tile", to)?);
    Ok((first..last).map(|b| shape.along(dim, 1 << b)).collect())
}

/// Warps that hold the same.
fn zeros(warps: u64) -> Result<Vec<u64>, LayoutError> {
    Ok(vec![0; log2("number of warps", warps)? as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::mma::{MatmulShape, Paired};

    fn scales(tile: [u64; 3], k: u64, bits: u32, block: u64, warps: [u64; 2]) -> MmaScales {
        let [m, n, tile_k] = tile;
        let mma = MmaSync {
            tile: MatmulShape { m, n, k: tile_k },
            instruction: MatmulShape { m: 16, n: 8, k },
            element_bits: bits,
            warps_m: warps[0],
            warps_n: warps[1],
            batch: None,
            paired: Paired::NONE,
        };
        MmaScales {
            mma,
            along_k: tile_k / block,
        }
    }

    /// Each instruction of each warp finds, by its selectors, the scales of its rows and columns: the PTX ISA's
    /// words on thread-id-a (pairs of lanes), thread-id-b (lanes) and byte ids.
    fn check(s: MmaScales) {
        let (a, b) = (s.a().unwrap(), s.b().unwrap());
        let (m, i, per) = (&s.mma, s.mma.instruction, s.per_instruction());
        let steps = m.tile.k / i.k;
        let [own_m, own_n] = [m.tile.m / m.warps_m, m.tile.n / m.own_n()];
        for warp in 0..m.warps_m * m.warps_n {
            let first_row = warp % m.warps_m * own_m;
            let first_column = warp / m.warps_m % m.own_n() * own_n;
            for step in 0..steps {
                let scale = |j| step * per + j;
                for tile in 0..own_m / i.m {
                    let at = Side::A.select((tile * steps + step) * per);
                    assert!(at.byte + per <= 4 && at.thread < 2);
                    for (row, j) in (0..16).flat_map(|r| (0..per).map(move |j| (r, j))) {
                        let lane = row % 8 * 4 + at.thread * 2 + row / 8;
                        let got = a.coords(at.word * 4 + at.byte + j, lane, warp);
                        assert_eq!(got.as_slice(), &[first_row + tile * 16 + row, scale(j)]);
                    }
                }
                for tile in 0..own_n / i.n {
                    let at = Side::B.select((tile * steps + step) * per);
                    assert!(at.byte + per <= 4 && at.thread < 4);
                    for (column, j) in (0..8).flat_map(|c| (0..per).map(move |j| (c, j))) {
                        let lane = column * 4 + at.thread;
                        let got = b.coords(at.word * 4 + at.byte + j, lane, warp);
                        assert_eq!(
                            got.as_slice(),
                            &[scale(j), first_column + tile * 8 + column]
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_instruction_finds_its_scales() {
        for tile in [[16, 8, 64], [32, 32, 64], [64, 128, 128], [128, 64, 256]] {
            for warps in [[1, 1], [2, 1], [1, 2], [2, 4]] {
                if tile[0] < 16 * warps[0] {
                    continue;
                }
                check(scales(tile, 32, 8, 32, warps));
                check(scales(tile, 64, 4, 32, warps));
                check(scales(tile, 64, 4, 16, warps));
            }
        }
        check(scales([16, 8, 32], 32, 8, 32, [1, 1]));
    }

    #[test]
    fn other_blocks_are_refused() {
        assert!(scales([16, 8, 64], 32, 8, 16, [1, 1]).a().is_err());
        assert!(scales([16, 8, 64], 64, 4, 64, [1, 1]).b().is_err());
    }
}
