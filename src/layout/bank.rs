//! Shared-memory bank conflicts, counted by rank.
//!
//! Shared memory has 32 banks of 4 bytes. One wavefront serves any set of words in
//! different banks. An access of 8 or 16 bytes per thread is served for half or a
//! quarter of the warp at a time. Because offsets are linear in the lane number, the
//! lanes that meet in a bank are a coset: each of the `2^rank` banks that are hit is hit
//! by equally many words.

use super::gf2::Matrix;
use super::shared::{BANK_WORD_LOG2, SharedLayout, WAVEFRONT_LOG2};
use super::{In, Layout, LayoutError};

/// What accesses cost a warp, most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Wavefronts of shared memory.
    pub wavefronts: u64,
    /// Memory instructions, and copies of registers for what takes elements of several side by side: see [`moves`].
    pub instructions: u64,
    /// Different thread bases that the swizzle makes necessary: each but the first of a side costs an xor per thread.
    pub bases: u64,
}

impl std::ops::Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            wavefronts: self.wavefronts + other.wavefronts,
            instructions: self.instructions + other.instructions,
            bases: self.bases + other.bases,
        }
    }
}

/// How instructions take the elements of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Taken {
    /// Elements that are taken side by side in registers, in the layout's order: those of a fragment of a matmul's operand.
    pub beside: u32,
    /// Instructions that take each of them.
    pub times: u32,
}

impl Taken {
    /// Each element by itself.
    pub const SINGLY: Taken = Taken {
        beside: 1,
        times: 1,
    };
}

/// Copies of a thread's registers for instructions that take elements side by side in registers, of `all` registers that are
/// loaded; `in_order`: of each bit of an element's number within a load, lowest first, whether it is the same bit of its number
/// among the thread's elements.
///
/// A load leaves its registers side by side, and a matrix instruction takes those of an operand side by side, in the order of
/// the operand's layout. Where a load brings parts of several operands, ptxas copies these for each instruction that takes them,
/// up to five times in matmuls of 128 rows and columns.
pub(super) fn moves(in_order: impl Iterator<Item = bool>, taken: Taken, all: u64) -> u64 {
    let needed = taken.beside.max(1).ilog2() as usize;
    match in_order.take(needed).all(|same| same) {
        true => 0,
        false => u64::from(taken.times.min(COPIES)) * all,
    }
}

/// Copies of a register that several instructions take elsewhere: the fewest that were seen.
const COPIES: u32 = 2;

/// Wavefronts that one instruction of a warp takes, when each thread accesses
/// `vector_bits` (a power of two, 8 to 128) bits of its registers of `distributed` in
/// `shared`. Every instruction of an access plan and every warp takes the same number.
pub fn wavefronts(
    distributed: &Layout,
    shared: &SharedLayout,
    vector_bits: u32,
) -> Result<u32, LayoutError> {
    let lanes = shared.offsets_from(&distributed.sublayout(&[In::Lane]))?;
    Ok(wavefronts_of_lanes(
        &lanes,
        shared.element_bits(),
        vector_bits,
    ))
}

/// The same from the map of lane bits to element offsets.
pub(super) fn wavefronts_of_lanes(lanes: &Matrix, element_bits: u32, vector_bits: u32) -> u32 {
    let access_bytes_log2 = (vector_bits / 8).max(1).ilog2();
    let together = (WAVEFRONT_LOG2 - access_bytes_log2).min(lanes.cols());
    let parts = 1 << (lanes.cols() - together);
    parts
        * words_per_bank(
            &lanes.columns_range(0, together),
            element_bits,
            access_bytes_log2,
        )
}

/// How many different words of the busiest bank the threads touch, for threads that
/// each access `2^access_bytes_log2` bytes at the offset `offsets(thread)` elements.
pub(super) fn words_per_bank(offsets: &Matrix, element_bits: u32, access_bytes_log2: u32) -> u32 {
    // Bit of an element offset that is the given bit of the byte offset.
    let element_bit = |byte_bit: u32| {
        (byte_bit + 3)
            .saturating_sub(element_bits.ilog2())
            .min(offsets.rows())
    };
    let word = element_bit(access_bytes_log2.max(BANK_WORD_LOG2));
    let line = element_bit(WAVEFRONT_LOG2).max(word);
    let words = offsets.rows_range(word, offsets.rows());
    let banks = offsets.rows_range(word, line);
    1 << (words.rank() - banks.rank())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Shape;
    use super::super::linear::tests::any_memory;
    use super::super::shared::Swizzle;
    use super::*;

    /// Counts words per bank for each part of the warp that is served together.
    fn enumerate(l: &Layout, s: &SharedLayout, vector_bits: u32) -> u32 {
        let bytes = u64::from(vector_bits / 8);
        let together = (128 / bytes.max(4)).min(32);
        let mut total = 0;
        for first in (0..32).step_by(together as usize) {
            let mut banks = vec![std::collections::BTreeSet::new(); 32];
            for lane in first..first + together {
                let at = s.byte_offset(&l.coords(0, lane, 0));
                for word in at / 4..=(at + bytes - 1) / 4 {
                    banks[word as usize % 32].insert(word);
                }
            }
            total += banks.iter().map(|b| b.len()).max().unwrap_or(0) as u32;
        }
        total
    }

    #[test]
    fn columns_of_a_row_major_tile_collide_and_swizzling_cures_it() {
        let shape = Shape::new(&[32, 32]).unwrap();
        let column = Layout::distributed(
            shape.clone(),
            vec![1, 2, 4, 8, 16],
            vec![32, 64, 128, 256, 512],
            vec![],
        )
        .unwrap();
        let plain = SharedLayout::row_major(&shape, &[1, 0], 32).unwrap();
        assert_eq!(wavefronts(&column, &plain, 32).unwrap(), 32);
        assert_eq!(wavefronts(&column, &plain, 128).unwrap(), 4 * 8);
        let swizzled = SharedLayout::swizzled(&shape, &[1, 0], 32, 1, 1, 32).unwrap();
        assert_eq!(wavefronts(&column, &swizzled, 32).unwrap(), 1);
        let b128 = SharedLayout::strips(&shape, &[1, 0], 32, Swizzle::B128).unwrap();
        assert_eq!(wavefronts(&column, &b128, 128).unwrap(), 4);
    }

    #[test]
    fn broadcast_and_shared_words_are_free() {
        let shape = Shape::new(&[32]).unwrap();
        let same =
            Layout::distributed(shape.clone(), vec![1, 2, 4, 8, 16], vec![0; 5], vec![]).unwrap();
        let s = SharedLayout::row_major(&shape, &[0], 32).unwrap();
        assert_eq!(wavefronts(&same, &s, 32).unwrap(), 1);
        let bytes =
            Layout::distributed(shape.clone(), vec![], vec![1, 2, 4, 8, 16], vec![]).unwrap();
        let s = SharedLayout::row_major(&shape, &[0], 8).unwrap();
        assert_eq!(wavefronts(&bytes, &s, 8).unwrap(), 1);
    }

    proptest! {
        /// Accesses whose lanes do not move inside the vector.
        #[test]
        fn agrees_with_counting(
            s in any_memory(&[5, 5]),
            bits in prop::sample::select(vec![8u32, 16, 32]),
            vector in 0u32..3,
            lanes in proptest::collection::vec(0u64..1024, 5),
        ) {
            let shape = s.shape().clone();
            let offsets = s.clone();
            let s = SharedLayout::new(s, bits).unwrap();
            let low = super::super::gf2::low_mask(vector);
            let lanes = lanes.into_iter().map(|x| offsets.flat_at_offset(x & !low)).collect();
            let l = Layout::distributed(shape, vec![], lanes, vec![]).unwrap();
            prop_assert_eq!(wavefronts(&l, &s, bits << vector).unwrap(), enumerate(&l, &s, bits << vector));
        }
    }
}
