//! Lanes of a warp.

use super::LANES;

/// Lanes of a mask, in order.
#[inline]
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |l| mask >> l & 1 == 1)
}
