//! Enumerations used as attributes; a case's index is its bytecode encoding.
//!
//! Case names are those of the textual form; encodings are those of the public bytecode.

use super::{EnumDef, Version};

macro_rules! enums {
    ($($(#[$doc:meta])* $id:ident $name:literal [$($case:literal),* $(,)?];)*) => {
        $($(#[$doc])* pub static $id: EnumDef = EnumDef { name: $name, cases: &[$($case),*] };)*

        /// The enumeration called `name`.
        pub fn by_name(name: &str) -> Option<&'static EnumDef> {
            [$(&$id),*].into_iter().find(|e| e.name == name)
        }
    };
}

enums! {
    /// How an integer operation may overflow.
    OVERFLOW "overflow" ["none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"];
    /// `nearest_away` is new in 13.4.
    ROUNDING "rounding" [
        "nearest_even", "zero", "negative_inf", "positive_inf", "approx", "full", "nearest_int_to_zero",
        "nearest_away",
    ];
    SIGNEDNESS "signedness" ["unsigned", "signed"];
    CMP_PREDICATE "comparison_predicate" [
        "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal",
    ];
    CMP_ORDERING "comparison_ordering" ["unordered", "ordered"];
    /// Memory ordering of an access.
    ORDERING "memory_ordering_semantics" ["weak", "relaxed", "acquire", "release", "acq_rel"];
    /// Who may access the same memory at the same time.
    SCOPE "memory_scope" ["tl_blk", "device", "sys"];
    /// What an atomic read-modify-write does.
    RMW_MODE "atomic_rmw_mode" ["and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"];
    MULTIMEM_REDUCTION "multimem_reduction_kind" ["add", "min", "max", "and", "or", "xor", "umin", "umax"];
    VISIBILITY "symbol_visibility" ["public", "private"];
    /// What accesses through a pointer reach (13.4): [`crate::ir::Type::Ptr`].
    PTR_ATTR "ptr_attr" ["none", "unicast", "multicast"];
    /// What a view yields outside its tensor ([`crate::ir::Padding`]).
    PADDING "padding_value" ["zero", "neg_zero", "nan", "pos_inf", "neg_inf"];

    /// The instruction of `nv_tileas.dot`, by its shape.
    DOT_ATOM "dot_atom" ["m16n8k8", "m16n8k16", "m16n8k32", "m8n8k4", "fma"];
    /// What completes a pipeline's copies.
    PIPELINE_KIND "pipeline_kind" ["cp_async", "tma", "mma"];

    /// State spaces of `nvvm` memory operations.
    SPACE "space" ["global", "shared", "generic"];
    /// Cache operators of PTX `ld` and `st`.
    CACHE "cache" ["default", "cg", "cs", "lu", "nc"];
    SHFL "shfl_mode" ["bfly", "idx", "up", "down"];
    FENCE "fence_kind" ["proxy_async_shared", "mbarrier_init", "cta", "gpu", "sys", "tensor_before", "tensor_after"];
    /// Shapes of moves between registers and tensor memory.
    TENSOR_MOVE "tensor_move" ["32x32b", "16x256b", "16x128b"];
    /// Families of element types of `tcgen05.mma`.
    TENSOR_KIND "tensor_kind" ["f16", "tf32", "f8f6f4", "i8"];
    SPECIAL_REGISTER "special_register" [
        "tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z",
        "laneid", "warpid", "cluster_ctarank",
    ];
}

/// Whether attributes of `cuda_tile` with this enumeration are plain 32-bit integers in MLIR's generic
/// form: the public dialect defines no attribute of its own around these.
pub fn is_integer(def: &EnumDef) -> bool {
    [&ORDERING, &SCOPE, &RMW_MODE].contains(&def)
}

/// First version with a case of an enumeration.
pub fn since(def: &EnumDef, case: u8) -> Version {
    match case {
        rounding::NEAREST_AWAY if *def == ROUNDING => Version::V13_4,
        // `multicast`.
        2 if *def == PTR_ATTR => Version::V13_5,
        _ => Version::V13_1,
    }
}

/// Encodings of [`ROUNDING`].
pub mod rounding {
    pub const NEAREST_EVEN: u8 = 0;
    pub const ZERO: u8 = 1;
    pub const NEGATIVE_INF: u8 = 2;
    pub const POSITIVE_INF: u8 = 3;
    pub const APPROX: u8 = 4;
    pub const FULL: u8 = 5;
    pub const NEAREST_INT_TO_ZERO: u8 = 6;
    pub const NEAREST_AWAY: u8 = 7;
}

/// Encodings of [`ORDERING`].
pub mod ordering {
    pub const WEAK: u8 = 0;
    pub const RELAXED: u8 = 1;
    pub const ACQUIRE: u8 = 2;
    pub const RELEASE: u8 = 3;
    pub const ACQ_REL: u8 = 4;
}

/// Encodings of [`RMW_MODE`].
pub mod rmw {
    pub const AND: u8 = 0;
    pub const OR: u8 = 1;
    pub const XOR: u8 = 2;
    pub const ADD: u8 = 3;
    pub const ADDF: u8 = 4;
    pub const MAX: u8 = 5;
    pub const MIN: u8 = 6;
    pub const UMAX: u8 = 7;
    pub const UMIN: u8 = 8;
    pub const XCHG: u8 = 9;
}
