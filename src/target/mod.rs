//! What is compiled for: an architecture such as `sm_90a`, what it can do and where its limits are.

mod arch;
mod feature;
mod name;

use std::fmt;
use std::str::FromStr;

use arch::{ARCHS, Arch};
pub use feature::Feature;
pub use name::{PtxVersion, Suffix};

/// A compilation target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Target {
    /// `90` of `sm_90a`.
    pub sm: u16,
    pub suffix: Suffix,
}

/// Parts of a multiprocessor that run warps by themselves.
const PARTS: u64 = 4;
/// Registers of a thread are a multiple of this.
const UNIT: u64 = 8;
/// Bytes of shared memory that the system takes of each block's from sm_80 on (CUDA C++ Programming Guide, "Shared
/// Memory"); before, a block can have all of a multiprocessor's ("Technical Specifications per Compute Capability").
const SHARED_OF_SYSTEM: u64 = 1024;

impl Target {
    fn arch(self) -> Option<&'static Arch> {
        ARCHS.iter().find(|row| row.sm == self.sm)
    }

    /// The lowest PTX ISA version whose `.target` knows this one; a version that there is none of for a target that is
    /// not in the table.
    pub fn ptx_version(self) -> PtxVersion {
        let known = self.arch().and_then(|row| row.ptx_version(self.suffix));
        known.unwrap_or(PtxVersion(u8::MAX, 0))
    }

    /// Whether the target has `feature`.
    pub fn has(self, feature: Feature) -> bool {
        self.arch().is_some_and(|row| row.has(self.suffix, feature))
    }

    /// Registers a thread may have.
    pub fn max_registers_per_thread(self) -> u32 {
        255
    }

    /// 32-bit registers of a multiprocessor.
    pub fn registers_per_sm(self) -> u32 {
        65536
    }

    /// Registers that each thread can have where `warps` warps, of all blocks, share a multiprocessor: each of its
    /// four parts runs every fourth warp with a quarter of the registers, which a warp gets in units of 256 (CUDA C++
    /// Programming Guide, "Hardware Multithreading"; what ptxas chooses for `.reqntid` and `.minnctapersm`).
    pub fn registers_per_thread(self, warps: u64) -> u64 {
        let part = u64::from(self.registers_per_sm()) / PARTS;
        let registers = part / (32 * warps.div_ceil(PARTS).max(1)) / UNIT * UNIT;
        registers.min(u64::from(self.max_registers_per_thread()))
    }

    /// Blocks of `warps` warps whose threads can have `registers` each on one multiprocessor.
    pub fn blocks_by_registers(self, warps: u64, registers: u64) -> u64 {
        let part = u64::from(self.registers_per_sm()) / PARTS;
        let warps_of_part = part / (32 * registers.next_multiple_of(UNIT)).max(1);
        PARTS * warps_of_part / warps.max(1)
    }

    /// Bytes of shared memory that each of `blocks` blocks on a multiprocessor can have.
    pub fn shared_of_each(self, blocks: u64) -> u64 {
        (self.shared_per_sm() / blocks.max(1)).saturating_sub(self.shared_of_system())
    }

    /// Blocks of so many `bytes` of shared memory that a multiprocessor has room for.
    pub fn blocks_by_shared(self, bytes: u64) -> i64 {
        i64::try_from(self.shared_per_sm() / (bytes + self.shared_of_system()).max(1)).unwrap_or(1)
    }

    /// Bytes of shared memory of a multiprocessor: one block's and the system's.
    pub fn shared_per_sm(self) -> u64 {
        u64::from(self.shared_per_block()) + self.shared_of_system()
    }

    /// Bytes of shared memory that the system takes of each block's.
    pub fn shared_of_system(self) -> u64 {
        if self.sm < 80 { 0 } else { SHARED_OF_SYSTEM }
    }

    /// Threads that a multiprocessor can hold.
    pub fn threads_per_sm(self) -> u32 {
        self.arch().map_or(0, |row| row.threads)
    }

    /// Blocks that a multiprocessor can hold.
    pub fn blocks_per_sm(self) -> u32 {
        self.arch().map_or(0, |row| row.blocks)
    }

    /// Multiprocessors of the largest card.
    pub fn multiprocessors(self) -> u32 {
        self.arch().map_or(0, |row| row.multiprocessors)
    }

    /// Bytes that a multiprocessor should have under way from global memory to keep it busy.
    pub fn bytes_in_flight(self) -> u64 {
        self.arch().map_or(0, |row| 1024 * row.bytes_in_flight)
    }

    /// Bytes that one multiprocessor can count on to find again in the second-level cache.
    pub fn cache_per_sm(self) -> u64 {
        self.arch().map_or(0, |row| 1024 * row.cache)
    }

    /// Bytes of shared memory one block may ask for.
    pub fn shared_per_block(self) -> u32 {
        self.arch().map_or(0, |row| 1024 * row.shared_per_block)
    }

    /// Bytes of shared memory a block may declare statically.
    pub const STATIC_SHARED: u32 = 48 * 1024;

    /// Every target, plain ones first within an architecture.
    pub fn all() -> impl Iterator<Item = Target> {
        let suffixes = [Suffix::None, Suffix::Family, Suffix::Arch];
        let named = move |row: &'static Arch| {
            let exists = move |suffix: &Suffix| row.ptx_version(*suffix).is_some();
            let target = move |suffix| Target { sm: row.sm, suffix };
            suffixes.into_iter().filter(exists).map(target)
        };
        ARCHS.iter().flat_map(named)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.suffix {
            Suffix::None => "",
            Suffix::Family => "f",
            Suffix::Arch => "a",
        };
        write!(f, "sm_{}{suffix}", self.sm)
    }
}

/// Why a name is no target.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown target '{name}': expected one of {}", Target::all().map(|t| t.to_string()).collect::<Vec<_>>().join(", "))]
pub struct UnknownTarget {
    pub name: String,
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        Target::all()
            .find(|t| t.to_string() == name)
            .ok_or_else(|| UnknownTarget { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for target in Target::all() {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        for name in ["", "sm_", "sm_90b", "sm_080", "compute_80", "sm_80a"] {
            assert!(name.parse::<Target>().is_err(), "{name}");
        }
    }

    /// What ptxas 13.5 gives a kernel that could use more than 255, by threads of a block and blocks.
    #[test]
    fn registers_go_by_the_parts_of_a_multiprocessor() {
        let target = Target {
            sm: 90,
            suffix: Suffix::Arch,
        };
        let known = [
            (128, 1, 255),
            (160, 1, 255),
            (256, 1, 255),
            (288, 1, 168),
            (384, 1, 168),
            (416, 1, 128),
            (544, 1, 96),
            (1024, 1, 64),
            (160, 2, 168),
            (160, 3, 128),
            (192, 3, 96),
            (64, 10, 96),
            (32, 17, 96),
        ];
        for (threads, blocks, registers) in known {
            let warps = threads / 32 * blocks;
            assert_eq!(
                target.registers_per_thread(warps),
                registers,
                "{threads} {blocks}"
            );
            if registers < 255 {
                assert!(target.blocks_by_registers(threads / 32, registers) >= blocks);
                assert!(target.blocks_by_registers(threads / 32, registers + 1) < blocks.max(2));
            }
        }
        assert_eq!(target.blocks_by_registers(9, 224), 0);
    }

    #[test]
    fn warpgroup_instructions_belong_to_one_target() {
        let with: Vec<_> = Target::all().filter(|t| t.has(Feature::Wgmma)).collect();
        assert_eq!(with.len(), 1);
        assert_eq!(with[0].to_string(), "sm_90a");
    }
}
