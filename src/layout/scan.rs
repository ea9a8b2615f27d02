//! Prefix scans along a tile dimension.
//!
//! Bit by bit of the coordinate, lowest first: after the step of bit `b`, every aligned
//! run of `2^(b+1)` elements is scanned. In a step, the elements whose bit is set (clear,
//! when scanning backwards) take the total of the other half of their run, which is its
//! last element. Where that element lives follows from the layout.
//!
//! Where a thread holds runs of neighbours, it scans these one element after the other, and only their
//! totals take part in the steps between threads ([`Runs`]): the other elements take what precedes
//! their run once, at the end.

use super::scan_steps::{ScanStep, in_turn, owners, steps};
use super::scan_totals::Totals;
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
    /// So many of the steps scan each run by itself, one element after the other.
    pub steps: usize,
    /// The registers that hold the totals of the runs then.
    pub ends: Vec<u32>,
    /// For each register, the number of its run, a place in `ends`.
    pub run: Vec<u32>,
    /// The steps that come next, if they are between neighbouring lanes.
    pub lanes: Option<Lanes>,
}

/// Lanes that follow one another as the runs do that they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// So many steps behind those of the runs scan the totals of each row of lanes by itself.
    pub steps: usize,
    /// How far from each other neighbours are.
    pub distance: u32,
    /// The bits of a lane's number that say its place in the row.
    pub mask: u32,
    /// The steps between warps, at once.
    pub totals: Option<Totals>,
}

impl Lanes {
    /// Fewest steps: what precedes a run then comes in one more.
    const LEAST: usize = 2;

    fn of(layout: &Layout, owners: &[(In, u32)], inside: usize, reverse: bool) -> Option<Lanes> {
        let behind = owners.get(inside..)?;
        let first = behind.first()?.1;
        let in_turn = (first..)
            .zip(behind)
            .take_while(|&(bit, o)| *o == (In::Lane, bit));
        let steps = in_turn.count();
        (steps >= Self::LEAST).then(|| Lanes {
            steps,
            distance: 1 << first,
            mask: ((1 << steps) - 1) << first,
            totals: Totals::of(layout, owners, [inside, steps], reverse),
        })
    }
}

/// The bits of a register's number along which neighbours of a thread lie.
fn inside(owners: &[(In, u32)]) -> impl Iterator<Item = u32> {
    let inside = owners.iter().take_while(|o| o.0 == In::Register);
    inside.map(|o| o.1)
}

impl Runs {
    /// Fewest elements of a run, as a power of two: a step combines two values for each run instead of all its elements.
    const LEAST: usize = 2;
    /// Fewest steps between runs.
    const FEWEST: usize = 2;

    fn of(layout: &Layout, owners: &[(In, u32)], reverse: bool) -> Option<Runs> {
        let bits: Vec<u32> = inside(owners).collect();
        let lanes = Lanes::of(layout, owners, bits.len(), reverse);
        let pays = match &lanes {
            Some(lanes) => !bits.is_empty() || lanes.totals.is_some(),
            None => bits.len() >= Self::LEAST && owners.len() - bits.len() >= Self::FEWEST,
        };
        if !pays {
            return None;
        }
        let inside = bits.iter().fold(0, |mask, bit| mask | 1 << bit);
        let end = |r: u32| if reverse { r & !inside } else { r | inside };
        let registers = layout.registers() as u32;
        let ends: Vec<u32> = (0..registers).filter(|&r| end(r) == r).collect();
        let place = |r: u32| ends.binary_search(&end(r)).unwrap_or(0) as u32;
        Some(Runs {
            steps: (1 << bits.len()) - 1,
            run: (0..registers).map(place).collect(),
            ends,
            lanes,
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

impl ScanPlan {
    /// The plan for scanning `layout` along `dim`, from its first element to its last or
    /// (`reverse`) from the last to the first. Every bit of that coordinate must belong to
    /// one bit of register, lane or warp, and to it alone; blocked layouts are like that.
    pub fn new(layout: &Layout, dim: usize, reverse: bool) -> Result<ScanPlan, LayoutError> {
        let owners = owners(layout, dim)?;
        let mut steps = steps(layout, &owners, reverse);
        let runs = Runs::of(layout, &owners, reverse);
        if let Some(runs) = &runs {
            let bits: Vec<u32> = inside(&owners).collect();
            steps.splice(..bits.len(), in_turn(layout, &bits, reverse));
            debug_assert_eq!(runs.steps, (1 << bits.len()) - 1);
        }
        Ok(ScanPlan { steps, runs })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::super::blocked::Blocked;
    use super::super::fixtures::accumulator;
    use super::super::scan_steps::Reach;
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

    /// The identity of the composition of maps.
    const NOTHING: (u64, u64) = (1, 0);

    /// The steps behind the first ones, of totals and of what precedes each run: the first halves of what threads have are
    /// the totals, the second ones that.
    fn by_steps(runs: &Runs, steps: &[ScanStep], both: &mut [Vec<(u64, u64)>]) {
        let n = runs.ends.len() as u32;
        for step in steps {
            let step = runs.among_ends(step);
            let doubled = |&(to, from): &(u32, u32)| [(to, from), (to + n, from)];
            let registers = step.registers.iter().flat_map(doubled).collect();
            take_step(&ScanStep { registers, ..step }, both);
        }
    }

    fn linear(tid: usize, bits: &[(u32, u64)]) -> usize {
        let set = bits.iter().filter(|(bit, _)| tid >> bit & 1 == 1);
        set.fold(0, |at, &(_, places)| at ^ places as usize)
    }

    /// What precedes the runs of each thread, whose totals these are.
    fn by_totals(t: &Totals, ends: &[Vec<(u64, u64)>], reverse: bool) -> Vec<Vec<(u64, u64)>> {
        let mut memory = vec![None; t.places as usize];
        for (tid, ends) in ends.iter().enumerate() {
            if tid as u64 & t.writers.0 == t.writers.1 {
                for (i, &end) in ends.iter().enumerate() {
                    let place = linear(tid, &t.written) + i;
                    assert_eq!(memory[place].replace(end), None, "two totals in one place");
                }
            }
        }
        let read = |tid: usize| {
            let at = linear(tid, &t.read);
            let one = |&r: &u64| memory[at + r as usize].expect("a total was written");
            t.registers.iter().map(one).collect()
        };
        let mut scanned: Vec<Vec<(u64, u64)>> = (0..ends.len()).map(read).collect();
        t.steps
            .iter()
            .for_each(|step| take_step(step, &mut scanned));
        let shifted = |tid: usize| {
            let lane = (tid + if reverse { 1 } else { 31 }) % 32;
            let got = &scanned[tid / 32 * 32 + lane];
            let first = if reverse { t.lane_mask } else { 0 };
            let edge = |b: &Option<u32>| b.map_or(NOTHING, |b| got[b as usize]);
            match tid as u32 & t.lane_mask == first {
                true => t.preceding.iter().map(edge).collect(),
                false => got.clone(),
            }
        };
        let shifted: Vec<Vec<(u64, u64)>> = (0..ends.len()).map(shifted).collect();
        let taken = |tid: usize| {
            let lane = linear(tid, &t.lanes);
            let one = |&(r, differs): &(u32, u32)| {
                shifted[tid / 32 * 32 + (lane ^ differs as usize)][r as usize]
            };
            t.sources.iter().map(one).collect()
        };
        (0..ends.len()).map(taken).collect()
    }

    /// The scan by totals of runs, and what precedes each run.
    fn by_runs(
        p: &ScanPlan,
        runs: &Runs,
        mut v: Vec<Vec<(u64, u64)>>,
        reverse: bool,
    ) -> Vec<Vec<(u64, u64)>> {
        let (within, mut across) = p.steps.split_at(runs.steps);
        within.iter().for_each(|step| take_step(step, &mut v));
        let n = runs.ends.len();
        let totals = |regs: &Vec<(u64, u64)>| runs.ends.iter().map(|&r| regs[r as usize]).collect();
        let mut ends: Vec<Vec<(u64, u64)>> = v.iter().map(totals).collect();
        let mut before = vec![vec![NOTHING; n]; v.len()];
        if let Some(lanes) = &runs.lanes {
            let (by_lanes, further) = across.split_at(lanes.steps);
            across = further;
            let by_lanes = by_lanes.iter().map(|step| runs.among_ends(step));
            by_lanes.for_each(|step| take_step(&step, &mut ends));
            let first = if reverse { lanes.mask } else { 0 };
            for (tid, before) in before.iter_mut().enumerate() {
                let distance = lanes.distance as usize;
                if tid as u32 & lanes.mask != first {
                    let tid = if reverse {
                        tid + distance
                    } else {
                        tid - distance
                    };
                    before.clone_from(&ends[tid]);
                }
            }
            if let Some(totals) = &lanes.totals {
                across = &[];
                let preceding = by_totals(totals, &ends, reverse);
                for all in [&mut ends, &mut before] {
                    for (all, preceding) in all.iter_mut().zip(&preceding) {
                        all.iter_mut()
                            .zip(preceding)
                            .for_each(|(x, &p)| *x = op(p, *x));
                    }
                }
            }
        }
        let mut both: Vec<Vec<(u64, u64)>> = (ends.into_iter().zip(before))
            .map(|(ends, before)| [ends, before].concat())
            .collect();
        by_steps(runs, across, &mut both);
        for (regs, both) in v.iter_mut().zip(both) {
            for r in runs.others() {
                let before = both[n + runs.run[r as usize] as usize];
                regs[r as usize] = op(before, regs[r as usize]);
            }
            for (&r, &end) in runs.ends.iter().zip(&both) {
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
            assert_eq!(by_runs(&p, runs, first, reverse), v);
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

    /// Long rows: lanes, then warps, then registers follow one another.
    #[test]
    fn totals_of_warps_are_scanned_at_once() {
        // Extents, elements of an access, warps; how many totals a lane reads: those of its warp's lines by 32.
        let cases: [(&[u64], u64, u64, Option<usize>); 8] = [
            (&[4096], 4, 4, Some(1)),
            (&[1, 8192], 4, 4, Some(2)),
            (&[16384], 4, 8, Some(4)),
            (&[2048], 1, 4, Some(2)),
            (&[4, 1024], 4, 8, Some(1)),
            (&[256], 2, 4, Some(1)),
            (&[2, 2048], 4, 4, Some(1)),
            (&[16, 64], 4, 4, None),
        ];
        for (extents, max_vector, warps, read) in cases {
            let blocked = Blocked {
                shape: Shape::new(extents).unwrap(),
                order: (0..extents.len()).rev().collect(),
                max_vector,
                element_bits: 32,
                warps,
            };
            let l = blocked.layout().unwrap();
            for reverse in [false, true] {
                let p = check(&l, extents.len() - 1, reverse);
                let lanes = p.runs.and_then(|r| r.lanes);
                let totals = lanes.and_then(|l| l.totals);
                let registers = totals.map(|t| t.registers.len());
                assert_eq!(registers, read, "of {extents:?}");
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
            [vec![Reach::Thread; 3], vec![Reach::Warp; 5]].concat()
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
