//! Tiles that go from one place in shared memory to another through registers.
//!
//! Each thread should read and write vectors, and the threads that are served together should meet different banks on
//! both sides. Where both places have the same contiguous dimension, threads that are neighbours along it do; where a
//! tile is turned on the way, registers go along the one side's contiguous dimension and lanes along the other's.

use super::bank::Cost;
use super::gf2::Subspace;
use super::shared::SharedLayout;
use super::swizzle::plain_cost;
use super::{In, Layout, LayoutError};

/// The distributed layout with the fewest wavefronts of reading a tile from `from` and writing it to `to`, if it takes
/// fewer than `usual`. None where each thread would not have an element of its own.
pub fn choose(
    from: &SharedLayout,
    to: &SharedLayout,
    usual: &Layout,
    warps: u64,
) -> Result<Option<Layout>, LayoutError> {
    let threads = In::LANE_BITS + warps.ilog2();
    let bits = from.shape().total_bits();
    if from.shape() != to.shape() || bits < threads {
        return Ok(None);
    }
    let cost = |layout: &Layout| -> Result<Cost, LayoutError> {
        Ok(plain_cost(layout, from)? + plain_cost(layout, to)?)
    };
    let mut best = (cost(usual)?, None);
    let most = |side: &SharedLayout| (128 / side.element_bits()).max(1).ilog2();
    for (vectors, order) in [(to, from), (from, to), (from, from), (to, to)] {
        for n in 0..=most(vectors).min(bits - threads) {
            // Blocks of elements that are neighbours on the other side, too, are transposed in registers.
            for across in 0..=most(order).min(bits - threads - n) {
                let layout = spread([(vectors, n), (order, across)], warps)?;
                let cost = cost(&layout)?;
                if cost < best.0 {
                    best = (cost, Some(layout));
                }
            }
        }
    }
    Ok(best.1)
}

/// The layout in which a thread holds blocks of so many (as a power of two) neighbours in the first buffer times so many in
/// the second one, and threads follow each other as elements do in that.
fn spread(sides: [(&SharedLayout, u32); 2], warps: u64) -> Result<Layout, LayoutError> {
    let [(_, _), (order, _)] = sides;
    let shape = order.shape().clone();
    let neighbours = sides.map(|(side, n)| side.layout().bases(In::Offset).iter().take(n as usize));
    let mut registers: Vec<u64> = Vec::new();
    for &neighbour in neighbours.into_iter().flatten() {
        if !registers.contains(&neighbour) {
            registers.push(neighbour);
        }
    }
    let taken = Subspace::span(shape.total_bits(), &registers);
    let mut rest = taken.extend_from(order.layout().bases(In::Offset));
    let mut warp = rest.split_off((In::LANE_BITS as usize).min(rest.len()));
    registers.extend(warp.split_off((warps.ilog2() as usize).min(warp.len())));
    Layout::distributed(shape, registers, rest, warp)
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::super::blocked::Blocked;
    use super::super::shared::Swizzle;
    use super::*;

    fn strips(order: &[usize], extents: &[u64], bits: u32) -> SharedLayout {
        let shape = Shape::new(extents).unwrap();
        SharedLayout::strips(&shape, order, bits, Swizzle::B128).unwrap()
    }

    fn usual(extents: &[u64], bits: u32) -> Layout {
        let shape = Shape::new(extents).unwrap();
        Blocked {
            shape,
            order: vec![1, 0],
            max_vector: u64::from(128 / bits),
            element_bits: bits,
            warps: 4,
        }
        .layout()
        .unwrap()
    }

    #[test]
    fn a_turned_tile_meets_no_bank_twice() {
        let extents = [128, 32];
        let (from, to) = (strips(&[1, 0], &extents, 32), strips(&[0, 1], &extents, 32));
        let layout = choose(&from, &to, &usual(&extents, 32), 4)
            .unwrap()
            .unwrap();
        // 4096 elements in 4 warps of 32 lanes: 32 of 4 bytes each, as few wavefronts as there can be on each side.
        let cost = plain_cost(&layout, &from).unwrap() + plain_cost(&layout, &to).unwrap();
        assert_eq!(cost.wavefronts, 32 + 32);
        let before = usual(&extents, 32);
        let before = plain_cost(&before, &from).unwrap() + plain_cost(&before, &to).unwrap();
        assert_eq!(before.wavefronts, 32 + 4 * 32);
    }

    #[test]
    fn a_tile_that_lies_alike_stays_as_it_is() {
        let extents = [64, 64];
        let shared = strips(&[1, 0], &extents, 16);
        assert_eq!(
            choose(&shared, &shared, &usual(&extents, 16), 4).unwrap(),
            None
        );
    }
}
