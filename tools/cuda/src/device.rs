//! What the emulated devices are: all alike, of the target that the settings name.

use crate::settings::settings;
use crate::status::{Result, Status};
use tilec::target::{Feature, Target};

/// The CUDA version that the driver has, as `cuda.h` 13.5 counts.
pub const DRIVER_VERSION: i32 = 13050;
/// Bytes of memory that a device says it has.
pub const MEMORY: u64 = 64 << 30;

/// Checks a device's number.
pub fn check(device: i32) -> Result {
    match (0..settings().devices).contains(&device) {
        true => Ok(()),
        false => Err(Status::INVALID_DEVICE),
    }
}

/// Its name.
pub fn name(target: Target) -> String {
    format!("tilec emulation of {target}")
}

/// A number of the table of targets as the driver's interface has it.
fn signed(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The number of multiprocessors.
pub fn multiprocessors() -> i32 {
    signed(settings().target.multiprocessors())
}

/// Blocks of `threads` threads with `shared` bytes of shared memory that a multiprocessor has room for.
pub fn occupancy(threads: i32, shared: u64) -> i32 {
    let target = settings().target;
    if !(1..=1024).contains(&threads) {
        return 0;
    }
    let by_warps = signed(target.threads_per_sm()) / 32 / ((threads + 31) / 32);
    let by_shared = target.blocks_by_shared(shared).min(1 << 16) as i32;
    by_warps.min(signed(target.blocks_per_sm())).min(by_shared)
}

/// The value of a `CUdevice_attribute`.
pub fn attribute(number: i32) -> Result<i32> {
    let target = settings().target;
    let flag = i32::from;
    Ok(match number {
        1..=3 => 1024,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        8 => 48 << 10,
        9 => 64 << 10,
        10 => 32,
        11 => i32::MAX,
        12 | 82 => 65536,
        13 => 1_500_000,
        14 => 512,
        15 | 19 | 31 | 41 | 78 | 79 | 80 | 83 | 90 | 91 | 95 | 99 => 1,
        16 => signed(target.multiprocessors()),
        // No texture or surface units are emulated, but programs ask for their limits.
        21..=29 | 42..=49 | 52..=77 if !matches!(number, 75 | 76) => 16384,
        30 => 512,
        34 => 0,
        33 => 1,
        36 => 2_000_000,
        37 => 4096,
        38 => 50 << 20,
        39 => signed(target.threads_per_sm()),
        40 => 3,
        51 => 32,
        75 => i32::from(target.sm / 10),
        76 => i32::from(target.sm % 10),
        81 => target.shared_per_sm() as i32,
        87 => 2,
        92..=94 | 122 | 123 => 1,
        97 => target.shared_per_block() as i32,
        106 => signed(target.blocks_per_sm()),
        108 | 109 => 32 << 20,
        111 => target.shared_of_system() as i32,
        115 => 1,
        120 => flag(target.has(Feature::Clusters)),
        126 => 4,
        127 => flag(target.has(Feature::Tma)),
        129 => 1,
        131 | 134 => -1,
        _ if (1..=160).contains(&number) => 0,
        _ => return Err(Status::INVALID_VALUE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", sm_90.
    #[test]
    fn an_sm_90_is_one() {
        assert_eq!(attribute(75), Ok(9));
        assert_eq!(attribute(76), Ok(0));
        assert_eq!(attribute(97), Ok(227 * 1024));
        assert_eq!(attribute(2), Ok(1024));
        assert_eq!(attribute(4), Ok(64));
        assert_eq!(attribute(100_000), Err(Status::INVALID_VALUE));
        assert_eq!(occupancy(1024, 0), 2);
        assert_eq!(occupancy(128, 100 << 10), 2);
    }
}
