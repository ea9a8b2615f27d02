//! What is compiled for: an architecture such as `sm_90a`, what it can do and where its limits are.

use std::fmt;
use std::str::FromStr;

/// A PTX ISA version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PtxVersion(pub u8, pub u8);

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl FromStr for PtxVersion {
    type Err = ();

    fn from_str(s: &str) -> Result<Self, ()> {
        let (major, minor) = s.split_once('.').ok_or(())?;
        Ok(Self(
            major.parse().map_err(|_| ())?,
            minor.parse().map_err(|_| ())?,
        ))
    }
}

/// Which instructions beyond the common set a target name promises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Suffix {
    /// `sm_90`: what every later architecture has too.
    None,
    /// `sm_100f`: what the family has.
    Family,
    /// `sm_90a`: what this architecture alone has.
    Arch,
}

/// A compilation target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Target {
    /// `90` of `sm_90a`.
    pub sm: u16,
    pub suffix: Suffix,
}

/// Something only some targets can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Feature {
    /// `cp.async`, global to shared.
    CpAsync,
    /// `mma.sync` with bf16 and tf32 operands, and m16n8k16 for f16.
    MmaAmpere,
    /// bf16 arithmetic beyond `fma`, `min`, `max`, `neg`, `abs`.
    Bf16Arithmetic,
    /// Conversions from and to 8-bit floats.
    Fp8Convert,
    /// Tensor copies (`cp.async.bulk.tensor`) and mbarriers with transaction counts.
    Tma,
    /// Thread block clusters.
    Clusters,
    /// Warpgroup matrix multiplication.
    Wgmma,
    /// `setmaxnreg`.
    SetMaxNReg,
    /// `stmatrix`.
    StMatrix,
    /// `griddepcontrol`.
    GridDependency,
    /// Global accesses of 32 bytes.
    Wide256,
    /// Multicast addresses (`multimem`).
    Multimem,
    /// Tensor memory and `tcgen05`.
    Tcgen05,
    /// `mma.sync` that multiplies its operands by scale factors.
    BlockScale,
}

/// Architectures with the lowest PTX ISA version that names each: plain, family, own.
/// Source: PTX ISA, "PTX Module Directives: .target" and its release history.
const ARCHS: &[(u16, PtxVersion, Option<PtxVersion>, Option<PtxVersion>)] = &[
    (75, PtxVersion(6, 3), None, None),
    (80, PtxVersion(7, 0), None, None),
    (86, PtxVersion(7, 1), None, None),
    (87, PtxVersion(7, 4), None, None),
    (88, PtxVersion(9, 0), None, None),
    (89, PtxVersion(7, 8), None, None),
    (90, PtxVersion(7, 8), None, Some(PtxVersion(8, 0))),
    (
        100,
        PtxVersion(8, 6),
        Some(PtxVersion(8, 8)),
        Some(PtxVersion(8, 6)),
    ),
    (
        103,
        PtxVersion(8, 8),
        Some(PtxVersion(8, 8)),
        Some(PtxVersion(8, 8)),
    ),
    (
        110,
        PtxVersion(9, 0),
        Some(PtxVersion(9, 0)),
        Some(PtxVersion(9, 0)),
    ),
    (
        120,
        PtxVersion(8, 7),
        Some(PtxVersion(8, 8)),
        Some(PtxVersion(8, 7)),
    ),
    (
        121,
        PtxVersion(8, 8),
        Some(PtxVersion(8, 8)),
        Some(PtxVersion(8, 8)),
    ),
];

/// Parts of a multiprocessor that run warps by themselves.
const PARTS: u64 = 4;
/// Registers of a thread are a multiple of this.
const UNIT: u64 = 8;

impl Feature {
    /// Its name in rules (`(feature NAME)`) and in the instruction table (`feature=NAME`).
    const NAMES: &[(&str, Feature)] = &[
        ("cp-async", Feature::CpAsync),
        ("mma-ampere", Feature::MmaAmpere),
        ("bf16-arithmetic", Feature::Bf16Arithmetic),
        ("fp8-convert", Feature::Fp8Convert),
        ("tma", Feature::Tma),
        ("clusters", Feature::Clusters),
        ("wgmma", Feature::Wgmma),
        ("setmaxnreg", Feature::SetMaxNReg),
        ("stmatrix", Feature::StMatrix),
        ("grid-dependency", Feature::GridDependency),
        ("wide256", Feature::Wide256),
        ("multimem", Feature::Multimem),
        ("tcgen05", Feature::Tcgen05),
        ("block-scale", Feature::BlockScale),
    ];

    pub fn named(name: &str) -> Option<Feature> {
        let row = Self::NAMES.iter().find(|row| row.0 == name);
        row.map(|row| row.1)
    }
}

impl Target {
    /// The lowest PTX ISA version whose `.target` knows this one.
    pub fn ptx_version(self) -> PtxVersion {
        let row = ARCHS.iter().find(|row| row.0 == self.sm);
        row.and_then(|&(_, plain, family, own)| match self.suffix {
            Suffix::None => Some(plain),
            Suffix::Family => family,
            Suffix::Arch => own,
        })
        .unwrap_or(PtxVersion(u8::MAX, 0))
    }

    /// Whether the target has `feature`.
    pub fn has(self, feature: Feature) -> bool {
        let own = self.suffix != Suffix::None;
        match feature {
            Feature::CpAsync | Feature::MmaAmpere => self.sm >= 80,
            Feature::Fp8Convert => self.sm >= 89,
            Feature::Bf16Arithmetic
            | Feature::Tma
            | Feature::Clusters
            | Feature::StMatrix
            | Feature::Multimem
            | Feature::GridDependency => self.sm >= 90,
            Feature::Wgmma => self.sm == 90 && self.suffix == Suffix::Arch,
            Feature::SetMaxNReg => self.sm >= 90 && own,
            Feature::Wide256 => self.sm >= 100,
            Feature::Tcgen05 => own && (100..120).contains(&self.sm),
            Feature::BlockScale => own && (120..130).contains(&self.sm),
        }
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

    /// Threads that a multiprocessor can hold (CUDA C++ Programming Guide, "Technical Specifications per Compute
    /// Capability").
    pub fn threads_per_sm(self) -> u32 {
        match self.sm {
            75 => 1024,
            86 | 88 | 89 | 120 | 121 => 1536,
            _ => 2048,
        }
    }

    /// Bytes that a multiprocessor should have under way from global memory to keep it busy: its share of the
    /// bandwidth for the time that a load takes, twice, for loads come in bursts. With 0.6 µs: H100 3350 GB/s by 132
    /// multiprocessors, 15 KB; B200 8000 GB/s by 148, 32 KB; A100 1555 GB/s by 108, 9 KB; RTX 5090 1792 GB/s by 170,
    /// 6 KB (data sheets of these).
    pub fn bytes_in_flight(self) -> u64 {
        1024 * match self.sm {
            90 => 32,
            100 | 103 | 110 => 64,
            _ => 16,
        }
    }

    /// Bytes of shared memory one block may ask for (CUDA C++ Programming Guide, "Technical
    /// Specifications per Compute Capability").
    pub fn shared_per_block(self) -> u32 {
        1024 * match self.sm {
            75 => 64,
            80 | 87 => 163,
            86 | 88 | 89 => 99,
            90 | 100 | 103 | 110 => 227,
            _ => 99,
        }
    }

    /// Bytes of shared memory a block may declare statically.
    pub const STATIC_SHARED: u32 = 48 * 1024;

    /// Every target, plain ones first within an architecture.
    pub fn all() -> impl Iterator<Item = Target> {
        ARCHS.iter().flat_map(|&(sm, _, family, own)| {
            let plain = Some(Suffix::None);
            [
                plain,
                family.map(|_| Suffix::Family),
                own.map(|_| Suffix::Arch),
            ]
            .into_iter()
            .flatten()
            .map(move |suffix| Target { sm, suffix })
        })
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
