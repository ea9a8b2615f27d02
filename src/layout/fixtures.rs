//! Layouts that several files' tests begin with.

use super::Layout;
use super::mma::{MatmulShape, MmaSync, Paired, Wgmma};

/// A warpgroup's accumulator of 16-bit operands.
pub fn accumulator(m: u64, n: u64) -> Layout {
    let tile = MatmulShape { m, n, k: 64 };
    Wgmma {
        tile,
        element_bits: 16,
        warpgroups_m: 1,
        warpgroups_n: 1,
        paired: false,
    }
    .accumulator()
    .unwrap()
}

/// A tile of 64 in each dimension by 2 × 2 warps.
pub fn mma_sync(element_bits: u32, k: u64) -> MmaSync {
    MmaSync {
        tile: MatmulShape {
            m: 64,
            n: 64,
            k: 64,
        },
        instruction: MatmulShape { m: 16, n: 8, k },
        element_bits,
        warps_m: 2,
        warps_n: 2,
        batch: None,
        paired: Paired::NONE,
    }
}
