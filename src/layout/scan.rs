//! Prefix scans along a tile dimension.
//!
//! Bit by bit of the coordinate, lowest first: after the step of bit `b`, every aligned
//! run of `2^(b+1)` elements is scanned. In a step, the elements whose bit is set (clear,
//! when scanning backwards) take the total of the other half of their run, which is its
//! last element. Where that element lives follows from the layout.
//!
//! Where a thread holds runs of neighbours, only their totals need take part in the steps between
//! threads ([`Runs`]): the other elements take what precedes their run once, at the end.

use super::{In, Layout, LayoutError};

/// The steps of an inclusive scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanPlan {
    /// The steps, in order.
    pub steps: Vec<ScanStep>,
    /// The runs of registers, where it pays to scan their totals.
    pub runs: Option<Runs>,
}

/// Runs of neighbours in the registers of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// So many of the steps scan each run by itself.
    pub steps: usize,
    /// The registers that hold the totals of the runs then.
    pub ends: Vec<u32>,
    /// For each register, the number of its run, a place in `ends`.
    pub run: Vec<u32>,
}

impl Runs {
    /// Fewest elements of a run, as a power of two: a step combines two values for each run instead of all its elements.
    const LEAST: usize = 2;
    /// Fewest steps between runs.
    const FEWEST: usize = 2;

    fn of(layout: &Layout, owners: &[(In, u32)], reverse: bool) -> Option<Runs> {
        let inside = owners.iter().take_while(|o| o.0 == In::Register);
        let bits: Vec<u32> = inside.map(|o| o.1).collect();
        let steps = bits.len();
        if steps < Self::LEAST || owners.len() - steps < Self::FEWEST {
            return None;
        }
        let inside = bits.iter().fold(0, |mask, bit| mask | 1 << bit);
        let end = |r: u32| if reverse { r & !inside } else { r | inside };
        let registers = layout.registers() as u32;
        let ends: Vec<u32> = (0..registers).filter(|&r| end(r) == r).collect();
        let place = |r: u32| ends.binary_search(&end(r)).unwrap_or(0) as u32;
        Some(Runs {
            steps,
            run: (0..registers).map(place).collect(),
            ends,
        })
    }

    /// The registers that hold no total.
    pub fn others(&self) -> Vec<u32> {
        let is_other = |r: &u32| !self.ends.contains(r);
        (0..self.run.len() as u32).filter(is_other).collect()
    }

    /// A step behind the first ones, among the totals: registers are numbers of runs.
    pub fn among_ends(&self, step: &ScanStep) -> ScanStep {
        let place = |r: u32| Some(self.ends.binary_search(&r).ok()? as u32);
        let both = |&(to, from): &(u32, u32)| Some((place(to)?, place(from)?));
        ScanStep {
            registers: step.registers.iter().filter_map(both).collect(),
            ..step.clone()
        }
    }
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
            runs: Runs::of(layout, &owners, reverse),
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

    /// A step of all threads, on the values of their registers.
    fn take_step(step: &ScanStep, v: &mut [Vec<(u64, u64)>]) {
        let before = v.to_vec();
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

    /// The scan by totals of runs, and what precedes each run: the totals' first halves are the totals, their second ones
    /// that.
    fn by_runs(p: &ScanPlan, runs: &Runs, mut v: Vec<Vec<(u64, u64)>>) -> Vec<Vec<(u64, u64)>> {
        let (within, across) = p.steps.split_at(runs.steps);
        within.iter().for_each(|step| take_step(step, &mut v));
        let n = runs.ends.len();
        let totals = |regs: &Vec<(u64, u64)>| runs.ends.iter().map(|&r| regs[r as usize]).collect();
        let mut ends: Vec<Vec<(u64, u64)>> = v.iter().map(totals).collect();
        // The identity of the composition of maps.
        ends.iter_mut().for_each(|e| e.extend(vec![(1, 0); n]));
        for step in across {
            let step = runs.among_ends(step);
            let doubled = |&(to, from): &(u32, u32)| [(to, from), (to + n as u32, from)];
            let registers = step.registers.iter().flat_map(doubled).collect();
            take_step(&ScanStep { registers, ..step }, &mut ends);
        }
        for (regs, ends) in v.iter_mut().zip(ends) {
            for r in runs.others() {
                let before = ends[n + runs.run[r as usize] as usize];
                regs[r as usize] = op(before, regs[r as usize]);
            }
            for (&r, &end) in runs.ends.iter().zip(&ends) {
                regs[r as usize] = end;
            }
        }
        v
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
        let first: Vec<Vec<(u64, u64)>> = (0..threads).map(start).collect();
        let mut v = first.clone();
        p.steps.iter().for_each(|step| take_step(step, &mut v));
        if let Some(runs) = &p.runs {
            assert_eq!(by_runs(&p, runs, first), v);
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
