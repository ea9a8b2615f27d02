//! `ldmatrix` and `stmatrix`: when they fit a pair of layouts, and how they are addressed.
//!
//! They move 8×8 matrices of 16-bit units: a matrix is 8 rows of 16 contiguous bytes
//! whose addresses 8 lanes supply, and lane `i` receives (or gives) the 32 bits at column
//! pair `i % 4` of row `i / 4`; with `.trans`, the elements `2 * (i % 4)` and
//! `2 * (i % 4) + 1` of column `i / 4`; of 8-bit elements, these are two of each of two rows. Some targets load
//! 16×16 matrices of bytes, too, whose rows 16 lanes address: lane `i` receives the bytes `4 * (i % 4)` to
//! `4 * (i % 4) + 3` of column `i / 4`, and in a second register those of column `i / 4 + 8`. So they fit if the map
//! from places to offsets divides by such a tile: the lanes' offsets are those of the tile and nothing else moves
//! inside a row.
//!
//! Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix", "… store instruction:
//! stmatrix".

use super::addr::{XorGroup, group_by_xor, offset_of};
use super::bank::{Cost, Taken, moves, words_per_bank};
use super::gf2::{Matrix, Subspace, low_mask, ones};
use super::shared::SharedLayout;
use super::{In, Layout, LayoutError};

/// What one instruction moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Matrices {
    /// 8×8 units of 16 bits, a thread's along a row.
    Rows,
    /// 8×8 units of 16 bits, a thread's along a column: `.trans`.
    Columns,
    /// 16×16 bytes, a thread's along a column: `.m16n16.trans.b8`, which only loads.
    Bytes,
}

/// How a warp moves its registers with `ldmatrix` or `stmatrix`.
///
/// Lane `t` supplies the byte offset `(xor of base for the bits of tid set) ^ group.xor +
/// access.offset`, for row `t % 8` of matrix `t / 8`, of bytes for row `t % 16` of matrix `t / 16`. Lanes beyond those
/// of the matrices supply nothing that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixPlan {
    /// What it moves.
    pub kind: Matrices,
    /// Matrices per instruction: 1, 2 or 4; of bytes 1 or 2.
    pub matrices: u32,
    /// Elements in each 32-bit register.
    pub packed: u32,
    /// Byte offsets to xor for each bit of tid: (bit of tid, offset).
    pub thread_base: Vec<(u32, u64)>,
    /// The instructions. An access lists `matrices * packed` elements: those of the first
    /// 32-bit register, lowest first, then of the second, ….
    pub groups: Vec<XorGroup>,
    /// Registers that repeat another: (register, the one in `groups`).
    pub copies: Vec<(u32, u32)>,
    /// Wavefronts of one instruction.
    pub wavefronts: u32,
    /// Bytes to whose multiple the buffer must be aligned for xor on whole addresses.
    pub xor_alignment: u64,
}

impl MatrixPlan {
    /// Instructions per warp.
    pub fn instructions(&self) -> usize {
        self.groups.iter().map(|g| g.accesses.len()).sum()
    }

    /// The byte offset that thread `tid` contributes.
    pub fn thread_offset(&self, tid: u64) -> u64 {
        offset_of(&self.thread_base, tid)
    }
}

/// The plan for moving all of `distributed` to or from `shared`, if the instructions fit.
pub fn plan(
    distributed: &Layout,
    shared: &SharedLayout,
    kind: Matrices,
) -> Result<Option<MatrixPlan>, LayoutError> {
    let Some(offsets) = Offsets::new(distributed, shared)? else {
        return Ok(None);
    };
    Ok(offsets.fit(kind).map(|f| offsets.plan(f, kind)))
}

/// Element offsets by bits of register, lane and warp.
pub(super) struct Offsets {
    element_bits: u32,
    register: Matrix,
    lane: Matrix,
    warp: Matrix,
}

/// A division of the offsets by the instruction's tile.
struct Fit {
    /// Register vectors that select an element of what a thread holds of a matrix, lowest first.
    pack: Vec<u64>,
    /// Offsets of the rows of a matrix, as a basis.
    rows: Vec<u64>,
    /// Register vectors that go from one matrix to another.
    others: Vec<u64>,
}

impl Fit {
    /// Register vectors that select the matrix within an instruction: lanes that address no row of the first one
    /// address those of the others.
    fn select(&self) -> &[u64] {
        self.others.split_at(self.selecting()).0
    }

    /// Register vectors that go from one instruction to another.
    fn rest(&self) -> &[u64] {
        self.others.split_at(self.selecting()).1
    }

    fn selecting(&self) -> usize {
        let lanes = In::LANE_BITS as usize - self.rows.len();
        self.others.len().min(lanes)
    }
}

/// The register vectors of what a thread holds of a matrix.
struct Pack {
    /// Those that move along a row.
    along: Vec<u64>,
    /// Those that move from row to row.
    across: Vec<u64>,
}

impl Offsets {
    /// None for layouts of less than a warp, or of several blocks.
    fn new(distributed: &Layout, shared: &SharedLayout) -> Result<Option<Offsets>, LayoutError> {
        let all = shared.offsets_from(distributed)?;
        Ok(Offsets::of(distributed, &all, shared.element_bits()))
    }

    /// The same from the offsets of all places of `distributed`.
    pub(super) fn of(distributed: &Layout, all: &Matrix, element_bits: u32) -> Option<Offsets> {
        let registers = distributed.in_bits(In::Register);
        let lanes = distributed.in_bits(In::Lane);
        if lanes != In::LANE_BITS || all.cols() != registers + lanes + distributed.in_bits(In::Warp)
        {
            return None;
        }
        Some(Offsets {
            element_bits,
            register: all.columns_range(0, registers),
            lane: all.columns_range(registers, registers + lanes),
            warp: all.columns_range(registers + lanes, all.cols()),
        })
    }

    fn fit(&self, kind: Matrices) -> Option<Fit> {
        let packed_bits = match (self.element_bits, kind) {
            (8, _) => 2,
            (16, Matrices::Rows | Matrices::Columns) => 1,
            (32, Matrices::Rows) => 0,
            _ => return None,
        };
        // A row of 16 bytes.
        let row_bits = packed_bits + 2;
        let lane = self.lane.columns();
        // The lane bits that move along a row, and the first element bit they move; the lane bits that move across.
        let (along, first, across) = match kind {
            Matrices::Rows => (&lane[..2], packed_bits, &lane[2..]),
            Matrices::Columns => (&lane[2..], packed_bits - 1, &lane[..2]),
            Matrices::Bytes => (&lane[2..], 0, &lane[..2]),
        };
        if along
            .iter()
            .enumerate()
            .any(|(i, &c)| c != 1 << (first + i as u32))
        {
            return None;
        }
        let row = low_mask(row_bits);
        if across
            .iter()
            .chain(self.warp.columns())
            .any(|c| c & row != 0)
        {
            return None;
        }
        let Pack { along, across } = self.pack(kind, packed_bits)?;
        let others = self.others(&along, &across, row)?;
        let packed = across.iter().map(|&p| self.register.apply(p));
        let rows = match kind {
            Matrices::Rows => lane[2..].to_vec(),
            Matrices::Columns | Matrices::Bytes => packed.chain([lane[0], lane[1]]).collect(),
        };
        let pack = match kind {
            Matrices::Rows | Matrices::Columns => [along, across].concat(),
            Matrices::Bytes => [across, along].concat(),
        };
        Some(Fit { pack, rows, others })
    }

    /// What a thread holds of a matrix: neighbours along the row; transposed, those within 16 bits of a row and of the
    /// next; of bytes, those of four rows, and the same eight columns further.
    fn pack(&self, kind: Matrices, bits: u32) -> Option<Pack> {
        let (along, across) = match kind {
            Matrices::Rows => (0..bits, 0),
            Matrices::Columns => (0..bits - 1, 1),
            Matrices::Bytes => (3..4, 2),
        };
        let along: Vec<u64> = along
            .map(|i| self.register.solve(1 << i))
            .collect::<Option<_>>()?;
        let taken = along.iter().fold(0, |all, p| all | p) | self.register.free_columns();
        let untaken = (0..self.register.cols()).filter(|b| taken >> b & 1 == 0);
        let found: Vec<u64> = untaken.take(across).map(|b| 1 << b).collect();
        (found.len() == across).then_some(Pack {
            along,
            across: found,
        })
    }

    /// Register vectors that together with what moves `along` a row and `across` reach everything the registers reach,
    /// and do not move inside a row.
    fn others(&self, along: &[u64], across: &[u64], row: u64) -> Option<Vec<u64>> {
        let offset = |r: u64| self.register.apply(r);
        let pack = along.iter().chain(across);
        let offsets: Vec<u64> = pack.map(|&p| offset(p)).collect();
        let mut reached = Subspace::span(self.register.rows(), &offsets);
        if reached.dim() as usize != offsets.len() {
            return None;
        }
        let mut others = Vec::new();
        for bit in 0..self.register.cols() {
            if !reached.insert(offset(1 << bit)) {
                continue;
            }
            let other = along.iter().fold(1 << bit, |r, p| {
                if offset(r) & offset(*p) != 0 {
                    r ^ p
                } else {
                    r
                }
            });
            if offset(other) & row != 0 {
                return None;
            }
            others.push(other);
        }
        let stays = along.iter().all(|&p| offset(p) & !row == 0)
            && across.iter().all(|&p| offset(p) & row == 0);
        stays.then_some(others)
    }

    /// Offsets that the bits of tid contribute: row of a matrix, which matrix, warp.
    fn thread_base(&self, fit: &Fit) -> Vec<u64> {
        let mut base: Vec<u64> = fit.rows.clone();
        base.extend(fit.select().iter().map(|&m| self.register.apply(m)));
        base.resize(In::LANE_BITS as usize, 0);
        base.extend(self.warp.columns());
        base
    }

    fn wavefronts(&self, fit: &Fit) -> u32 {
        let rows = Matrix::new(self.register.rows(), fit.rows.to_vec());
        words_per_bank(&rows, self.element_bits, 4) << fit.select().len()
    }

    /// What the plan would cost, if the instructions fit, without listing registers, for elements that are
    /// `taken`.
    pub(super) fn cost(&self, kind: Matrices, taken: Taken) -> Option<Cost> {
        let fit = &self.fit(kind)?;
        let mask = self.thread_base(fit).iter().fold(0, |m, c| m | c);
        let meeting: Vec<u64> = fit
            .rest()
            .iter()
            .map(|&r| self.register.apply(r) & mask)
            .collect();
        let instructions = 1 << fit.rest().len();
        let loaded = [&fit.pack, fit.select()].concat();
        let in_order = (0..).zip(&loaded).map(|(bit, &r)| r == 1 << bit);
        let all = (instructions << loaded.len()) * u64::from(self.element_bits) / 32;
        Some(Cost {
            wavefronts: instructions * u64::from(self.wavefronts(fit)),
            instructions: instructions + moves(in_order, taken, all),
            bases: 1 << Subspace::span(self.register.rows(), &meeting).dim(),
        })
    }

    fn plan(&self, fit: Fit, kind: Matrices) -> MatrixPlan {
        let bytes = |elems: u64| elems * u64::from(self.element_bits) / 8;
        let (matrix_select, rest) = (fit.select(), fit.rest());
        let select = matrix_select.len();
        let offset = |r: u64| self.register.apply(r);
        let base = self.thread_base(&fit);
        let mask = base.iter().fold(0, |m, c| m | c);

        let combine = |vectors: &[u64], i: u64| ones(i).fold(0, |acc, b| acc ^ vectors[b as usize]);
        let instructions = (0..1u64 << rest.len()).map(|i| {
            let first = combine(rest, i);
            let registers = (0..1u64 << select).flat_map(|m| {
                let matrix = first ^ combine(matrix_select, m);
                let pack = &fit.pack;
                (0..1u64 << pack.len()).map(move |p| (matrix ^ combine(pack, p)) as u32)
            });
            (offset(first), registers.collect())
        });
        MatrixPlan {
            kind,
            matrices: 1 << select,
            packed: 32 / self.element_bits,
            thread_base: (0..)
                .zip(&base)
                .filter(|(_, c)| **c != 0)
                .map(|(b, &c)| (b, bytes(c)))
                .collect(),
            groups: group_by_xor(instructions, mask, bytes),
            copies: self.copies(&fit),
            wavefronts: self.wavefronts(&fit),
            xor_alignment: bytes(mask).checked_ilog2().map_or(1, |top| 2 << top),
        }
    }

    fn copies(&self, fit: &Fit) -> Vec<(u32, u32)> {
        let vectors: Vec<u64> = fit.pack.iter().chain(&fit.others).copied().collect();
        let holder: std::collections::BTreeMap<u64, u64> = (0..1u64 << vectors.len())
            .map(|i| ones(i).fold(0, |acc, b| acc ^ vectors[b as usize]))
            .map(|r| (self.register.apply(r), r))
            .collect();
        (0..1u64 << self.register.cols())
            .filter_map(|r| {
                holder
                    .get(&self.register.apply(r))
                    .map(|&h| (r as u32, h as u32))
            })
            .filter(|(r, h)| r != h)
            .collect()
    }
}

#[cfg(test)]
#[path = "ldmatrix_tests.rs"]
mod tests;
