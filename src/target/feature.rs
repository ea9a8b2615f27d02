//! What only some targets can do.

/// Something only some targets can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize)]
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
    /// Arithmetic on two f32 at the cost of one. PTX has it from sm_100 on; elsewhere `ptxas` takes it apart.
    PackedF32,
    /// The larger or smaller of three f32 by one instruction, which `ptxas` makes of two that follow from each other.
    ExtremeOfThree,
    /// Global accesses of 32 bytes.
    Wide256,
    /// Multicast addresses (`multimem`).
    Multimem,
    /// Tensor memory and `tcgen05`.
    Tcgen05,
    /// `mma.sync` that multiplies its operands by scale factors.
    BlockScale,
    /// `ldmatrix` of 16×16 bytes, transposed.
    ByteMatrices,
    /// Tensor maps that kernels make (`tensormap.replace`).
    TensorMaps,
    /// Additions to memory of vectors of floats (`red.add.v4.f32`).
    VectorAtomics,
    /// `redux.sync` of integers.
    Redux,
    /// `redux.sync` of f32: its extremes.
    FloatRedux,
}

impl Feature {
    /// Its name in rules (`(feature NAME)`) and in the instruction table (`feature=NAME`).
    pub const NAMES: &[(&str, Feature)] = &[
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
        ("packed-f32", Feature::PackedF32),
        ("extreme-of-three", Feature::ExtremeOfThree),
        ("wide256", Feature::Wide256),
        ("multimem", Feature::Multimem),
        ("tcgen05", Feature::Tcgen05),
        ("block-scale", Feature::BlockScale),
        ("byte-matrices", Feature::ByteMatrices),
        ("tensor-maps", Feature::TensorMaps),
        ("vector-atomics", Feature::VectorAtomics),
        ("redux", Feature::Redux),
        ("float-redux", Feature::FloatRedux),
    ];

    pub fn named(name: &str) -> Option<Feature> {
        let row = Self::NAMES.iter().find(|row| row.0 == name);
        row.map(|row| row.1)
    }
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Features(u32);

impl Features {
    /// None.
    pub const NONE: Features = Features(0);

    /// These and those of `list`.
    pub const fn and(self, list: &[Feature]) -> Features {
        let (mut set, mut i) = (self.0, 0);
        while i < list.len() {
            set |= 1 << list[i] as u32;
            i += 1;
        }
        Features(set)
    }

    /// Whether the set has `feature`.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u32 & 1 == 1
    }
}
