//! How a tile in shared memory is cut into TMA boxes.
//!
//! One `cp.async.bulk.tensor` fills a box densely, rows after one another, then permutes
//! the 16-byte chunks by the swizzle. Its limits (PTX ISA, "Tensor"; CUDA driver API,
//! `cuTensorMapEncodeTiled`): at most 5 dimensions, at most 256 elements of each, an
//! inner extent of a multiple of 16 bytes and, when swizzled, at most the swizzle's span.

use super::gf2::ones;
use super::shape::Coords;
use super::shared::{SharedLayout, Swizzle};
use super::{In, LayoutError};

/// The boxes that make up one tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaBoxes {
    /// Extents of a box by tile dimension.
    pub box_extents: Coords,
    /// The swizzle of the tensor map.
    pub swizzle: Swizzle,
    /// Bytes of a box.
    pub box_bytes: u64,
    /// Bytes to whose multiple the tile's buffer must be aligned.
    pub alignment: u64,
    /// The boxes.
    pub boxes: Vec<TmaBox>,
}

impl TmaBoxes {
    /// Whether every box starts where the swizzle's pattern does.
    pub fn are_whole_patterns(&self) -> bool {
        let starts = |b: &TmaBox| b.offset.is_multiple_of(self.alignment);
        self.boxes.iter().all(starts)
    }
}

/// One box of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmaBox {
    /// Coordinates in the tile of the box's first element.
    pub start: Coords,
    /// Byte offset of the box in the tile's buffer.
    pub offset: u64,
}

/// Most elements of a box along one dimension, as a power of two.
pub const MAX_EXTENT_BITS: u32 = 8;
/// Most dimensions of a box.
const MAX_RANK: usize = 5;
/// A box starts at a multiple of so many bytes. What a swizzle permutes there follows from the addresses: the pattern need
/// not start where the box does (CUDA C++ Programming Guide, "Swizzle modes").
const BOX_ALIGN: u64 = 128;

/// The boxes with which TMA fills (or stores) the tile in `shared`, for a tensor whose
/// dimensions lie in memory in `order` (fastest first). Fails if TMA cannot leave this
/// layout in memory with `swizzle`.
pub fn boxes(
    shared: &SharedLayout,
    order: &[usize],
    swizzle: Swizzle,
) -> Result<TmaBoxes, LayoutError> {
    boxes_for(shared, order, swizzle, Cut::default())
}

/// What boxes may not reach over.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// There are at least as many boxes as blocks (a power of two), so that each of them brings equally many.
    pub blocks: u64,
    /// The dimension of which each box has one element: each of these lies somewhere else.
    pub pages: Option<usize>,
}

impl Default for Cut {
    fn default() -> Self {
        Self {
            blocks: 1,
            pages: None,
        }
    }
}

/// As [`boxes`], but `cut` further.
pub fn boxes_for(
    shared: &SharedLayout,
    order: &[usize],
    swizzle: Swizzle,
    cut: Cut,
) -> Result<TmaBoxes, LayoutError> {
    let shape = shared.shape();
    shape.check_order(order)?;
    let no = |why: &str| {
        Err(LayoutError::Unsupported(format!(
            "TMA of {}: {why}",
            shared.layout()
        )))
    };
    if shape.rank() > MAX_RANK || shape.rank() == 0 {
        return no("a box has 1 to 5 dimensions");
    }
    if shared.element_bits() < 8 {
        return no("elements are under a byte");
    }
    let element_bytes = u64::from(shared.element_bits()) / 8;
    let plain = shared.with_address_swizzle(swizzle)?;
    let bases = plain.layout().bases(In::Offset);
    let within = order.iter().position(|&d| Some(d) == cut.pages);
    let mut inside = box_bits(shape, bases, &order[..within.unwrap_or(order.len())]);
    let wanted = cut.blocks.max(1).ilog2();
    while (bases.len() as u32) < inside.iter().sum::<u32>() + wanted {
        // The dimension that was walked last is cut.
        match order.iter().rev().find(|&&d| inside[d] > 0) {
            Some(&last) => inside[last] -= 1,
            None => return no("it has fewer elements than there are blocks"),
        }
    }
    let box_bits: u32 = inside.iter().sum();
    let (_, outside) = bases.split_at(box_bits as usize);
    let inner_bytes = element_bytes << inside[order[0]];
    if !inner_bytes.is_multiple_of(16) {
        return no("the inner extent is not a multiple of 16 bytes");
    }
    if swizzle != Swizzle::None && inner_bytes != swizzle.span_bytes() {
        return no("rows are not as wide as the swizzle");
    }
    // Whole boxes only: the remaining bits must step from box to box.
    let inside_mask: u64 = bases[..box_bits as usize].iter().fold(0, |m, b| m | b);
    if outside.iter().any(|b| b & inside_mask != 0) {
        return no("the layout is not made of boxes");
    }
    let box_bytes = element_bytes << box_bits;
    if !outside.is_empty() && !box_bytes.is_multiple_of(BOX_ALIGN) {
        return no("boxes do not start at multiples of 128 bytes");
    }
    let boxes = (0..1u64 << outside.len()).map(|i| TmaBox {
        start: shape.unflatten(ones(i).fold(0, |acc, b| acc ^ outside[b as usize])),
        offset: i * box_bytes,
    });
    Ok(TmaBoxes {
        box_extents: inside.iter().map(|b| 1 << b).collect(),
        swizzle,
        box_bytes,
        alignment: swizzle.alignment(),
        boxes: boxes.collect(),
    })
}

/// The largest box: for each tile dimension, how many of the lowest offset bits walk it,
/// dimension by dimension in `order`. Where a dimension is cut (at a swizzle's span, or at
/// 256 elements) the next is walked if the offset bits go on there.
fn box_bits(shape: &super::Shape, bases: &[u64], order: &[usize]) -> Vec<u32> {
    let mut inside = vec![0; shape.rank()];
    let mut at = 0;
    for &d in order {
        while inside[d] < MAX_EXTENT_BITS.min(shape.dim_bits(d))
            && bases.get(at) == Some(&shape.along(d, 1 << inside[d]))
        {
            inside[d] += 1;
            at += 1;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;

    /// Fills a buffer box by box as the hardware does and looks where elements are.
    fn check(shared: &SharedLayout, order: &[usize], swizzle: Swizzle) -> TmaBoxes {
        check_cut(shared, order, swizzle, Cut::default())
    }

    fn check_cut(shared: &SharedLayout, order: &[usize], swizzle: Swizzle, cut: Cut) -> TmaBoxes {
        let t = boxes_for(shared, order, swizzle, cut).unwrap();
        let bytes = u64::from(shared.element_bits()) / 8;
        let mut seen = std::collections::BTreeSet::new();
        for b in &t.boxes {
            assert_eq!(b.offset % 128, 0);
            for i in 0..t.box_extents.iter().product::<u64>() {
                let (mut rest, mut coords) = (i, b.start.clone());
                for &d in order {
                    coords[d] += rest % t.box_extents[d];
                    rest /= t.box_extents[d];
                }
                assert_eq!(
                    swizzle.apply(b.offset + i * bytes),
                    shared.byte_offset(&coords)
                );
                assert!(seen.insert(coords));
            }
        }
        assert_eq!(seen.len() as u64, shared.shape().elements());
        t
    }

    fn strips(extents: &[u64], order: &[usize], bits: u32, swizzle: Swizzle) -> TmaBoxes {
        let s = SharedLayout::strips(&Shape::new(extents).unwrap(), order, bits, swizzle).unwrap();
        check(&s, order, swizzle)
    }

    #[test]
    fn matmul_operands() {
        let a = strips(&[128, 64], &[1, 0], 16, Swizzle::B128);
        assert_eq!(
            (a.box_extents.as_slice(), a.boxes.len()),
            (&[128, 64][..], 1)
        );
        let b = strips(&[64, 128], &[1, 0], 16, Swizzle::B128);
        assert_eq!(
            (b.box_extents.as_slice(), b.boxes.len()),
            (&[64, 64][..], 2)
        );
        assert_eq!(
            (b.boxes[1].start.as_slice(), b.boxes[1].offset),
            (&[0, 64][..], 8192)
        );
        let narrow = strips(&[64, 32], &[1, 0], 16, Swizzle::B64);
        assert_eq!(narrow.boxes.len(), 1);
    }

    #[test]
    fn long_dimensions_are_cut_at_256() {
        let rows = strips(&[512, 32], &[1, 0], 16, Swizzle::B64);
        assert_eq!(
            (rows.box_extents.as_slice(), rows.boxes.len()),
            (&[256, 32][..], 2)
        );
        let plain = SharedLayout::row_major(&Shape::new(&[1024]).unwrap(), &[0], 32).unwrap();
        assert_eq!(check(&plain, &[0], Swizzle::None).boxes.len(), 4);
    }

    #[test]
    fn a_page_has_boxes_of_its_own() {
        let pages = Cut {
            pages: Some(0),
            ..Cut::default()
        };
        let order = [3, 2, 1, 0];
        let shape = Shape::new(&[4, 16, 1, 128]).unwrap();
        let s = SharedLayout::strips(&shape, &order, 16, Swizzle::B128).unwrap();
        let t = check_cut(&s, &order, Swizzle::B128, pages);
        assert_eq!(t.box_extents.as_slice(), &[1, 16, 1, 64]);
        let starts: Vec<(u64, u64)> = t.boxes.iter().map(|b| (b.start[0], b.start[3])).collect();
        let expected = [
            (0, 0),
            (1, 0),
            (2, 0),
            (3, 0),
            (0, 64),
            (1, 64),
            (2, 64),
            (3, 64),
        ];
        assert_eq!(starts, expected);
        // Without pages, a box goes over all of them.
        assert_eq!(check(&s, &order, Swizzle::B128).boxes.len(), 2);
    }

    #[test]
    fn three_dimensions_and_every_swizzle() {
        for swizzle in Swizzle::SWIZZLED {
            strips(&[2, 16, 64], &[2, 1, 0], 16, swizzle);
            strips(&[2, 64, 8], &[1, 2, 0], 32, swizzle);
        }
        let plain =
            SharedLayout::row_major(&Shape::new(&[4, 8, 32]).unwrap(), &[2, 1, 0], 32).unwrap();
        assert_eq!(check(&plain, &[2, 1, 0], Swizzle::None).boxes.len(), 1);
    }

    #[test]
    fn what_tma_cannot_do_is_refused() {
        let shape = Shape::new(&[64, 64]).unwrap();
        let row_major = SharedLayout::row_major(&shape, &[1, 0], 32).unwrap();
        let refused = |s: &SharedLayout, order: &[usize], swizzle| {
            boxes(s, order, swizzle).unwrap_err().to_string()
        };
        assert!(refused(&row_major, &[1, 0], Swizzle::B128).contains("not made of boxes"));
        assert!(refused(&row_major, &[0, 1], Swizzle::None).contains("16 bytes"));
        let narrow = SharedLayout::row_major(&Shape::new(&[64, 4]).unwrap(), &[1, 0], 16).unwrap();
        assert!(refused(&narrow, &[1, 0], Swizzle::None).contains("16 bytes"));
        let wide = row_major.with_address_swizzle(Swizzle::B128).unwrap();
        assert!(refused(&wide, &[1, 0], Swizzle::B128).contains("as wide as the swizzle"));
        let flat = SharedLayout::strips(&Shape::new(&[2, 32]).unwrap(), &[1, 0], 16, Swizzle::B32)
            .unwrap();
        assert!(refused(&flat, &[1, 0], Swizzle::B32).contains("multiples of 128"));
    }

    #[test]
    fn boxes_may_be_less_than_the_pattern() {
        let four_rows = strips(&[4, 128], &[1, 0], 16, Swizzle::B128);
        assert_eq!((four_rows.boxes.len(), four_rows.boxes[1].offset), (2, 512));
        assert!(!four_rows.are_whole_patterns());
    }
}
