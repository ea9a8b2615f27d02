//! Fragments of the matrix instructions, as layouts of whole tiles.
//!
//! A fragment is a small distributed layout; a tile's layout is its product with
//! repetitions in registers and with the warps. Registers count elements in the order
//! in which the instruction takes them, packed `32 / bits` to a 32-bit register with
//! the lowest element in the low bits, then repetitions along K, then along M or N.
//!
//! Sources: PTX ISA, "Matrix multiply-accumulate operation using mma instruction"
//! (the fragment figures of each `.m16n8k*`, `.m8n8k4` and `.m8n8k16` shape) and "Asynchronous
//! Warpgroup Level Matrix Instructions: Register Fragments and Shared Memory Matrix
//! Layouts" (`wgmma.mma_async`).

use super::shape::log2;
use super::{In, Layout, LayoutError, Shape};

/// Elements of the tile of a matmul: `C[m, n] += A[m, k] * B[k, n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatmulShape {
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Columns of A, rows of B.
    pub k: u64,
}

impl MatmulShape {
    /// Whether a tile has as many rows as an instruction, and as many elements along K: columns that it lacks can be
    /// repeated.
    pub fn holds_rows(self, instruction: MatmulShape) -> bool {
        self.m >= instruction.m && self.k >= instruction.k
    }
}

/// A tile multiplied with `mma.sync`, by warps arranged over its rows and columns.
///
/// Each warp has a contiguous part of the rows and of the columns; the low bits of a
/// warp's number select its rows.
///
/// A tile of fewer columns than the instruction fills it with repetitions of them: lanes hold the same elements. Of one
/// column a thread holds one register where the instruction has a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MmaSync {
    /// The tile.
    pub tile: MatmulShape,
    /// The instruction's shape: `m` is 16 (8 of `m8n8k4` for f64 and `m8n8k16` for bytes), `n` is 8.
    pub instruction: MatmulShape,
    /// Bits of an element of A and B: 4, 8, 16, 32 or 64.
    pub element_bits: u32,
    /// Warps over the rows.
    pub warps_m: u64,
    /// Warps over the columns; those that find no column of instructions left repeat others' work.
    pub warps_n: u64,
    /// Matrices side by side, the first dimension of its tiles; `None`: the tiles have two dimensions.
    pub batch: Option<Batch>,
    /// Which of the tile's rows and columns an instruction's are.
    pub paired: Paired,
}

/// Rows and columns of a tile that are neighbours and belong to one thread. Where the operands' K is not contiguous in
/// memory, a thread reads several elements at once along M or N, and can use them only if all are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Paired {
    /// The instruction's rows r and r + 8 are rows 2r and 2r + 1 of the tile.
    pub rows: bool,
    /// Columns c of so many neighbouring instructions are neighbours in the tile: of n, columns n·c to n·c + n - 1.
    pub columns: u64,
}

impl Paired {
    /// Each instruction has neighbouring columns, and its rows in order.
    pub const NONE: Paired = Paired {
        rows: false,
        columns: 1,
    };
}

/// Matmuls of one shape, shared out among warps or groups of them: the high bits of a warp's number select its
/// matrices, contiguous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    pub matrices: u64,
    /// Warps, or groups of them, with matrices of their own.
    pub warps: u64,
}

impl MmaSync {
    /// Rows of an instruction, but for that of f64.
    pub const M: u64 = 16;

    /// Columns of the tile that an instruction multiplies.
    fn instruction_columns(&self) -> u64 {
        self.instruction.n.min(self.tile.n)
    }

    /// Registers of an instruction's result for each that the tile has.
    pub fn copies(&self) -> u32 {
        if self.tile.n == 1 { 2 } else { 1 }
    }

    /// Warps over the columns with work of their own.
    pub(super) fn own_n(&self) -> u64 {
        let columns = self.tile.n / self.instruction.n.max(1);
        self.warps_n.min(columns.max(1))
    }

    /// The matrices of a warp.
    pub fn matrices(&self) -> u64 {
        self.batch.map_or(1, |b| b.matrices / b.warps)
    }

    /// The layout of a batch where each matrix lies like `one`.
    fn of_batch(&self, one: Layout) -> Result<Layout, LayoutError> {
        let Some(batch) = self.batch else {
            return Ok(one);
        };
        let own = repeats("the batch", batch.matrices, 1, batch.warps)?;
        one.expand_dims(0)?
            .concat(0, own)?
            .product(&Layout::identity_1d(In::Warp, batch.warps, 0, 3)?)
    }

    /// Instructions of a warp along M, N and K, for each of its matrices.
    pub fn instructions(&self) -> [u64; 3] {
        let (t, i) = (&self.tile, &self.instruction);
        [
            t.m / (i.m * self.warps_m),
            t.n / (self.instruction_columns() * self.own_n()),
            t.k / i.k,
        ]
    }

    /// The warps over the columns: the next part each, then again from the first.
    fn columns(&self) -> Result<Layout, LayoutError> {
        let own = self.own_n();
        Layout::identity_1d(In::Warp, own, 1, 2)?.product(&Layout::zeros(
            In::Warp,
            self.warps_n / own,
            2,
        )?)
    }

    /// Two dimensions whose last are the columns of instructions: the columns of the tile that these are.
    fn with_columns(&self, layout: Layout) -> Result<Layout, LayoutError> {
        let beside = self.paired.columns;
        if beside <= 1 {
            return Ok(layout);
        }
        let shape = layout.shape();
        let (rows, columns) = (shape.extent(0), shape.extent(1));
        let n = self.instruction.n;
        if self.instructions()[1] < beside || self.tile.n < beside * n {
            return Err(LayoutError::Unsupported(format!(
                "{columns} columns of {} warps for {beside} instructions beside each other",
                self.warps_n
            )));
        }
        layout
            .reshape(&Shape::new(&[rows, columns / (beside * n), beside, n])?)?
            .permute(&[0, 1, 3, 2])?
            .reshape(&Shape::new(&[rows, columns])?)
    }

    /// The layout of A, an `m`×`k` tile; warps that share rows hold the same elements.
    pub fn a(&self) -> Result<Layout, LayoutError> {
        let i = self.check()?;
        let reps_m = repeats("M", self.tile.m, i.m, self.warps_m)?;
        let reps_k = repeats("K", self.tile.k, i.k, 1)?;
        let one = self
            .fragment_a()?
            .concat(1, reps_k)?
            .concat(0, reps_m)?
            .product(&Layout::identity_1d(In::Warp, self.warps_m, 0, 2)?)?
            .product(&Layout::zeros(In::Warp, self.warps_n, 2)?)?;
        self.of_batch(one)
    }

    /// The layout of B, a `k`×`n` tile; warps that share columns hold the same elements.
    pub fn b(&self) -> Result<Layout, LayoutError> {
        let i = self.check()?;
        let columns = self.instruction_columns();
        let reps_n = repeats("N", self.tile.n, columns, self.own_n())?;
        let reps_k = repeats("K", self.tile.k, i.k, 1)?;
        let one = self
            .fragment_b()?
            .concat(0, reps_k)?
            .concat(1, reps_n)?
            .product(&Layout::zeros(In::Warp, self.warps_m, 2)?)?
            .product(&self.columns()?)?;
        self.of_batch(self.with_columns(one)?)
    }

    /// The layout of C, an `m`×`n` tile.
    pub fn c(&self) -> Result<Layout, LayoutError> {
        let i = self.check()?;
        let reps_m = repeats("M", self.tile.m, i.m, self.warps_m)?;
        let columns = self.instruction_columns();
        let reps_n = repeats("N", self.tile.n, columns, self.own_n())?;
        let one = fragment_c([i.m, columns], self.paired.rows)?
            .concat(1, reps_n)?
            .concat(0, reps_m)?
            .product(&Layout::identity_1d(In::Warp, self.warps_m, 0, 2)?)?
            .product(&self.columns()?)?;
        self.of_batch(self.with_columns(one)?)
    }

    pub(super) fn check(&self) -> Result<MatmulShape, LayoutError> {
        let i = self.instruction;
        let steps: &[u64] = match (i.m, self.element_bits) {
            (8, 64) => &[4],
            (8, 8) => &[16],
            (16, 64) => &[4, 8, 16],
            (16, 32) => &[4, 8],
            (16, 16) => &[8, 16],
            (16, 8) => &[16, 32],
            (16, 4) => &[32, 64],
            _ => &[],
        };
        let rows = i.m == 16 || !self.paired.rows;
        if i.n == 8 && steps.contains(&i.k) && rows {
            return Ok(i);
        }
        let paired = if rows { "" } else { " with paired rows" };
        Err(LayoutError::Unsupported(format!(
            "mma.sync has no shape m{}n{}k{} for {}-bit elements{paired}",
            i.m, i.n, i.k, self.element_bits
        )))
    }

    fn fragment_a(&self) -> Result<Layout, LayoutError> {
        fragment_a(
            self.instruction.m,
            self.instruction.k,
            self.element_bits,
            self.paired.rows,
        )
    }

    fn fragment_b(&self) -> Result<Layout, LayoutError> {
        let i = self.instruction;
        let f = KPacked::new(i.k, self.element_bits)?;
        let shape = Shape::new(&[i.k, self.instruction_columns()])?;
        let along_k = |v: &[u64]| v.iter().map(|&x| shape.along(0, x)).collect::<Vec<_>>();
        let mut registers = along_k(&f.packed);
        registers.extend(along_k(&f.rest));
        let mut lanes = along_k(&f.lanes);
        lanes.extend([1, 2, 4].map(|n| column(&shape, n)));
        Layout::distributed(shape, registers, lanes, vec![])
    }
}

/// How the K coordinate of an operand fragment is spread: elements packed in one
/// register, then two lane bits, then further registers.
struct KPacked {
    packed: Vec<u64>,
    lanes: [u64; 2],
    rest: Vec<u64>,
}

impl KPacked {
    fn new(k: u64, element_bits: u32) -> Result<KPacked, LayoutError> {
        let k_bits = log2("K of a matrix instruction", k)?;
        let pack = log2("element bits", u64::from(32 / element_bits.min(32)))?;
        if k_bits < pack + 2 {
            return Err(LayoutError::Unsupported(format!(
                "K of {k} for {element_bits}-bit elements"
            )));
        }
        let units = |from: u32, to: u32| (from..to).map(|b| 1 << b).collect();
        Ok(KPacked {
            packed: units(0, pack),
            lanes: [1 << pack, 2 << pack],
            rest: units(pack + 2, k_bits),
        })
    }
}

/// A: rows are lane / 4 and (with 16 rows) a register bit; K is packed elements,
/// lane % 4, further registers.
fn fragment_a(m: u64, k: u64, element_bits: u32, paired: bool) -> Result<Layout, LayoutError> {
    let f = KPacked::new(k, element_bits)?;
    let shape = Shape::new(&[m, k])?;
    let (lane_rows, register_rows) = rows(&shape, paired);
    let mut registers = f.packed;
    registers.extend(register_rows);
    registers.extend(f.rest);
    let lanes = f.lanes.into_iter().chain(lane_rows).collect();
    Layout::distributed(shape, registers, lanes, vec![])
}

/// The rows that lanes and registers move along: eight by lanes, the others by registers. `paired`: the lowest bit is the
/// registers'.
fn rows(shape: &Shape, paired: bool) -> (Vec<u64>, Vec<u64>) {
    let mut rows: Vec<u64> = (0..shape.dim_bits(0))
        .map(|b| shape.along(0, 1 << b))
        .collect();
    if paired {
        rows.rotate_left(1);
    }
    let registers = rows.split_off(3);
    (rows, registers)
}

/// Column `n` of an instruction in a tile of `shape`: a tile of fewer begins again.
fn column(shape: &Shape, n: u64) -> u64 {
    if n < shape.extent(1) {
        shape.along(1, n)
    } else {
        0
    }
}

/// C: a pair of neighbouring columns, then (with 16 rows) row + 8.
fn fragment_c([m, n]: [u64; 2], paired: bool) -> Result<Layout, LayoutError> {
    let shape = Shape::new(&[m, n])?;
    let (lane_rows, register_rows) = rows(&shape, paired);
    let pair = (n > 1).then(|| column(&shape, 1));
    let registers = pair.into_iter().chain(register_rows).collect();
    let lanes = [2, 4].map(|n| column(&shape, n));
    let lanes = lanes.into_iter().chain(lane_rows).collect();
    Layout::distributed(shape, registers, lanes, vec![])
}

/// A tile multiplied with `wgmma.mma_async` (`m64nNkK`), by warpgroups arranged over
/// its rows and columns; each has a contiguous part of both. Warp bits 0 and 1 are the
/// warp in its warpgroup; above them come the warpgroups over rows, then over columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wgmma {
    /// The tile.
    pub tile: MatmulShape,
    /// Bits of an element of A and B: 8, 16 or 32. The instruction's K is 256 bits.
    pub element_bits: u32,
    /// Warpgroups over the rows.
    pub warpgroups_m: u64,
    /// Warpgroups over the columns.
    pub warpgroups_n: u64,
    /// Whether the instruction's rows r and r + 8 are rows 2r and 2r + 1 of the tile: a thread's two rows are
    /// neighbours then, as `ldmatrix` finds them where rows of the tile are contiguous in memory.
    pub paired: bool,
}

impl Wgmma {
    /// Rows of one instruction.
    pub const M: u64 = 64;
    /// Fewest and most columns of one instruction.
    pub const MIN_N: u64 = 8;
    pub const MAX_N: u64 = 256;

    /// K of one instruction.
    pub fn instruction_k(&self) -> u64 {
        u64::from(256 / self.element_bits.max(1))
    }

    /// Columns of a warpgroup.
    pub fn group_n(&self) -> u64 {
        self.tile.n / self.warpgroups_n.max(1)
    }

    /// Columns of one instruction: as many of a warpgroup's columns as one can do.
    pub fn instruction_n(&self) -> u64 {
        self.group_n().min(Wgmma::MAX_N)
    }

    /// The layout of the accumulator, an `m`×`n` tile. Registers are those of the
    /// instruction, then further instructions along N, then along M.
    pub fn accumulator(&self) -> Result<Layout, LayoutError> {
        let reps_m = self.check()?;
        let reps_n = repeats("N", self.tile.n, 8, self.warpgroups_n)?;
        fragment_c([16, 8], self.paired)?
            .concat(1, reps_n)?
            .product(&Layout::identity_1d(In::Warp, 4, 0, 2)?)?
            .concat(0, reps_m)?
            .product(&Layout::identity_1d(In::Warp, self.warpgroups_m, 0, 2)?)?
            .product(&Layout::identity_1d(In::Warp, self.warpgroups_n, 1, 2)?)
    }

    /// The layout of A, an `m`×`k` tile, when the instructions take it from registers.
    /// Registers are those of the instruction, then further K, then further rows.
    pub fn a_in_registers(&self) -> Result<Layout, LayoutError> {
        let reps_m = self.check()?;
        let reps_k = repeats("K", self.tile.k, self.instruction_k(), 1)?;
        fragment_a(16, self.instruction_k(), self.element_bits, self.paired)?
            .concat(1, reps_k)?
            .product(&Layout::identity_1d(In::Warp, 4, 0, 2)?)?
            .concat(0, reps_m)?
            .product(&Layout::identity_1d(In::Warp, self.warpgroups_m, 0, 2)?)?
            .product(&Layout::zeros(In::Warp, self.warpgroups_n, 2)?)
    }

    /// Repetitions of m64 in one warpgroup.
    fn check(&self) -> Result<u64, LayoutError> {
        if !matches!(self.element_bits, 8 | 16 | 32) {
            return Err(LayoutError::Unsupported(format!(
                "wgmma has no {}-bit elements of a power of two",
                self.element_bits
            )));
        }
        repeats("M", self.tile.m, Wgmma::M, self.warpgroups_m)
    }
}

/// How often a dimension of `tile` holds `unit` elements for each of `groups`.
fn repeats(dim: &str, tile: u64, unit: u64, groups: u64) -> Result<u64, LayoutError> {
    for (what, value) in [("tile extent", tile), ("number of warps", groups)] {
        log2(what, value)?;
    }
    match tile.checked_div(unit * groups) {
        Some(n) if n > 0 => Ok(n),
        _ => Err(LayoutError::Unsupported(format!(
            "{tile} elements along {dim} are fewer than {groups} times {unit}"
        ))),
    }
}

#[cfg(test)]
#[path = "mma_tests.rs"]
mod tests;
