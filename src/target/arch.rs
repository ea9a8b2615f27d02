//! The table of architectures: a row holds everything that is known of one.

use super::feature::{Feature as F, Feature, Features};
use super::name::{PtxVersion, Suffix};

/// An architecture.
pub struct Arch {
    /// `90` of `sm_90a`.
    pub sm: u16,
    /// The lowest PTX ISA versions whose `.target` knows the plain name, the family's (`f`) and its own (`a`), where
    /// there are such names (PTX ISA, "PTX Module Directives: .target" and its release history).
    ptx: [Option<PtxVersion>; 3],
    /// KiB of shared memory that one block may ask for (CUDA C++ Programming Guide, "Technical Specifications per
    /// Compute Capability").
    pub shared_per_block: u32,
    /// Threads that a multiprocessor can hold (as above).
    pub threads_per_sm: u32,
    /// KiB that a multiprocessor should have under way from global memory to keep it busy: its share of the bandwidth
    /// for the time that a load takes, twice, for loads come in bursts. With 0.6 µs: H100 3350 GB/s by 132
    /// multiprocessors, 15 KB; B200 8000 GB/s by 148, 32 KB; A100 1555 GB/s by 108, 9 KB; RTX 5090 1792 GB/s by 170,
    /// 6 KB (data sheets of these).
    pub bytes_in_flight: u64,
    /// KiB of the second-level cache that a multiprocessor can count on: half of its share, for it also holds what is
    /// written, and on data centre GPUs copies of what is far. T4 4 MB by 40 multiprocessors; A100 40 by 108, RTX 3090 6 by 82,
    /// Jetson AGX Orin 4 by 16; RTX 4090 72 by 128; H100 50 by 132; B200 126 by 148, B300 126 by 160, Jetson Thor 32 by 20;
    /// RTX 5090 96 by 170, GB10 24 by 48 (data sheets and white papers of these).
    pub cache: u64,
    /// Most stages of a loop's tiles that threads load and store to shared memory one iteration ahead; 0 where copies
    /// to shared memory are asynchronous.
    pub register_stages: u64,
    /// What the plain name has.
    features: Features,
    /// What the names with a suffix have besides.
    own: Features,
}

const TURING: Features = Features::NONE;
const AMPERE: Features = TURING.and(&[F::CpAsync, F::MmaAmpere]);
const ADA: Features = AMPERE.and(&[F::Fp8Convert]);
const HOPPER: Features = ADA.and(&[
    F::Bf16Arithmetic,
    F::Tma,
    F::Clusters,
    F::StMatrix,
    F::Multimem,
    F::GridDependency,
]);
const BLACKWELL: Features = HOPPER.and(&[F::Wide256]);
const BLACKWELL_PAIRS: Features = BLACKWELL.and(&[F::PackedF32]);

// What names with a suffix have besides: data centre GPUs of the Hopper and Blackwell generations, and Blackwell's GPUs
// for graphics.
const HOPPER_OWN: Features = Features::NONE.and(&[F::Wgmma, F::SetMaxNReg]);
const DATACENTER_OWN: Features = Features::NONE.and(&[F::Tcgen05, F::SetMaxNReg, F::ByteMatrices]);
const GRAPHICS_OWN: Features = Features::NONE.and(&[F::BlockScale, F::SetMaxNReg, F::ByteMatrices]);

const fn v(major: u8, minor: u8) -> Option<PtxVersion> {
    Some(PtxVersion(major, minor))
}

/// A row, its columns in the order of [`Arch`].
const fn arch(
    sm: u16,
    ptx: [Option<PtxVersion>; 3],
    [shared, threads, in_flight, cache, register_stages]: [u32; 5],
    features: Features,
    own: Features,
) -> Arch {
    Arch {
        sm,
        ptx,
        shared_per_block: shared,
        threads_per_sm: threads,
        bytes_in_flight: in_flight as u64,
        cache: cache as u64,
        register_stages: register_stages as u64,
        features,
        own,
    }
}

/// Every architecture, by number.
#[rustfmt::skip]
pub const ARCHS: &[Arch] = &[
    // sm, PTX ISA: plain, family, own;        KiB a block, threads, KiB in flight, KiB of cache, stages through registers
    arch(75,  [v(6, 3), None,    None   ], [64, 1024, 16, 51, 2],    TURING,    Features::NONE),
    arch(80,  [v(7, 0), None,    None   ], [163, 2048, 16, 189, 0],  AMPERE,    Features::NONE),
    arch(86,  [v(7, 1), None,    None   ], [99, 1536, 16, 37, 0],    AMPERE,    Features::NONE),
    arch(87,  [v(7, 4), None,    None   ], [163, 2048, 16, 128, 0],  AMPERE,    Features::NONE),
    arch(88,  [v(9, 0), None,    None   ], [99, 1536, 16, 37, 0],    AMPERE,    Features::NONE),
    arch(89,  [v(7, 8), None,    None   ], [99, 1536, 16, 288, 0],   ADA,       Features::NONE),
    arch(90,  [v(7, 8), None,    v(8, 0)], [227, 2048, 32, 193, 0],  HOPPER,    HOPPER_OWN),
    arch(100, [v(8, 6), v(8, 8), v(8, 6)], [227, 2048, 64, 435, 0],  BLACKWELL_PAIRS, DATACENTER_OWN),
    arch(103, [v(8, 8), v(8, 8), v(8, 8)], [227, 2048, 64, 403, 0],  BLACKWELL_PAIRS, DATACENTER_OWN),
    arch(110, [v(9, 0), v(9, 0), v(9, 0)], [227, 2048, 64, 819, 0],  BLACKWELL, DATACENTER_OWN),
    arch(120, [v(8, 7), v(8, 8), v(8, 7)], [99, 1536, 16, 289, 0],   BLACKWELL, GRAPHICS_OWN),
    arch(121, [v(8, 8), v(8, 8), v(8, 8)], [99, 1536, 16, 256, 0],   BLACKWELL, GRAPHICS_OWN),
];

impl Arch {
    /// The lowest PTX ISA version that knows the name with this suffix; `None` where there is no such name.
    pub fn ptx_version(&self, suffix: Suffix) -> Option<PtxVersion> {
        self.ptx[suffix as usize]
    }

    /// Whether the name with this suffix has `feature`.
    pub fn has(&self, suffix: Suffix, feature: Feature) -> bool {
        self.features.has(feature) || suffix != Suffix::None && self.own.has(feature)
    }
}
