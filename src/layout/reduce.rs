//! Reductions along a tile dimension, level by level.
//!
//! Places that differ only along the reduced dimension are combined: first registers of
//! a thread, then lanes by butterfly shuffles, then warps through shared memory. Places
//! that hold the very same element (broadcasts) are combined once only.

use super::gf2::{Matrix, Subspace, ones};
use super::shared::SharedLayout;
use super::{In, Layout, LayoutError, Shape};

/// How to reduce a distributed tile along one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducePlan {
    /// For each register of the result, the registers to combine in the thread.
    pub in_thread: Vec<Vec<u32>>,
    /// Shuffle rounds, in order, on the registers of the result.
    pub shuffles: Vec<Butterfly>,
    /// What remains to be combined between warps.
    pub cross_warp: Option<CrossWarp>,
    /// The layout of the result: the tile's without the dimension, each thread holding
    /// each of its elements once.
    pub result: Layout,
}

/// One shuffle round: `v[r] = op(v[r], shfl.bfly(v[r ^ register_xor], lane_mask))`,
/// all registers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Butterfly {
    /// The lanes that exchange.
    pub lane_mask: u32,
    /// Which register of the other lane holds the same result (0 for all usual layouts).
    pub register_xor: u32,
}

impl Butterfly {
    /// Whether lanes exchange that differ in one bit of their number, each register with the same one.
    pub fn is_simple(self) -> bool {
        self.register_xor == 0 && self.lane_mask.is_power_of_two()
    }
}

/// Combining warps: write every warp's partial results to shared memory, wait for the
/// block, and read all of them back, in the result's layout or any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossWarp {
    /// Partial results for each element of the result.
    pub partials: u64,
    /// Where they lie in shared memory: a tile with the partials as a new first dimension.
    pub shared: SharedLayout,
    /// For each bit of a warp's number, the partial result that it selects.
    index: Vec<u64>,
}

impl CrossWarp {
    /// The layout in which registers are written that hold a warp's partial results in the layout `held`.
    pub fn write(&self, held: &Layout) -> Result<Layout, LayoutError> {
        let shape = self.shared.shape();
        held.expand_dims(0)?
            .reshape_into(shape)?
            .with_bases(In::Warp, |warps| {
                for (w, i) in warps.iter_mut().zip(&self.index) {
                    *w |= shape.along(0, *i);
                }
            })
    }

    /// The layout in which all of them are read for a result of the layout `wanted`: its registers, repeated for each
    /// partial (`r + i * wanted.registers()` is partial `i` of register `r`).
    pub fn read(&self, wanted: &Layout) -> Result<Layout, LayoutError> {
        wanted.expand_dims(0)?.concat(0, self.partials)
    }
}

impl ReducePlan {
    /// The plan for reducing `layout` along `dim`; `element_bits` is the width of the
    /// values that pass through shared memory.
    pub fn new(layout: &Layout, dim: usize, element_bits: u32) -> Result<ReducePlan, LayoutError> {
        let sliced = layout.slice(dim)?;
        let (result, dropped) = sliced.without_redundant_registers();
        let levels = Levels {
            layout,
            sliced: &sliced,
        };
        Ok(ReducePlan {
            in_thread: in_thread(layout, &sliced, dropped),
            shuffles: levels.shuffles(&result),
            cross_warp: levels.cross_warp(&result, element_bits)?,
            result,
        })
    }

    /// Whether warps are combined where `layout` is reduced along `dim`.
    pub fn crosses_warps(layout: &Layout, dim: usize) -> Result<bool, LayoutError> {
        let sliced = &layout.slice(dim)?;
        let (combine, _) = Levels { layout, sliced }.of_warps();
        Ok(!combine.is_empty())
    }

    /// The layout of the result where lanes share it out in the shuffles `halved`: in each, a lane whose number has the
    /// bit of the round keeps the higher half of the registers, and one whose number has not the lower half.
    pub fn shared_out(&self, halved: &[Butterfly]) -> Result<Layout, LayoutError> {
        let registers = self.result.bases(In::Register);
        let (kept, given) = registers.split_at(registers.len().saturating_sub(halved.len()));
        let mut bases = self.result.all_bases().clone();
        for (step, &place) in halved.iter().zip(given.iter().rev()) {
            if let Some(lane) =
                bases[In::Lane as usize].get_mut(step.lane_mask.trailing_zeros() as usize)
            {
                *lane = place;
            }
        }
        bases[In::Register as usize] = kept.to_vec();
        Layout::new(self.result.shape().clone(), bases)
    }
}

/// For each register of the result, the registers that hold different elements of it.
fn in_thread(layout: &Layout, sliced: &Layout, dropped: u64) -> Vec<Vec<u32>> {
    let mut groups: std::collections::BTreeMap<u64, Vec<u32>> = Default::default();
    let mut seen = std::collections::BTreeSet::new();
    for r in 0..layout.registers() {
        if seen.insert(layout.flat(r, 0, 0)) {
            groups
                .entry(sliced.flat(r, 0, 0))
                .or_default()
                .push(r as u32);
        }
    }
    // The result's registers are those of the sliced layout without the dropped bits.
    let kept = (0..layout.registers()).filter(|r| r & dropped == 0);
    kept.filter_map(|r| groups.remove(&sliced.flat(r, 0, 0)))
        .collect()
}

struct Levels<'a> {
    layout: &'a Layout,
    sliced: &'a Layout,
}

impl Levels<'_> {
    /// Vectors of `input` to combine: those that change the element but not the result,
    /// up to what the levels `below` already hold. (vectors to combine, vectors to ignore)
    fn to_combine(&self, input: In, below: &[In]) -> (Vec<u64>, Subspace) {
        let inside = |l: &Layout| {
            let mine = l.matrix(&[input]);
            let held = l.image(below);
            let reduced = mine.columns().iter().map(|&c| held.reduce(c)).collect();
            Matrix::new(mine.rows(), reduced).kernel()
        };
        let same_element = inside(self.layout);
        let same_result = inside(self.sliced);
        (same_element.extend_from(same_result.basis()), same_element)
    }

    /// Lanes far apart first, which is the order of NVIDIA's assembler: sums have its rounding where the layouts agree.
    fn shuffles(&self, result: &Layout) -> Vec<Butterfly> {
        let registers = result.matrix(&[In::Register]);
        let (lanes, _) = self.to_combine(In::Lane, &[In::Register]);
        lanes
            .into_iter()
            .rev()
            .filter_map(|lane| {
                let register = registers.solve(self.sliced.matrix(&[In::Lane]).apply(lane))?;
                Some(Butterfly {
                    lane_mask: lane as u32,
                    register_xor: register as u32,
                })
            })
            .collect()
    }

    fn of_warps(&self) -> (Vec<u64>, Subspace) {
        self.to_combine(In::Warp, &[In::Register, In::Lane])
    }

    fn cross_warp(
        &self,
        result: &Layout,
        element_bits: u32,
    ) -> Result<Option<CrossWarp>, LayoutError> {
        let (combine, ignore) = self.of_warps();
        if combine.is_empty() {
            return Ok(None);
        }
        let mut bits = vec![combine.len() as u8];
        bits.extend(result.shape().bits());
        let shape = Shape::from_bits(&bits)?;
        Ok(Some(CrossWarp {
            partials: 1 << combine.len(),
            shared: SharedLayout::row_major(&shape, &shape.row_major_order(), element_bits)?,
            index: partial_index(&combine, &ignore, result.in_bits(In::Warp)),
        }))
    }
}

/// For each warp bit, the partial result it selects: a linear map that counts the
/// vectors of `combine` and is zero on those of `ignore` and on a complement.
fn partial_index(combine: &[u64], ignore: &Subspace, warp_bits: u32) -> Vec<u64> {
    let mut basis: Vec<u64> = combine.iter().chain(ignore.basis()).copied().collect();
    basis.extend(Subspace::span(warp_bits, &basis).complement_units());
    let coordinates = Matrix::new(warp_bits, basis);
    let partial = super::gf2::low_mask(combine.len() as u32);
    (0..warp_bits)
        .map(|b| coordinates.solve(1 << b).unwrap_or(0) & partial)
        .collect()
}

impl Layout {
    /// The same basis vectors in a larger tile of the same rank.
    fn reshape_into(&self, shape: &Shape) -> Result<Layout, LayoutError> {
        let bases = self.all_bases().clone().map(|b| {
            b.into_iter()
                .map(|v| shape.flatten(&self.shape().unflatten(v)))
                .collect()
        });
        Layout::new(shape.clone(), bases)
    }
}

/// How a thread's registers of `layout` split along `dim`: the register bits that move
/// along it. Useful to judge a layout before reducing it.
pub fn register_bits_along(layout: &Layout, dim: usize) -> Vec<u32> {
    let mask = layout.shape().dim_mask(dim);
    let along = layout
        .bases(In::Register)
        .iter()
        .enumerate()
        .filter(|(_, b)| **b & mask != 0);
    ones(along.fold(0, |m, (i, _)| m | 1 << i)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixtures::accumulator;
    use super::super::linear::tests::any_layout;
    use super::*;

    /// A value such that a sum shows which elements are in it and how often.
    fn value(flat: u64) -> u64 {
        flat.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
    }

    /// Runs the plan on all threads and compares with sums over the reached elements.
    fn check(l: &Layout, dim: usize) -> ReducePlan {
        let p = ReducePlan::new(l, dim, 32).unwrap();
        let (lanes, warps) = (l.in_size(In::Lane), l.warps());
        let mut v: Vec<Vec<u64>> = (0..lanes * warps)
            .map(|t| {
                let sum = |rs: &Vec<u32>| {
                    rs.iter()
                        .map(|&r| value(l.flat(r.into(), t % lanes, t / lanes)))
                        .sum()
                };
                p.in_thread.iter().map(sum).collect()
            })
            .collect();
        assert!(v.iter().all(|x| x.len() as u64 == p.result.registers()));
        for b in &p.shuffles {
            let before = v.clone();
            for (t, regs) in v.iter_mut().enumerate() {
                for (r, x) in regs.iter_mut().enumerate() {
                    *x += before[t ^ b.lane_mask as usize][r ^ b.register_xor as usize];
                }
            }
        }
        if let Some(c) = &p.cross_warp {
            let mut memory = vec![None; c.shared.shape().elements() as usize];
            let offset = c.shared.offset_of();
            let write = c.write(&p.result).unwrap();
            let read_in = c.read(&p.result).unwrap();
            for (t, regs) in v.iter().enumerate() {
                for (r, x) in regs.iter().enumerate() {
                    let at = offset.apply(write.flat(r as u64, t as u64 % lanes, t as u64 / lanes))
                        as usize;
                    assert!(
                        memory[at].is_none_or(|old| old == *x),
                        "two values for one place"
                    );
                    memory[at] = Some(*x);
                }
            }
            let n = p.result.registers();
            for (t, regs) in v.iter_mut().enumerate() {
                for (r, x) in regs.iter_mut().enumerate() {
                    let read = |i: u64| {
                        let flat =
                            read_in.flat(r as u64 + i * n, t as u64 % lanes, t as u64 / lanes);
                        memory[offset.apply(flat) as usize].expect("read before written")
                    };
                    *x = (0..c.partials).map(read).sum();
                }
            }
        }
        // Sums over the distinct elements that the layout reaches.
        let sliced = l.slice(dim).unwrap();
        let mut sums: std::collections::BTreeMap<u64, u64> = Default::default();
        let mut seen = std::collections::BTreeSet::new();
        for w in 0..warps {
            for (r, n) in (0..l.registers()).flat_map(|r| (0..lanes).map(move |n| (r, n))) {
                if seen.insert(l.flat(r, n, w)) {
                    *sums.entry(sliced.flat(r, n, w)).or_default() += value(l.flat(r, n, w));
                }
            }
        }
        for (t, regs) in v.iter().enumerate() {
            for (r, x) in regs.iter().enumerate() {
                let at = p.result.flat(r as u64, t as u64 % lanes, t as u64 / lanes);
                assert_eq!(*x, sums[&at], "register {r} of thread {t}");
            }
        }
        p
    }

    #[test]
    fn rows_of_an_accumulator() {
        let l = accumulator(64, 64);
        let p = check(&l, 1);
        // Lanes of a quad share a row; no warp shares a row with another.
        assert_eq!(
            p.shuffles.iter().map(|b| b.lane_mask).collect::<Vec<_>>(),
            [2, 1]
        );
        assert!(p.cross_warp.is_none() && p.shuffles.iter().all(|b| b.register_xor == 0));
        assert_eq!(p.result.registers(), 2);
        let p = check(&l, 0);
        assert_eq!(
            p.shuffles.iter().map(|b| b.lane_mask).collect::<Vec<_>>(),
            [16, 8, 4]
        );
        assert_eq!(p.cross_warp.as_ref().map(|c| c.partials), Some(4));
    }

    #[test]
    fn one_long_row_over_all_warps() {
        let shape = Shape::new(&[1, 2048]).unwrap();
        let b = super::super::blocked::Blocked {
            shape,
            order: vec![1, 0],
            max_vector: 4,
            element_bits: 32,
            warps: 4,
        };
        let p = check(&b.layout().unwrap(), 1);
        assert_eq!(p.in_thread.iter().map(Vec::len).collect::<Vec<_>>(), [16]);
        assert_eq!(p.shuffles.len(), 5);
        assert_eq!(p.cross_warp.unwrap().partials, 4);
    }

    proptest! {
        #[test]
        fn every_element_once(l in any_layout(&[2, 3])) {
            if l.is_surjective() {
                check(&l, 0);
                check(&l, 1);
            }
        }
    }
}
