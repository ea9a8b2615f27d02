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
    /// Multiprocessors of its largest card.
    pub multiprocessors: u32,
    /// Threads that a multiprocessor can hold (CUDA C++ Programming Guide, "Technical Specifications per Compute
    /// Capability"; ptxas ignores a `.minnctapersm` that asks for more).
    pub threads: u32,
    /// Blocks that a multiprocessor can hold (as above).
    pub blocks: u32,
    /// KiB of shared memory that one block may ask for (as above).
    pub shared_per_block: u32,
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
    /// What the plain name has.
    features: Features,
    /// What the names with a suffix have besides.
    own: Features,
}

const TURING: Features = Features::NONE;
const AMPERE: Features = TURING.and(&[F::CpAsync, F::MmaAmpere, F::Redux]);
const ADA: Features = AMPERE.and(&[F::Fp8Convert]);
const HOPPER: Features = ADA.and(&[
    F::Bf16Arithmetic,
    F::Tma,
    F::Clusters,
    F::StMatrix,
    F::Multimem,
    F::VectorAtomics,
    F::GridDependency,
]);
const BLACKWELL: Features = HOPPER.and(&[F::Wide256]);
const BLACKWELL_DATACENTER: Features = BLACKWELL.and(&[F::ExtremeOfThree]);
const BLACKWELL_PAIRS: Features = BLACKWELL_DATACENTER.and(&[F::PackedF32]);

// What names with a suffix have besides: data centre GPUs of the Hopper and Blackwell generations, and Blackwell's GPUs
// for graphics.
const HOPPER_OWN: Features = Features::NONE.and(&[F::Wgmma, F::SetMaxNReg, F::TensorMaps]);
const DATACENTER_OWN: Features =
    Features::NONE.and(&[F::Tcgen05, F::SetMaxNReg, F::ByteMatrices, F::TensorMaps]);
/// Jetson Thor, of the same generation, does not have it.
const DATACENTER_SERVER_OWN: Features = DATACENTER_OWN.and(&[F::FloatRedux]);
const GRAPHICS_OWN: Features =
    Features::NONE.and(&[F::BlockScale, F::SetMaxNReg, F::ByteMatrices, F::TensorMaps]);

const fn v(major: u8, minor: u8) -> Option<PtxVersion> {
    Some(PtxVersion(major, minor))
}

/// Every architecture, by number.
#[rustfmt::skip]
pub const ARCHS: &[Arch] = &[
    Arch {
        sm: 75, ptx: [v(6, 3), None, None], features: TURING, own: Features::NONE,
        multiprocessors: 72, threads: 1024, blocks: 16, shared_per_block: 64, bytes_in_flight: 16, cache: 51,
    },
    Arch {
        sm: 80, ptx: [v(7, 0), None, None], features: AMPERE, own: Features::NONE,
        multiprocessors: 108, threads: 2048, blocks: 32, shared_per_block: 163, bytes_in_flight: 16, cache: 189,
    },
    Arch {
        sm: 86, ptx: [v(7, 1), None, None], features: AMPERE, own: Features::NONE,
        multiprocessors: 84, threads: 1536, blocks: 16, shared_per_block: 99, bytes_in_flight: 16, cache: 37,
    },
    Arch {
        sm: 87, ptx: [v(7, 4), None, None], features: AMPERE, own: Features::NONE,
        multiprocessors: 16, threads: 1536, blocks: 16, shared_per_block: 163, bytes_in_flight: 16, cache: 128,
    },
    Arch {
        sm: 88, ptx: [v(9, 0), None, None], features: AMPERE, own: Features::NONE,
        multiprocessors: 142, threads: 1536, blocks: 24, shared_per_block: 99, bytes_in_flight: 16, cache: 37,
    },
    Arch {
        sm: 89, ptx: [v(7, 8), None, None], features: ADA, own: Features::NONE,
        multiprocessors: 142, threads: 1536, blocks: 24, shared_per_block: 99, bytes_in_flight: 16, cache: 288,
    },
    Arch {
        sm: 90, ptx: [v(7, 8), None, v(8, 0)], features: HOPPER, own: HOPPER_OWN,
        multiprocessors: 132, threads: 2048, blocks: 32, shared_per_block: 227, bytes_in_flight: 32, cache: 193,
    },
    Arch {
        sm: 100, ptx: [v(8, 6), v(8, 8), v(8, 6)], features: BLACKWELL_PAIRS, own: DATACENTER_SERVER_OWN,
        multiprocessors: 148, threads: 2048, blocks: 32, shared_per_block: 227, bytes_in_flight: 64, cache: 435,
    },
    Arch {
        sm: 103, ptx: [v(8, 8), v(8, 8), v(8, 8)], features: BLACKWELL_PAIRS, own: DATACENTER_SERVER_OWN,
        multiprocessors: 160, threads: 2048, blocks: 32, shared_per_block: 227, bytes_in_flight: 64, cache: 403,
    },
    Arch {
        sm: 110, ptx: [v(9, 0), v(9, 0), v(9, 0)], features: BLACKWELL_DATACENTER, own: DATACENTER_OWN,
        multiprocessors: 20, threads: 1536, blocks: 24, shared_per_block: 227, bytes_in_flight: 64, cache: 819,
    },
    Arch {
        sm: 120, ptx: [v(8, 7), v(8, 8), v(8, 7)], features: BLACKWELL, own: GRAPHICS_OWN,
        multiprocessors: 188, threads: 1536, blocks: 24, shared_per_block: 99, bytes_in_flight: 16, cache: 289,
    },
    Arch {
        sm: 121, ptx: [v(8, 8), v(8, 8), v(8, 8)], features: BLACKWELL, own: GRAPHICS_OWN,
        multiprocessors: 48, threads: 1536, blocks: 24, shared_per_block: 99, bytes_in_flight: 16, cache: 256,
    },
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
