//! `ldmatrix` and `stmatrix`: when they fit a pair of layouts, and how they are addressed.
//!
//! They move 8×8 matrices of 16-bit units: a matrix is 8 rows of 16 contiguous bytes
//! whose addresses 8 lanes supply, and lane `i` receives (or gives) the 32 bits at column
//! pair `i % 4` of row `i / 4`; with `.trans`, the elements `2 * (i % 4)` and
//! `2 * (i % 4) + 1` of column `i / 4`; of 8-bit elements, these are two of each of two rows. So they fit if the map from places to offsets
//! divides by such a tile: the lanes' offsets are those of the tile and nothing else
//! moves inside a row.
//!
//! Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix", "… store instruction:
//! stmatrix".

use super::addr::{XorGroup, group_by_xor, offset_of};
use super::bank::{Cost, words_per_bank};
use super::gf2::{Matrix, Subspace, low_mask, ones};
use super::shared::SharedLayout;
use super::{In, Layout, LayoutError};

/// How a warp moves its registers with `ldmatrix` or `stmatrix`.
///
/// Lane `t` supplies the byte offset `(xor of base for the bits of tid set) ^ group.xor +
/// access.offset`, for row `t % 8` of matrix `t / 8`. Lanes beyond `8 * matrices` supply
/// nothing that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixPlan {
    /// Whether the instruction has `.trans`.
    pub transposed: bool,
    /// Matrices per instruction: 1, 2 or 4.
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
    transposed: bool,
) -> Result<Option<MatrixPlan>, LayoutError> {
    let Some(offsets) = Offsets::new(distributed, shared)? else {
        return Ok(None);
    };
    Ok(offsets.fit(transposed).map(|f| offsets.plan(f, transposed)))
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
    /// Register vectors that select the elements packed in 32 bits, lowest first.
    pack: Vec<u64>,
    /// Offsets of the 8 rows of a matrix, as a basis.
    rows: [u64; 3],
    /// Register vectors that go from one matrix to another.
    others: Vec<u64>,
}

impl Fit {
    /// Register vectors that select the matrix within an instruction: at most two.
    fn select(&self) -> &[u64] {
        &self.others[..self.others.len().min(2)]
    }

    /// Register vectors that go from one instruction to another.
    fn rest(&self) -> &[u64] {
        &self.others[self.others.len().min(2)..]
    }
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

    fn fit(&self, transposed: bool) -> Option<Fit> {
        let packed_bits = match (self.element_bits, transposed) {
            (8, _) => 2,
            (16, _) => 1,
            (32, false) => 0,
            _ => return None,
        };
        // A row of 16 bytes.
        let row_bits = packed_bits + 2;
        let lane = self.lane.columns();
        // The lane bits that move along a row, and the first element bit they move: transposed are units of 16 bits.
        let (along, first) = if transposed {
            (&lane[2..], packed_bits - 1)
        } else {
            (&lane[..2], packed_bits)
        };
        if along
            .iter()
            .enumerate()
            .any(|(i, &c)| c != 1 << (first + i as u32))
        {
            return None;
        }
        let row = low_mask(row_bits);
        let across = if transposed { &lane[..2] } else { &lane[2..] };
        if across
            .iter()
            .chain(self.warp.columns())
            .any(|c| c & row != 0)
        {
            return None;
        }
        let pack = self.pack(packed_bits, transposed)?;
        let others = self.others(&pack, row, transposed)?;
        let rows = if transposed {
            [self.register.apply(*pack.last()?), lane[0], lane[1]]
        } else {
            [lane[2], lane[3], lane[4]]
        };
        Some(Fit { pack, rows, others })
    }

    /// The register vectors of the elements packed in 32 bits: along the row; when transposed, along the row within 16
    /// bits, then from a row to the next.
    fn pack(&self, bits: u32, transposed: bool) -> Option<Vec<u64>> {
        let along = if transposed { bits - 1 } else { bits };
        let mut pack: Vec<u64> = (0..along)
            .map(|i| self.register.solve(1 << i))
            .collect::<Option<_>>()?;
        if transposed {
            let taken = pack.iter().fold(0, |all, p| all | p);
            let free = self.register.free_columns() | taken;
            let first = (0..self.register.cols()).find(|b| free >> b & 1 == 0)?;
            pack.push(1 << first);
        }
        Some(pack)
    }

    /// Register vectors that together with `pack` reach everything the registers reach,
    /// and do not move inside a row.
    fn others(&self, pack: &[u64], row: u64, transposed: bool) -> Option<Vec<u64>> {
        let offset = |r: u64| self.register.apply(r);
        let mut reached = Subspace::span(
            self.register.rows(),
            &pack.iter().map(|&p| offset(p)).collect::<Vec<_>>(),
        );
        let mut others = Vec::new();
        for bit in 0..self.register.cols() {
            if !reached.insert(offset(1 << bit)) {
                continue;
            }
            let along_row = pack.iter().filter(|p| offset(**p) & row != 0);
            let other = along_row.fold(1 << bit, |r, p| {
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
        // Packed elements lie along the row; transposed, the last step goes across it.
        let along_row = |&p: &u64| offset(p) & !row == 0;
        let (across, along) = match pack.split_last() {
            Some((last, rest)) if transposed => (Some(last), rest),
            _ => (None, pack),
        };
        let pack_stays =
            along.iter().all(along_row) && across.is_none_or(|p| offset(*p) & row == 0);
        pack_stays.then_some(others)
    }

    /// Offsets that the bits of tid contribute: row of a matrix, which matrix, warp.
    fn thread_base(&self, fit: &Fit) -> Vec<u64> {
        let mut base: Vec<u64> = fit.rows.to_vec();
        base.extend(fit.select().iter().map(|&m| self.register.apply(m)));
        base.resize(In::LANE_BITS as usize, 0);
        base.extend(self.warp.columns());
        base
    }

    fn wavefronts(&self, fit: &Fit) -> u32 {
        let rows = Matrix::new(self.register.rows(), fit.rows.to_vec());
        words_per_bank(&rows, self.element_bits, 4) << fit.select().len()
    }

    /// What the plan would cost, if the instructions fit, without listing registers.
    pub(super) fn cost(&self, transposed: bool) -> Option<Cost> {
        let fit = &self.fit(transposed)?;
        let mask = self.thread_base(fit).iter().fold(0, |m, c| m | c);
        let meeting: Vec<u64> = fit
            .rest()
            .iter()
            .map(|&r| self.register.apply(r) & mask)
            .collect();
        let instructions = 1 << fit.rest().len();
        Some(Cost {
            wavefronts: instructions * u64::from(self.wavefronts(fit)),
            instructions,
            bases: 1 << Subspace::span(self.register.rows(), &meeting).dim(),
        })
    }

    fn plan(&self, fit: Fit, transposed: bool) -> MatrixPlan {
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
            transposed,
            matrices: 1 << select,
            packed: 1 << fit.pack.len(),
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
mod tests {
    use super::super::Shape;
    use super::super::fixtures::{accumulator, mma_sync};
    use super::super::mma::{MatmulShape, Wgmma};
    use super::super::shared::Swizzle;
    use super::*;

    /// Does what the instruction does, from its description, and compares each element
    /// that a lane receives with the one the layouts say.
    fn check(l: &Layout, s: &SharedLayout, transposed: bool) -> MatrixPlan {
        let p = plan(l, s, transposed)
            .unwrap()
            .expect("the instruction fits");
        let bytes = u64::from(s.element_bits()) / 8;
        let mut seen = vec![0; l.registers() as usize];
        for warp in 0..l.warps() {
            for group in &p.groups {
                for access in &group.accesses {
                    let address =
                        |lane: u64| (p.thread_offset(lane + 32 * warp) ^ group.xor) + access.offset;
                    for (i, &r) in (0..).zip(&access.registers) {
                        let (matrix, element) = (i / u64::from(p.packed), i % u64::from(p.packed));
                        seen[r as usize] += u32::from(warp == 0);
                        for lane in 0..32 {
                            // Transposed, the unit is 16 bits: one element, or two bytes.
                            let (row, byte) = if transposed {
                                let unit = element * bytes / 2;
                                (2 * (lane % 4) + unit, lane / 4 * 2 + element * bytes % 2)
                            } else {
                                (lane / 4, 4 * (lane % 4) + element * bytes)
                            };
                            let at = address(8 * matrix + row);
                            assert_eq!(at % 16, 0);
                            assert_eq!(at + byte, s.byte_offset(&l.coords(r.into(), lane, warp)));
                        }
                    }
                }
            }
        }
        for &(copy, of) in &p.copies {
            assert_eq!(l.flat(copy.into(), 3, 0), l.flat(of.into(), 3, 0));
            seen[copy as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n == 1));
        let instructions = p.instructions() as u64;
        let counted = Cost {
            wavefronts: instructions * u64::from(p.wavefronts),
            instructions,
            bases: p.groups.len() as u64,
        };
        let offsets = Offsets::new(l, s).unwrap().unwrap();
        assert_eq!(offsets.cost(transposed), Some(counted));
        p
    }

    fn strips(order: &[usize], bits: u32) -> SharedLayout {
        let shape = Shape::new(&[64, 64]).unwrap();
        SharedLayout::strips(
            &shape,
            order,
            bits,
            Swizzle::widest(64 * u64::from(bits) / 8),
        )
        .unwrap()
    }

    #[test]
    fn loads_mma_operands_without_conflicts() {
        let p = check(&mma_sync(16, 16).a().unwrap(), &strips(&[1, 0], 16), false);
        assert_eq!(
            (p.matrices, p.packed, p.wavefronts, p.instructions()),
            (4, 2, 4, 8)
        );
        // B with K contiguous, and with N contiguous (transposed).
        let b = mma_sync(16, 16).b().unwrap();
        assert_eq!(check(&b, &strips(&[0, 1], 16), false).wavefronts, 4);
        assert_eq!(check(&b, &strips(&[1, 0], 16), true).wavefronts, 4);
        // A with M contiguous.
        assert_eq!(
            check(&mma_sync(16, 16).a().unwrap(), &strips(&[0, 1], 16), true).matrices,
            4
        );
        check(&mma_sync(8, 32).a().unwrap(), &strips(&[1, 0], 8), false);
        check(&mma_sync(32, 8).a().unwrap(), &strips(&[1, 0], 32), false);
        check(&mma_sync(32, 8).b().unwrap(), &strips(&[0, 1], 32), false);
    }

    #[test]
    fn unswizzled_rows_conflict() {
        let shape = Shape::new(&[64, 64]).unwrap();
        let plain = SharedLayout::row_major(&shape, &[1, 0], 16).unwrap();
        assert_eq!(
            check(&mma_sync(16, 16).a().unwrap(), &plain, false).wavefronts,
            32
        );
    }

    #[test]
    fn stores_wgmma_accumulators() {
        let l = accumulator(64, 64);
        let p = check(&l, &strips(&[1, 0], 16), false);
        assert_eq!((p.instructions(), p.wavefronts), (4, 4));
        check(&l, &strips(&[0, 1], 16), true);
    }

    #[test]
    fn loads_bytes_whose_rows_are_contiguous() {
        let tile = MatmulShape {
            m: 128,
            n: 64,
            k: 64,
        };
        let fragment = |paired| {
            Wgmma {
                tile,
                element_bits: 8,
                warpgroups_m: 1,
                warpgroups_n: 1,
                paired,
            }
            .a_in_registers()
            .unwrap()
        };
        let shape = Shape::new(&[128, 64]).unwrap();
        let s = SharedLayout::strips(&shape, &[0, 1], 8, Swizzle::B128).unwrap();
        // 64 bytes of each lane, 16 by each instruction; the 8 rows of a matrix are two, two K apart, of each of four.
        let p = check(&fragment(true), &s, true);
        assert_eq!((p.matrices, p.packed, p.instructions()), (4, 4, 4));
        // A lane's rows that are 8 apart are not in one unit of 16 bits.
        assert_eq!(plan(&fragment(false), &s, true).unwrap(), None);
    }

    #[test]
    fn repeated_registers_become_copies() {
        let l = mma_sync(16, 16).a().unwrap();
        let l = l.with_bases(In::Register, |r| r.insert(1, 0)).unwrap();
        let p = check(&l, &strips(&[1, 0], 16), false);
        assert_eq!(p.copies.len() as u64, l.registers() / 2);
    }

    #[test]
    fn does_not_fit_other_layouts() {
        let a = mma_sync(16, 16).a().unwrap();
        assert_eq!(plan(&a, &strips(&[0, 1], 16), false).unwrap(), None);
        assert_eq!(plan(&a, &strips(&[1, 0], 16), true).unwrap(), None);
        assert_eq!(
            plan(&mma_sync(8, 32).b().unwrap(), &strips(&[1, 0], 8), true).unwrap(),
            None
        );
        let narrow =
            SharedLayout::swizzled(&Shape::new(&[64, 64]).unwrap(), &[1, 0], 16, 2, 1, 8).unwrap();
        assert_eq!(
            plan(&a, &narrow, false).unwrap(),
            None,
            "rows of 16 bytes are broken up"
        );
    }
}
