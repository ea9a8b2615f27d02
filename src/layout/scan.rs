//! Prefix scans along a tile dimension.
//!
//! Bit by bit of the coordinate, lowest first: after the step of bit `b`, every aligned
//! run of `2^(b+1)` elements is scanned. In a step, the elements whose bit is set (clear,
//! when scanning backwards) take the total of the other half of their run, which is its
//! last element. Where that element lives follows from the layout.

use super::{In, Layout, LayoutError};

/// The steps of an inclusive scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanPlan {
    /// The steps, in order.
    pub steps: Vec<ScanStep>,
}

/// One step: for each pair `(to, from)`, in the threads that take part,
/// `v[to] = op(from_value, v[to])` with `from_value = v[from]` of the thread whose lane is
/// `lane.of(own lane)` and whose warp is `warp.of(own warp)`, as it was before the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanStep {
    /// Registers: (to, from).
    pub registers: Vec<(u32, u32)>,
    /// The threads that take part: all, or those whose tid has this bit as given.
    pub only: Option<(u32, bool)>,
    /// The lane that holds the values.
    pub lane: Source,
    /// The warp that holds them.
    pub warp: Source,
}

/// How a number of another thread is made from a thread's own: `x & !clear | set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Source {
    /// Bits to clear.
    pub clear: u32,
    /// Bits to set.
    pub set: u32,
}

impl Source {
    /// The number that goes with `own`.
    pub fn of(self, own: u32) -> u32 {
        own & !self.clear | self.set
    }

    /// Whether it is always the thread's own.
    pub fn is_own(self) -> bool {
        self == Source::default()
    }
}

/// What a step needs besides registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: both values are the thread's.
    Thread,
    /// A shuffle for each distinct `from`.
    Warp,
    /// Shared memory and a barrier.
    Block,
}

impl ScanStep {
    /// How far the values come.
    pub fn reach(&self) -> Reach {
        match (self.warp.is_own(), self.lane.is_own()) {
            (false, _) => Reach::Block,
            (true, false) => Reach::Warp,
            (true, true) => Reach::Thread,
        }
    }
}

impl ScanPlan {
    /// The plan for scanning `layout` along `dim`, from its first element to its last or
    /// (`reverse`) from the last to the first. Every bit of that coordinate must belong to
    /// one bit of register, lane or warp, and to it alone; blocked layouts are like that.
    pub fn new(layout: &Layout, dim: usize, reverse: bool) -> Result<ScanPlan, LayoutError> {
        let owners = owners(layout, dim)?;
        let step = |b: usize| step(layout, &owners[..b], owners[b], reverse);
        Ok(ScanPlan {
            steps: (0..owners.len()).map(step).collect(),
        })
    }
}

/// For each bit of the coordinate along `dim`, the input bit that moves along it.
fn owners(layout: &Layout, dim: usize) -> Result<Vec<(In, u32)>, LayoutError> {
    layout.shape().check_dim(dim)?;
    let mask = layout.shape().dim_mask(dim);
    let inputs = [In::Register, In::Lane, In::Warp];
    let all = inputs
        .iter()
        .flat_map(|&i| (0..).zip(layout.bases(i)).map(move |(bit, &v)| (i, bit, v)));
    let along: Vec<_> = all.filter(|x| x.2 & mask != 0).collect();
    let owner = |bit: u32| {
        let unit = layout.shape().along(dim, 1 << bit);
        along.iter().find(|x| x.2 == unit).map(|x| (x.0, x.1))
    };
    let bits = layout.shape().dim_bits(dim);
    let owners: Option<Vec<_>> = (0..bits).map(owner).collect();
    owners
        .filter(|o| o.len() == along.len() && layout.in_bits(In::Block) == 0)
        .ok_or_else(|| {
            LayoutError::Unsupported(format!(
                "a scan along dimension {dim}, whose bits are mixed, of {layout}"
            ))
        })
}

fn step(layout: &Layout, lower: &[(In, u32)], own: (In, u32), reverse: bool) -> ScanStep {
    let (mut clear, mut set) = ([0u32; 5], [0u32; 5]);
    // Forward: from the half with the bit clear, its last element; backward, mirrored.
    let (own_side, lower_side) = if reverse {
        (&mut set, &mut clear)
    } else {
        (&mut clear, &mut set)
    };
    own_side[own.0 as usize] |= 1 << own.1;
    for &(input, bit) in lower {
        lower_side[input as usize] |= 1 << bit;
    }
    let source = |input: In| Source {
        clear: clear[input as usize],
        set: set[input as usize],
    };
    let takes = |bits: u32, bit: u32| (bits >> bit & 1 == 1) != reverse;
    let from = source(In::Register);
    let registers = (0..layout.registers() as u32)
        .filter(|&r| own.0 != In::Register || takes(r, own.1))
        .map(|r| (r, from.of(r)))
        .collect();
    let only = match own.0 {
        In::Lane => Some((own.1, !reverse)),
        In::Warp => Some((layout.in_bits(In::Lane) + own.1, !reverse)),
        _ => None,
    };
    ScanStep {
        registers,
        only,
        lane: source(In::Lane),
        warp: source(In::Warp),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::super::blocked::Blocked;
    use super::super::fixtures::accumulator;
    use super::*;

    /// Composition of affine maps x -> m x + c modulo a prime: associative, not commutative.
    fn op(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
        (a.0 * b.0 % 65521, (a.1 * b.0 + b.1) % 65521)
    }

    fn value(flat: u64) -> (u64, u64) {
        (flat * 31 % 1021 + 2, flat * 17 % 509 + 1)
    }

    fn check(l: &Layout, dim: usize, reverse: bool) -> ScanPlan {
        let p = ScanPlan::new(l, dim, reverse).unwrap();
        let threads = 32 * l.warps();
        let place = |t: u64| (t % 32, t / 32);
        let start = |t: u64| {
            (0..l.registers())
                .map(|r| value(l.flat(r, place(t).0, place(t).1)))
                .collect()
        };
        let mut v: Vec<Vec<(u64, u64)>> = (0..threads).map(start).collect();
        for step in &p.steps {
            let before = v.clone();
            for (tid, regs) in v.iter_mut().enumerate() {
                if step
                    .only
                    .is_some_and(|(bit, is)| (tid >> bit & 1 == 1) != is)
                {
                    continue;
                }
                let from = step.lane.of(tid as u32 % 32) + 32 * step.warp.of(tid as u32 / 32);
                assert!(step.reach() != Reach::Thread || from as usize == tid);
                for &(to, reg) in &step.registers {
                    regs[to as usize] = op(before[from as usize][reg as usize], regs[to as usize]);
                }
            }
        }
        for tid in 0..threads {
            for r in 0..l.registers() {
                let at = l.coords(r, place(tid).0, place(tid).1);
                let along = |c: u64| {
                    let mut x = at.clone();
                    x[dim] = c;
                    value(l.shape().flatten(&x))
                };
                let expected = if reverse {
                    (at[dim]..l.shape().extent(dim)).rev().map(along).reduce(op)
                } else {
                    (0..=at[dim]).map(along).reduce(op)
                };
                assert_eq!(Some(v[tid as usize][r as usize]), expected, "at {at:?}");
            }
        }
        p
    }

    #[test]
    fn scans_blocked_tiles_and_accumulators() {
        let blocked = |extents: &[u64], order: &[usize]| {
            let shape = Shape::new(extents).unwrap();
            Blocked {
                shape,
                order: order.to_vec(),
                max_vector: 4,
                element_bits: 32,
                warps: 4,
            }
            .layout()
            .unwrap()
        };
        let accumulator = accumulator(64, 32);
        for l in [
            blocked(&[16, 64], &[1, 0]),
            blocked(&[16, 64], &[0, 1]),
            blocked(&[1, 2048], &[1, 0]),
            blocked(&[4, 8], &[1, 0]),
            accumulator,
        ] {
            for (dim, reverse) in [(0, false), (0, true), (1, false), (1, true)] {
                check(&l, dim, reverse);
            }
        }
    }

    #[test]
    fn a_row_per_warp_needs_no_barrier() {
        let shape = Shape::new(&[4, 128]).unwrap();
        let l = Blocked {
            shape,
            order: vec![1, 0],
            max_vector: 4,
            element_bits: 32,
            warps: 4,
        }
        .layout()
        .unwrap();
        let p = check(&l, 1, false);
        let reach: Vec<Reach> = p.steps.iter().map(ScanStep::reach).collect();
        assert_eq!(
            reach,
            [vec![Reach::Thread; 2], vec![Reach::Warp; 5]].concat()
        );
    }

    #[test]
    fn mixed_bits_are_refused() {
        let l = Layout::distributed(
            Shape::new(&[64]).unwrap(),
            vec![1],
            vec![3, 4, 8, 16, 32],
            vec![],
        )
        .unwrap();
        assert!(
            ScanPlan::new(&l, 0, false)
                .unwrap_err()
                .to_string()
                .contains("bits are mixed")
        );
    }
}
