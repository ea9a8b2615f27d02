//! Matrices in tensor memory, and how warps hold what they read and write there.
//!
//! Tensor memory has 128 lanes of 512 columns of 32 bits. A matrix has a row in each lane, further 128 rows in
//! further columns; one that instructions of 64 rows write has 64 at a time, in the first 16 lanes of each quarter. Warp
//! `i` of a warpgroup reaches the lanes 32·i to 32·i + 31.
//!
//! Source: PTX ISA, "Tensor Memory", "Data Movement Shape" and "Data path layout organization" (layouts D and F).

use super::mma::{MatmulShape, Wgmma};
use super::{In, Layout, LayoutError, Shape};

/// Lanes of tensor memory.
pub const LANES: u64 = 128;
/// Lanes that instructions of 64 rows write.
const HALF: u64 = 64;
/// Columns of tensor memory.
pub const COLUMNS: u64 = 512;
/// Fewest columns of an allocation.
pub const LEAST_COLUMNS: u64 = 32;
/// Most registers that one load or store moves.
const REGISTERS: u64 = 32;

/// A matrix in tensor memory: extents are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorMatrix {
    /// 64, or a multiple of 128.
    pub rows: u64,
    pub columns: u64,
    /// Rows of a block, whose elements lie in the same columns: 64 or 128.
    pub lanes: u64,
    /// Bits from one element of a row to the next.
    pub cell: u32,
    /// Bits of an element.
    pub element_bits: u32,
}

impl TensorMatrix {
    /// Columns of tensor memory from a block of rows to the next.
    pub fn block_columns(&self) -> u64 {
        self.columns * u64::from(self.cell) / 32
    }

    /// Columns of tensor memory of the whole matrix.
    pub fn all_columns(&self) -> u64 {
        self.block_columns() * self.blocks()
    }

    /// Blocks of so many rows as there are lanes.
    pub fn blocks(&self) -> u64 {
        self.rows / self.lanes.max(1)
    }
}

/// The shape of `tcgen05.ld` and `.st`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoveShape {
    /// A lane for a thread, a column for a register.
    Lanes32x32,
    /// 16 lanes, 8 columns for 4 registers: the accumulator fragment of a warp's matrix instructions.
    Lanes16x256,
    /// 16 lanes, 4 columns for 2 registers: the same fragment of elements of 16 bits.
    Lanes16x128,
}

/// How a warp's part is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    pub shape: MoveShape,
    /// The `.x` number of each instruction.
    pub count: u64,
    /// 32-bit registers of each instruction.
    pub registers: u64,
    /// Elements of 16 bits, each in a column of its own, go in pairs.
    pub pairs: bool,
    /// Columns from the warp's first to those of each instruction.
    pub offsets: Vec<u64>,
    /// Where a thread's part begins: (bit of the thread's number, what it adds to the address).
    pub base: Vec<(u32, u64)>,
}

/// A matrix as `groups_m` times `groups_n` warpgroups share it out, each a contiguous part of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    pub matrix: TensorMatrix,
    /// Columns of tensor memory from a block of rows to the next: more than those of the matrix if that is a part of one.
    block_columns: u64,
    pub groups_m: u64,
    pub groups_n: u64,
}

impl Share {
    /// `groups` warpgroups over the rows first, then over the columns.
    pub fn new(matrix: TensorMatrix, groups: u64) -> Result<Share, LayoutError> {
        Self::of_part(matrix, 1, groups)
    }

    /// The same of the first of so many `parts` of the columns of `whole`.
    pub fn of_part(whole: TensorMatrix, parts: u64, groups: u64) -> Result<Share, LayoutError> {
        let matrix = TensorMatrix {
            columns: whole.columns / parts.max(1),
            ..whole
        };
        let groups_m = groups.min(matrix.blocks());
        let share = Share {
            matrix,
            block_columns: whole.block_columns(),
            groups_m,
            groups_n: groups / groups_m.max(1),
        };
        let no = |what: &str| Err(LayoutError::Unsupported(format!("{what} of {matrix:?}")));
        let rows_fit =
            matches!(matrix.lanes, HALF | LANES) && matrix.rows.is_multiple_of(matrix.lanes);
        let cell_fits =
            matrix.cell == matrix.element_bits || matrix.cell == 32 && matrix.element_bits == 16;
        if !rows_fit || !cell_fits || !matches!(matrix.cell, 8 | 16 | 32) {
            return no("no place in tensor memory");
        }
        if matrix.lanes == HALF && matrix.cell == 8 {
            return no("no fragment");
        }
        if share.part() < 8 {
            return no("too few columns");
        }
        Ok(share)
    }

    /// Columns of the matrix that one warpgroup has.
    fn part(&self) -> u64 {
        self.matrix.columns / self.groups_n.max(1)
    }

    /// Which elements each thread holds.
    pub fn layout(&self) -> Result<Layout, LayoutError> {
        let m = &self.matrix;
        if m.lanes == HALF {
            let tile = MatmulShape {
                m: m.rows,
                n: m.columns,
                k: 16,
            };
            let like = Wgmma {
                tile,
                element_bits: 16,
                warpgroups_m: self.groups_m,
                warpgroups_n: self.groups_n,
                paired: false,
            };
            return like.accumulator();
        }
        let shape = Shape::new(&[LANES, self.part()])?;
        let bits = |dim: usize, bits: std::ops::Range<u32>| -> Vec<u64> {
            bits.map(|b| shape.along(dim, 1 << b)).collect()
        };
        let (registers, lanes, warps) =
            (bits(1, 0..shape.dim_bits(1)), bits(0, 0..5), bits(0, 5..7));
        Layout::distributed(shape, registers, lanes, warps)?
            .concat(0, m.blocks() / self.groups_m)?
            .product(&Layout::identity_1d(In::Warp, self.groups_m, 0, 2)?)?
            .product(&Layout::identity_1d(In::Warp, self.groups_n, 1, 2)?)
    }

    /// The instructions that move a thread's part, in the order of the layout's registers.
    pub fn moves(&self) -> Moves {
        let m = &self.matrix;
        let per_group = m.block_columns() / self.groups_n;
        let shape = match (m.lanes == HALF, m.element_bits) {
            (false, _) => MoveShape::Lanes32x32,
            (true, 32) => MoveShape::Lanes16x256,
            (true, _) => MoveShape::Lanes16x128,
        };
        // Columns and registers of one repetition.
        let (columns, registers) = match shape {
            MoveShape::Lanes32x32 => (1, 1),
            MoveShape::Lanes16x256 => (8, 4),
            MoveShape::Lanes16x128 => (4, 2),
        };
        let pairs = m.cell > m.element_bits;
        let width = if pairs { 2 * columns } else { columns };
        let count = (per_group / width).min(REGISTERS / registers).max(1);
        let own_blocks = m.blocks() / self.groups_m;
        let offsets = (0..own_blocks).flat_map(|block| {
            let first = block * self.block_columns;
            (0..per_group / (count * width)).map(move |i| first + i * count * width)
        });
        let rows =
            (0..self.groups_m.trailing_zeros()).map(|i| (own_blocks * self.block_columns) << i);
        let parts = (0..self.groups_n.trailing_zeros()).map(|i| per_group << i);
        let groups = (7..).zip(rows.chain(parts));
        Moves {
            shape,
            count,
            registers: count * registers,
            pairs,
            offsets: offsets.collect(),
            // A lane is a number in the high half of an address.
            base: [(5, 1 << 21), (6, 1 << 22)]
                .into_iter()
                .chain(groups)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane and 32-bit column of register `r` of `lane`, of one instruction (PTX ISA, figures of the shapes).
    fn place(shape: MoveShape, lane: u64, r: u64) -> (u64, u64) {
        match shape {
            MoveShape::Lanes32x32 => (lane, r),
            MoveShape::Lanes16x256 => {
                (lane / 4 + 8 * (r / 2 % 2), r / 4 * 8 + lane % 4 * 2 + r % 2)
            }
            MoveShape::Lanes16x128 => (lane / 4 + 8 * (r % 2), r / 2 * 4 + lane % 4),
        }
    }

    /// Every register of every thread is the element that the matrix has where the instruction moves it.
    fn check(extents: [u64; 2], lanes: u64, cell: u32, element_bits: u32, groups: u64) {
        check_part(extents, 1, lanes, cell, element_bits, groups);
    }

    /// The same for the first of so many parts of the columns.
    fn check_part(
        [rows, columns]: [u64; 2],
        parts: u64,
        lanes: u64,
        cell: u32,
        element_bits: u32,
        groups: u64,
    ) {
        let matrix = TensorMatrix {
            rows,
            columns,
            lanes,
            cell,
            element_bits,
        };
        let share = Share::of_part(matrix, parts, groups).unwrap();
        let (layout, moves) = (share.layout().unwrap(), share.moves());
        let per_register = u64::from(32 / element_bits);
        let per_move = moves.registers * per_register;
        assert_eq!(layout.registers(), per_move * moves.offsets.len() as u64);
        for warp in 0..4 * groups {
            let thread = 32 * warp;
            let base: u64 = moves
                .base
                .iter()
                .filter(|(bit, _)| thread >> bit & 1 == 1)
                .map(|b| b.1)
                .sum();
            for (lane, r) in (0..32).flat_map(|l| (0..layout.registers()).map(move |r| (l, r))) {
                let (first_lane, first) = (base >> 16, base & 0xffff);
                let (within, part) = (r % per_move, r % per_register);
                let (l, c) = place(moves.shape, lane, within / per_register);
                let c = if moves.pairs { 2 * c + part } else { c };
                let column = first + moves.offsets[(r / per_move) as usize] + c;
                let lane_of = first_lane + l;
                let in_lanes = match lanes {
                    HALF => lane_of / 32 * 16 + lane_of % 32,
                    _ => lane_of,
                };
                let row = column / matrix.block_columns() * lanes + in_lanes;
                let in_block = column % matrix.block_columns();
                let element = if moves.pairs {
                    in_block
                } else {
                    in_block * 32 / u64::from(cell) + part
                };
                assert_eq!(&layout.coords(r, lane, warp)[..], &[row, element]);
            }
        }
    }

    #[test]
    fn registers_are_where_the_instructions_move_them() {
        check([128, 128], 128, 32, 32, 1);
        check([128, 16], 128, 32, 32, 1);
        check([128, 256], 128, 32, 32, 2);
        check([256, 64], 128, 32, 32, 1);
        check([256, 64], 128, 32, 32, 2);
        check([256, 128], 128, 32, 32, 4);
        check([128, 64], 128, 16, 16, 1);
        check([256, 128], 128, 8, 8, 2);
        check([128, 64], 128, 32, 16, 2);
        check([64, 128], 64, 32, 32, 1);
        check([64, 64], 64, 32, 32, 2);
        check([64, 64], 64, 16, 16, 2);
        check([128, 8], 64, 32, 32, 1);
        check([128, 8], 64, 32, 32, 2);
        check([256, 8], 64, 32, 32, 2);
        check([128, 64], 64, 16, 16, 1);
        check([64, 64], 64, 32, 16, 1);
        check([64, 256], 64, 32, 16, 2);
        check([128, 8], 64, 32, 16, 1);
    }

    #[test]
    fn registers_of_a_part_are_where_the_instructions_move_them() {
        check_part([128, 128], 4, 128, 32, 32, 1);
        check_part([128, 256], 2, 128, 32, 32, 2);
        check_part([256, 64], 2, 128, 32, 32, 1);
        check_part([256, 256], 8, 128, 32, 32, 2);
        check_part([256, 128], 2, 128, 32, 32, 4);
        check_part([128, 64], 2, 128, 32, 16, 2);
        check_part([64, 128], 4, 64, 32, 32, 1);
        check_part([128, 64], 2, 64, 32, 32, 1);
        check_part([256, 64], 4, 64, 32, 32, 2);
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let matrix = |rows: u64, columns, cell| TensorMatrix {
            rows,
            columns,
            lanes: rows.min(LANES),
            cell,
            element_bits: cell,
        };
        assert!(Share::new(matrix(32, 64, 32), 1).is_err());
        assert!(Share::new(matrix(128, 8, 32), 2).is_err());
        assert!(Share::new(matrix(64, 64, 8), 1).is_err());
        assert!(Share::new(matrix(128, 64, 64), 1).is_err());
        let by_quarters = TensorMatrix {
            lanes: 32,
            ..matrix(128, 64, 32)
        };
        assert!(Share::new(by_quarters, 1).is_err());
    }
}
