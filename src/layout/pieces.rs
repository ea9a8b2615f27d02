//! Taking a tile apart along registers: parts of a tile, and conversions in pieces.
//!
//! If registers alone step between the parts of a tile, a part is a choice of registers:
//! no data moves between threads.

use super::convert::{Planned, convert};
use super::gf2::{Matrix, Subspace, low_mask, ones};
use super::swizzle::Capabilities;
use super::{In, Layout, LayoutError, Shape};

/// A part of a tile cut into equal parts, as registers of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract {
    /// The layout of the part, the same for every part.
    pub layout: Layout,
    /// For each dimension, what each bit of the part's index along it adds (xor) to the
    /// register number.
    pub select: Vec<Vec<u32>>,
    /// For each register of the part, the register of part 0.
    pub registers: Vec<u32>,
}

impl Extract {
    /// How to take a part of shape `part` out of a tile of `layout`. Fails if threads or
    /// warps, not registers, step between the parts.
    pub fn new(layout: &Layout, part: &Shape) -> Result<Extract, LayoutError> {
        let whole = layout.shape();
        let fits = part.rank() == whole.rank()
            && part.bits().iter().zip(whole.bits()).all(|(p, w)| p <= w);
        if !fits {
            return Err(LayoutError::ShapeMismatch {
                left: whole.to_string(),
                right: part.to_string(),
            });
        }
        let units = |d: usize, from: u32, to: u32| (from..to).map(move |b| whole.along(d, 1 << b));
        let inside = whole
            .row_major_order()
            .into_iter()
            .flat_map(|d| units(d, 0, part.dim_bits(d)));
        let steps: Vec<Vec<u64>> = (0..whole.rank())
            .map(|d| units(d, part.dim_bits(d), whole.dim_bits(d)).collect())
            .collect();
        let frame = Frame::new(whole.total_bits(), inside.collect(), steps.concat());
        let split = frame.split(layout).ok_or_else(|| {
            LayoutError::Unsupported(format!("threads hold different {part} parts of {layout}"))
        })?;
        let mut chosen = split.chosen.iter().map(|&r| r as u32);
        Ok(Extract {
            layout: frame.piece(layout, &split, part)?,
            select: steps
                .iter()
                .map(|s| chosen.by_ref().take(s.len()).collect())
                .collect(),
            registers: split.numbers(0),
        })
    }

    /// The registers of the part with the given index along each dimension.
    pub fn part(&self, index: &[u64]) -> Vec<u32> {
        let bits = |(bases, &i): (&Vec<u32>, &u64)| ones(i).fold(0, |x, b| x ^ bases[b as usize]);
        let step = self
            .select
            .iter()
            .zip(index)
            .map(bits)
            .fold(0, |a, b| a ^ b);
        self.registers.iter().map(|r| r ^ step).collect()
    }
}

/// A conversion done piece by piece, each through the same plan and the same memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// The conversion of one piece.
    pub plan: Planned,
    /// For each piece, the registers of the source and of the destination that the plan
    /// takes as its registers.
    pub registers: Vec<(Vec<u32>, Vec<u32>)>,
}

/// [`convert`] in as few pieces as keep shared memory within `max_bytes`, as far as
/// registers on both sides can be told apart.
pub fn convert_within(
    source: &Layout,
    destination: &Layout,
    element_bits: u32,
    capabilities: Capabilities,
    max_bytes: u64,
) -> Result<Pieces, LayoutError> {
    let whole = |plan| {
        let all = |l: &Layout| (0..l.registers() as u32).collect();
        Pieces {
            plan,
            registers: vec![(all(source), all(destination))],
        }
    };
    let plan = convert(source, destination, element_bits, capabilities)?;
    let bytes = source.shape().elements() * u64::from(element_bits) / 8;
    if !matches!(plan.conversion, super::convert::Conversion::Shared(_)) || bytes <= max_bytes {
        return Ok(whole(plan));
    }
    let wanted = bytes.div_ceil(max_bytes.max(1)).next_power_of_two().ilog2();
    let steps = common_steps(source, destination, wanted);
    let bits = source.shape().total_bits();
    // What threads move along stays inside a piece.
    let threads = threads(source).sum(&threads(destination));
    let inside = Subspace::empty(bits).extend_from(threads.basis());
    let taken = Subspace::span(bits, &[inside.as_slice(), &steps].concat());
    let frame = Frame::new(bits, [inside, taken.complement_units()].concat(), steps);
    let (Some(from), Some(to)) = (frame.split(source), frame.split(destination)) else {
        return Ok(whole(plan));
    };
    let shape = Shape::from_bits(&[frame.inside as u8])?;
    let [piece_from, piece_to] =
        [(source, &from), (destination, &to)].map(|(l, s)| frame.piece(l, s, &shape));
    let plan = convert(&piece_from?, &piece_to?, element_bits, capabilities)?;
    let registers = (0..frame.pieces())
        .map(|i| (from.numbers(i), to.numbers(i)))
        .collect();
    Ok(Pieces { plan, registers })
}

/// Up to `wanted` vectors by which registers of both layouts step and which nothing else
/// of either reaches.
fn common_steps(source: &Layout, destination: &Layout, wanted: u32) -> Vec<u64> {
    let both = source
        .image(&[In::Register])
        .intersection(&destination.image(&[In::Register]));
    let threads = threads(source).sum(&threads(destination));
    // Far steps first: near ones make vectors.
    let candidates: Vec<u64> = both.basis().iter().rev().copied().collect();
    let mut steps = threads.extend_from(&candidates);
    steps.truncate(wanted as usize);
    steps
}

fn threads(l: &Layout) -> Subspace {
    l.image(&[In::Lane, In::Warp])
}

/// Coordinates of a tile as (coordinates inside a piece, number of the piece).
struct Frame {
    /// Bits inside a piece.
    inside: u32,
    /// Flat-index vectors that step between pieces.
    steps: Vec<u64>,
    /// From flat index to inside bits, and above them the number of the piece.
    to_frame: Matrix,
}

/// A layout's register bits, in terms of a frame: vectors that make each step, and a basis
/// of the rest, which stays inside a piece.
struct Split {
    chosen: Vec<u64>,
    rest: Vec<u64>,
}

impl Frame {
    /// `inside` and `steps` together are a basis.
    fn new(bits: u32, inside: Vec<u64>, steps: Vec<u64>) -> Frame {
        let basis = Matrix::new(bits, [inside.as_slice(), &steps].concat());
        let to_frame = basis
            .inverse()
            .expect("pieces and their insides make up the tile");
        Frame {
            inside: inside.len() as u32,
            steps,
            to_frame,
        }
    }

    fn pieces(&self) -> u64 {
        1 << self.steps.len()
    }

    fn piece_of(&self, flat: u64) -> u64 {
        self.to_frame.apply(flat) >> self.inside
    }

    /// None if registers do not make the steps, or threads move from piece to piece.
    fn split(&self, layout: &Layout) -> Option<Split> {
        let outside = [In::Lane, In::Warp, In::Block]
            .iter()
            .flat_map(|&i| layout.bases(i));
        if outside.into_iter().any(|&v| self.piece_of(v) != 0) {
            return None;
        }
        let registers = layout.matrix(&[In::Register]);
        let chosen: Vec<u64> = self
            .steps
            .iter()
            .map(|&s| registers.solve(s))
            .collect::<Option<_>>()?;
        // The other register bits, each kept in its piece by undoing the steps it makes.
        let units = Subspace::span(registers.cols(), &chosen)
            .complement_units()
            .into_iter();
        let rest = units
            .map(|r| r ^ combine(&chosen, self.piece_of(registers.apply(r))))
            .collect();
        Some(Split { chosen, rest })
    }

    /// The layout of a piece, a tile of `shape` whose flat index is the bits inside.
    fn piece(&self, layout: &Layout, split: &Split, shape: &Shape) -> Result<Layout, LayoutError> {
        let inside = |v: u64| self.to_frame.apply(v) & low_mask(self.inside);
        let registers = layout.matrix(&[In::Register]);
        let rest = split
            .rest
            .iter()
            .map(|&r| inside(registers.apply(r)))
            .collect();
        let [lane, warp] =
            [In::Lane, In::Warp].map(|i| layout.bases(i).iter().map(|&v| inside(v)).collect());
        Layout::distributed(shape.clone(), rest, lane, warp)
    }
}

impl Split {
    /// The registers of piece `i`, numbered by the rest.
    fn numbers(&self, i: u64) -> Vec<u32> {
        let start = combine(&self.chosen, i);
        (0..1u64 << self.rest.len())
            .map(|r| (start ^ combine(&self.rest, r)) as u32)
            .collect()
    }
}

/// Xor of the vectors of the bits set in `x`.
fn combine(vectors: &[u64], x: u64) -> u64 {
    ones(x).fold(0, |acc, b| acc ^ vectors[b as usize])
}

#[cfg(test)]
mod tests {
    use super::super::blocked::Blocked;
    use super::super::convert::Conversion;
    use super::super::fixtures::accumulator;
    use super::*;

    fn blocked(extents: &[u64]) -> Layout {
        let shape = Shape::new(extents).unwrap();
        Blocked {
            shape,
            order: vec![1, 0],
            max_vector: 4,
            element_bits: 32,
            warps: 4,
        }
        .layout()
        .unwrap()
    }

    #[test]
    fn parts_are_registers() {
        for (l, part) in [
            (accumulator(128, 64), [64, 16]),
            (blocked(&[64, 64]), [16, 64]),
            (accumulator(64, 64), [64, 64]),
        ] {
            let shape = Shape::new(&part).unwrap();
            let e = Extract::new(&l, &shape).unwrap();
            let counts: Vec<u64> = (0..2).map(|d| l.shape().extent(d) / part[d]).collect();
            for (i, j) in (0..counts[0]).flat_map(|i| (0..counts[1]).map(move |j| (i, j))) {
                for (r, &from) in (0..).zip(&e.part(&[i, j])) {
                    for (lane, warp) in [(0, 0), (31, 0), (5, 3)] {
                        let (inside, whole) = (
                            e.layout.coords(r, lane, warp),
                            l.coords(from.into(), lane, warp),
                        );
                        assert_eq!(
                            [inside[0] + i * part[0], inside[1] + j * part[1]],
                            whole[..]
                        );
                    }
                }
            }
        }
        // A register that steps inside a part and to another part at once.
        let shape = Shape::new(&[4, 64]).unwrap();
        let lanes = [2, 4, 8, 16, 32].to_vec();
        let mixed = Layout::distributed(shape, vec![64, 128, 64 | 1], lanes, vec![]).unwrap();
        let e = Extract::new(&mixed, &Shape::new(&[1, 64]).unwrap()).unwrap();
        assert_eq!(
            (e.layout.registers(), e.select),
            (2, vec![vec![1, 2], vec![]])
        );
        assert_eq!(e.registers, [0, 5]);
        let split_by_warps = Shape::new(&[32, 64]).unwrap();
        assert!(
            Extract::new(&accumulator(64, 64), &split_by_warps)
                .unwrap_err()
                .to_string()
                .contains("threads hold")
        );
    }

    #[test]
    fn pieces_cover_both_sides_and_fit() {
        let (from, to) = (accumulator(128, 256), blocked(&[128, 256]));
        let p = convert_within(&from, &to, 32, Capabilities::default(), 40 << 10).unwrap();
        assert_eq!(p.registers.len(), 4);
        let Conversion::Shared(s) = &p.plan.conversion else {
            panic!("{p:?}")
        };
        assert_eq!(s.shared.bytes(), 32 << 10);
        // In each piece both sides hold the same elements, and place them alike.
        let (lookup_from, lookup_to) = (
            piece_elements(&from, &p, true),
            piece_elements(&to, &p, false),
        );
        assert_eq!(lookup_from, lookup_to);
        let all: std::collections::BTreeSet<u32> = p
            .registers
            .iter()
            .flat_map(|r| r.1.iter().copied())
            .collect();
        assert_eq!(all.len() as u64, to.registers());
    }

    /// (piece, byte offset in shared memory) -> element, following the piece's accesses.
    fn piece_elements(
        l: &Layout,
        p: &Pieces,
        store: bool,
    ) -> std::collections::BTreeMap<(usize, u64), u64> {
        let Conversion::Shared(s) = &p.plan.conversion else {
            panic!()
        };
        let transfer = if store { &s.store } else { &s.load };
        let super::super::convert::Transfer::Plain(plan) = transfer else {
            panic!("{transfer:?}")
        };
        let mut found = std::collections::BTreeMap::new();
        for (i, (from, to)) in p.registers.iter().enumerate() {
            let names = if store { from } else { to };
            for tid in 0..128 {
                for (xor, access) in plan.accesses() {
                    let at = (plan.thread_offset(tid) ^ xor) + access.offset;
                    for (j, &r) in (0..).zip(&access.registers) {
                        let element = l.flat(names[r as usize].into(), tid % 32, tid / 32);
                        let old = found.insert((i, at + 4 * j), element);
                        assert!(old.is_none_or(|o| o == element));
                    }
                }
            }
        }
        found
    }

    #[test]
    fn small_conversions_stay_whole() {
        let p = convert_within(
            &accumulator(64, 64),
            &blocked(&[64, 64]),
            32,
            Capabilities::default(),
            1 << 16,
        );
        assert_eq!(p.unwrap().registers.len(), 1);
    }
}
