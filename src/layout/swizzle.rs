//! Choosing a shared-memory layout for a tile written in one distributed layout and
//! read in another.
//!
//! Offsets split into three fields, low to high: a *vector* that one thread (or, with
//! `ldmatrix`, one row) covers; the *bank* bits up to 128 bytes; and the *segment*, which
//! of those lines. Threads that work together conflict exactly if two of them differ in
//! the segment only: if the span of their offsets and of the vector meets the span of
//! the segment basis. So a segment basis is wanted that avoids two subspaces P (of the
//! writers) and Q (of the readers) at once. The largest such space joins a basis of P
//! modulo P∩Q with one of Q modulo P∩Q pairwise by xor, and adds a complement of P+Q
//! (Zhou et al., arXiv 2505.23819, on optimal swizzling).

use super::bank::{Cost, Taken, moves, wavefronts_of_lanes};
use super::gf2::{Matrix, Subspace};
use super::ldmatrix::{self, Matrices};
use super::shared::{SharedLayout, WAVEFRONT_LOG2};
use super::{In, Layout, LayoutError, addr};

/// Instructions that may move a tile between registers and shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// `ld.shared` / `st.shared`, vectors as wide as the layouts allow.
    Plain,
    /// `ldmatrix` / `stmatrix`.
    Matrix(Matrices),
}

/// What the target can do besides `ld.shared` and `st.shared`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Capabilities {
    /// `ldmatrix` (SM 75).
    pub ldmatrix: bool,
    /// `stmatrix` (SM 90).
    pub stmatrix: bool,
    /// `ldmatrix` of 16×16 bytes.
    pub bytes: bool,
}

impl Capabilities {
    /// What `stmatrix` stores.
    pub fn stores(self) -> &'static [Matrices] {
        match self.stmatrix {
            true => &[Matrices::Rows, Matrices::Columns],
            false => &[],
        }
    }

    /// What `ldmatrix` loads.
    pub fn loads(self) -> &'static [Matrices] {
        match (self.ldmatrix, self.bytes) {
            (false, _) => &[],
            (true, false) => &[Matrices::Rows, Matrices::Columns],
            (true, true) => &[Matrices::Rows, Matrices::Columns, Matrices::Bytes],
        }
    }
}

/// A layout in which a tile is wanted, and how its registers are taken.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'l> {
    pub layout: &'l Layout,
    pub taken: Taken,
}

impl<'l> From<&'l Layout> for Wanted<'l> {
    fn from(layout: &'l Layout) -> Self {
        let taken = Taken::SINGLY;
        Wanted { layout, taken }
    }
}

/// A shared layout and how each side accesses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The layout of the tile in shared memory.
    pub shared: SharedLayout,
    /// How the tile is written.
    pub store: Access,
    /// How the tile is read.
    pub load: Access,
    /// What both cost.
    pub cost: Cost,
}

/// The layout and accesses with the fewest wavefronts, then the fewest instructions (copies of
/// registers behind loads among them), then the fewest xors.
/// Elements must be at least a byte wide.
pub fn choose<'l>(
    write: &Layout,
    read: impl Into<Wanted<'l>>,
    element_bits: u32,
    capabilities: Capabilities,
) -> Result<Choice, LayoutError> {
    let read = read.into();
    if write.shape() != read.layout.shape() {
        return Err(write.mismatch(read.layout));
    }
    let write_side = Side::new(write, element_bits, capabilities.stores());
    let read_side = Side {
        taken: read.taken,
        ..Side::new(read.layout, element_bits, capabilities.loads())
    };
    let problem = Problem {
        least_load: read_side.least(),
        write: write_side,
        read: read_side,
        element_bits,
        bits: write.shape().total_bits(),
    };
    let mut best: Option<Choice> = None;
    let mut tried = Vec::new();
    for low in problem.vectors() {
        let vector = Subspace::span(problem.bits, &low);
        let (stores, loads) = (problem.write.spans(&low), problem.read.spans(&low));
        for (store, load) in stores
            .iter()
            .flat_map(|s| loads.iter().map(move |l| (s, l)))
        {
            let offsets = problem.offsets(&low, &vector, store, load);
            if tried.contains(&offsets) {
                continue;
            }
            let choice = problem.judge(&offsets, best.as_ref())?;
            tried.push(offsets);
            best = choice.or(best);
        }
    }
    best.ok_or_else(|| {
        LayoutError::Unsupported(format!("no shared layout for {element_bits}-bit elements"))
    })
}

struct Problem<'a> {
    write: Side<'a>,
    read: Side<'a>,
    /// No layout lets it be read for less.
    least_load: Cost,
    element_bits: u32,
    bits: u32,
}

/// One of the two distributed layouts.
struct Side<'a> {
    layout: &'a Layout,
    element_bits: u32,
    registers: Subspace,
    accesses: Vec<Access>,
    /// How elements are taken once they are loaded.
    taken: Taken,
}

impl Problem<'_> {
    /// Candidate bases of the vector field: what one thread holds on both sides, then
    /// more of one side; and the rows that each side's matrix instruction wants.
    fn vectors(&self) -> Vec<Vec<u64>> {
        let most = (128 / self.element_bits).max(1).ilog2() as usize;
        let common = self.read.registers.intersection(&self.write.registers);
        let mut all = Vec::new();
        for side in [&self.read, &self.write] {
            let own = side.layout.bases(In::Register);
            // Prefer the order of the registers, so that vectors need no shuffling.
            let mut low: Vec<u64> = Subspace::empty(self.bits)
                .extend_from(own)
                .into_iter()
                .filter(|&v| common.contains(v))
                .collect();
            low.extend(Subspace::span(self.bits, &low).extend_from(common.basis()));
            low.truncate(most);
            all.push(low.clone());
            let more = Subspace::span(self.bits, &low).extend_from(own);
            low.extend(more);
            low.truncate(most);
            all.push(low);
            all.extend(side.accesses.iter().filter_map(|&a| side.row(a)));
        }
        all.extend(self.read.fragments(most));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The basis of the layout with this vector field, which spans `vector`, that avoids conflicts as far as possible,
    /// where threads that are served together move in `p` when they write, in `q` when they read.
    fn offsets(&self, low: &[u64], vector: &Subspace, p: &Subspace, q: &Subspace) -> Vec<u64> {
        let line = (WAVEFRONT_LOG2 + 3)
            .saturating_sub(self.element_bits.ilog2())
            .min(self.bits);
        let common = p.intersection(q);
        let count = self.bits - line.max(low.len() as u32);
        let segment = segments(p, q, &common, vector, count as usize);
        let both = vector.sum(&Subspace::span(self.bits, &segment));
        let lanes = [common.basis(), p.basis()].concat();
        let lanes = both.extend_from(&lanes);
        let rest = both.sum(&Subspace::span(self.bits, &lanes));
        [low, &lanes, &rest.complement_units(), &segment].concat()
    }

    /// The best accesses of the layout with this basis, and what they cost; `None` where that is not below `best`.
    fn judge(&self, offsets: &[u64], best: Option<&Choice>) -> Result<Option<Choice>, LayoutError> {
        let layout = Layout::memory(self.write.layout.shape().clone(), offsets.to_vec())?;
        let shared = SharedLayout::new(layout, self.element_bits)?;
        let (store, store_cost) = self.write.best(&shared)?;
        // Reading costs something, too.
        if best.is_some_and(|b| store_cost + self.least_load >= b.cost) {
            return Ok(None);
        }
        let (load, load_cost) = self.read.best(&shared)?;
        let cost = store_cost + load_cost;
        Ok(best.is_none_or(|b| cost < b.cost).then_some(Choice {
            shared,
            store,
            load,
            cost,
        }))
    }
}

impl<'a> Side<'a> {
    /// `matrices`: what the matrix instruction moves, if there is one.
    fn new(layout: &'a Layout, element_bits: u32, matrices: &[Matrices]) -> Side<'a> {
        let mut side = Side {
            layout,
            element_bits,
            registers: layout.image(&[In::Register]),
            accesses: vec![Access::Plain],
            taken: Taken::SINGLY,
        };
        let matrices = matrices.iter().map(|&m| Access::Matrix(m));
        let fitting: Vec<Access> = matrices.filter(|&a| side.row(a).is_some()).collect();
        side.accesses.extend(fitting);
        side
    }

    /// What no access costs less than: a wavefront brings 128 bytes, an instruction 16 to each thread.
    fn least(&self) -> Cost {
        let warp = self.layout.image(&[In::Register, In::Lane]);
        let bits = |dim: u32| u64::from(self.element_bits) << dim;
        Cost {
            wavefronts: bits(warp.dim()).div_ceil(8 << WAVEFRONT_LOG2),
            instructions: (bits(self.registers.dim()) / 128).max(1),
            bases: 1,
        }
    }

    /// The elements of a 16-byte row that the matrix instruction wants of this layout.
    fn row(&self, access: Access) -> Option<Vec<u64>> {
        let lanes = self.layout.bases(In::Lane);
        if lanes.len() as u32 != In::LANE_BITS {
            return None;
        }
        let row = match (access, self.element_bits) {
            (Access::Matrix(Matrices::Columns), 16) => lanes[2..].to_vec(),
            (Access::Matrix(Matrices::Rows), 8 | 16 | 32) => {
                let packed = (32 / self.element_bits).ilog2() as usize;
                [self.layout.bases(In::Register).get(..packed)?, &lanes[..2]].concat()
            }
            (Access::Matrix(Matrices::Bytes), 8) => {
                // The columns behind those of the lanes.
                let next = lanes[4] << 1;
                if !self.registers.contains(next) {
                    return None;
                }
                [&lanes[2..], &[next]].concat()
            }
            _ => return None,
        };
        // The row must be made of different elements.
        let distinct =
            Subspace::span(self.layout.shape().total_bits(), &row).dim() as usize == row.len();
        distinct.then_some(row)
    }

    /// Vectors of at most `most` bases that bring parts of what is taken side by side, and nothing else: from single elements
    /// to the whole of it.
    fn fragments(&self, most: usize) -> Vec<Vec<u64>> {
        if self.taken.beside <= 1 {
            return Vec::new();
        }
        let own = self.layout.bases(In::Register);
        let own = Subspace::empty(self.layout.shape().total_bits()).extend_from(own);
        let longest = (self.taken.beside.ilog2() as usize)
            .min(most)
            .min(own.len());
        (0..=longest).map(|n| own[..n].to_vec()).collect()
    }

    /// The part of the vector field that one thread of this side covers.
    fn covered<'l>(&self, low: &'l [u64]) -> &'l [u64] {
        let n = low
            .iter()
            .take_while(|v| self.registers.contains(**v))
            .count();
        &low[..n]
    }

    /// Where threads that are served together move, and what each of them covers, by one access or another.
    fn spans(&self, low: &[u64]) -> Vec<Subspace> {
        let bits = self.layout.shape().total_bits();
        let covered = Subspace::span(bits, self.covered(low));
        let mut spans = Vec::new();
        for &access in &self.accesses {
            let together = self.together(low, access);
            let span = covered.sum(&Subspace::span(bits, &together));
            if !spans.contains(&span) {
                spans.push(span);
            }
        }
        spans
    }

    /// Offsets among which threads that are served together move.
    fn together(&self, low: &[u64], access: Access) -> Vec<u64> {
        let lanes = self.layout.bases(In::Lane);
        match access {
            Access::Matrix(Matrices::Rows) => low
                .iter()
                .chain(lanes.get(2..).unwrap_or(&[]))
                .copied()
                .collect(),
            Access::Matrix(Matrices::Bytes) => {
                let inside = Subspace::span(self.layout.shape().total_bits(), low);
                let own = self.layout.bases(In::Register).iter();
                let pack = own.filter(|v| !inside.contains(**v)).take(2);
                let pack = low.iter().chain(pack).chain(lanes.first());
                pack.copied().collect()
            }
            Access::Matrix(Matrices::Columns) => {
                let pack = self.layout.bases(In::Register).iter().find(|v| **v != 0);
                low.iter()
                    .chain(pack)
                    .chain(&lanes[..lanes.len().min(2)])
                    .copied()
                    .collect()
            }
            Access::Plain => {
                let bytes = ((self.element_bits << self.covered(low).len()) / 8).max(4);
                let n = (WAVEFRONT_LOG2 - bytes.ilog2()).min(lanes.len() as u32);
                lanes[..n as usize].to_vec()
            }
        }
    }

    /// The cheapest access to `shared`.
    fn best(&self, shared: &SharedLayout) -> Result<(Access, Cost), LayoutError> {
        let all = shared.offsets_from(self.layout)?;
        let mut best = (Access::Plain, self.plain(&all));
        if let [Access::Plain] = *self.accesses {
            return Ok(best);
        }
        let Some(offsets) = ldmatrix::Offsets::of(self.layout, &all, self.element_bits) else {
            return Ok(best);
        };
        for &access in &self.accesses {
            let Access::Matrix(kind) = access else {
                continue;
            };
            if let Some(cost) = offsets.cost(kind, self.taken)
                && cost < best.1
            {
                best = (access, cost);
            }
        }
        Ok(best)
    }

    /// What plain accesses cost where the layout's places have the offsets `all`.
    fn plain(&self, all: &Matrix) -> Cost {
        let offsets = addr::Offsets::of(self.layout, all);
        let vector = offsets.max_vector(128 / self.element_bits) * self.element_bits;
        let bits = (1u64 << self.registers.dim()) * u64::from(self.element_bits);
        let instructions = (bits / u64::from(vector)).max(1);
        let lanes = offsets
            .thread
            .columns_range(0, self.layout.in_bits(In::Lane));
        let each = u64::from(wavefronts_of_lanes(&lanes, self.element_bits, vector));
        let threads = offsets.thread.columns().iter().fold(0, |m, c| m | c);
        let meeting: Vec<u64> = offsets
            .register
            .columns()
            .iter()
            .map(|c| c & threads)
            .collect();
        let bases = 1 << Subspace::span(64, &meeting).dim();
        let columns = offsets.register.columns().iter();
        let within = (vector / self.element_bits).ilog2() as usize;
        let in_order = (0..).zip(columns.take(within));
        let in_order = in_order.map(|(bit, &c)| c == 1 << bit);
        Cost {
            wavefronts: instructions * each,
            instructions: instructions + moves(in_order, self.taken, bits / 32),
            bases,
        }
    }
}

/// The cost of moving all of `layout` to or from `shared` by `ld.shared` or `st.shared`.
pub(super) fn plain_cost(layout: &Layout, shared: &SharedLayout) -> Result<Cost, LayoutError> {
    let all = shared.offsets_from(layout)?;
    Ok(Side::new(layout, shared.element_bits(), &[]).plain(&all))
}

/// The cost of reading all of `layout` from `shared`, by the cheapest instructions.
pub fn cost_of_reading(
    layout: &Layout,
    shared: &SharedLayout,
    capabilities: Capabilities,
) -> Result<Cost, LayoutError> {
    let side = Side::new(layout, shared.element_bits(), capabilities.loads());
    Ok(side.best(shared)?.1)
}

/// `count` independent vectors whose span avoids `vector`, and `p` and `q` as far as can
/// be; `common` is what both hold. (`vector` lies in `p` or in `q`.)
fn segments(
    p: &Subspace,
    q: &Subspace,
    common: &Subspace,
    vector: &Subspace,
    count: usize,
) -> Vec<u64> {
    let (e, f) = (common.extend_from(p.basis()), common.extend_from(q.basis()));
    let sum = p.sum(q);
    let mut found = sum.complement_units();
    found.extend(e.iter().zip(&f).map(|(e, f)| e ^ f));
    // Not enough: conflicts on one side, then on both.
    let paired = e.len().min(f.len());
    found.extend(e[paired..].iter().chain(&f[paired..]));
    let mut all = vector.extend_from(&found);
    all.truncate(count);
    let chosen = vector.sum(&Subspace::span(64, &all));
    let rest = chosen.complement_units();
    let missing = count.saturating_sub(all.len());
    all.extend(rest.into_iter().take(missing));
    all
}
