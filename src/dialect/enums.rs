//! Enumerations used as attributes; a case's index is its bytecode encoding.
//!
//! Case names are those of the textual form; encodings are those of the public bytecode.

use super::parts::{Attribute, Parts};
use super::{AttrKind, EnumDef, Version};
use crate::scalar::Signedness;

/// A case of an enumeration that an attribute may be.
pub trait Case: Attribute {
    /// Its encoding.
    fn code(self) -> u8;
}

macro_rules! enums {
    ($($(#[$doc:meta])* $ty:ident $id:ident $name:literal [$($case:ident $text:literal),* $(,)?];)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
            #[repr(u8)]
            pub enum $ty { $($case),* }

            impl $ty {
                /// In the order of their encodings.
                pub const ALL: &'static [Self] = &[$(Self::$case),*];

                /// The case of an encoding.
                pub fn of(code: u8) -> Option<Self> {
                    Self::ALL.get(usize::from(code)).copied()
                }

                /// As text has it.
                pub fn text(self) -> &'static str {
                    $id.cases[usize::from(self.code())]
                }
            }

            impl Case for $ty {
                fn code(self) -> u8 {
                    self as u8
                }
            }

            impl Attribute for $ty {
                const KIND: AttrKind = AttrKind::Enum(&$id);
                type Of<'m, P: Parts + 'm> = Self;
                fn read<'m, P: Parts + 'm>(attr: Option<&'m P::Attr>) -> Option<Self> {
                    Self::of(P::case(attr?)?)
                }
            }

            $(#[$doc])*
            pub static $id: EnumDef = EnumDef { name: $name, cases: &[$($text),*] };
        )*

        /// The enumeration called `name`.
        pub fn by_name(name: &str) -> Option<&'static EnumDef> {
            [$(&$id),*, &SIGNEDNESS].into_iter().find(|e| e.name == name)
        }
    };
}

enums! {
    /// How an integer operation may overflow.
    Overflow OVERFLOW "overflow" [
        None "none", NoSignedWrap "no_signed_wrap", NoUnsignedWrap "no_unsigned_wrap", NoWrap "no_wrap",
    ];
    /// `nearest_away` is new in 13.4.
    Rounding ROUNDING "rounding" [
        NearestEven "nearest_even", Zero "zero", NegativeInf "negative_inf", PositiveInf "positive_inf",
        Approx "approx", Full "full", NearestIntToZero "nearest_int_to_zero", NearestAway "nearest_away",
    ];
    Predicate CMP_PREDICATE "comparison_predicate" [
        Equal "equal", NotEqual "not_equal", LessThan "less_than", LessThanOrEqual "less_than_or_equal",
        GreaterThan "greater_than", GreaterThanOrEqual "greater_than_or_equal",
    ];
    NanOrder CMP_ORDERING "comparison_ordering" [Unordered "unordered", Ordered "ordered"];
    /// Memory ordering of an access.
    Ordering ORDERING "memory_ordering_semantics" [
        Weak "weak", Relaxed "relaxed", Acquire "acquire", Release "release", AcqRel "acq_rel",
    ];
    /// Who may access the same memory at the same time.
    Scope SCOPE "memory_scope" [Block "tl_blk", Device "device", Sys "sys"];
    /// What an atomic read-modify-write does.
    RmwMode RMW_MODE "atomic_rmw_mode" [
        And "and", Or "or", Xor "xor", Add "add", AddF "addf", Max "max", Min "min", MaxU "umax", MinU "umin",
        Exchange "xchg",
    ];
    Reduction MULTIMEM_REDUCTION "multimem_reduction_kind" [
        Add "add", Min "min", Max "max", And "and", Or "or", Xor "xor", MinU "umin", MaxU "umax",
    ];
    Visibility VISIBILITY "symbol_visibility" [Public "public", Private "private"];
    /// What accesses through a pointer reach (13.4): [`crate::ir::Type::Ptr`].
    Reach PTR_ATTR "ptr_attr" [None "none", Unicast "unicast", Multicast "multicast"];
    /// What a view yields for elements outside its tensor.
    Padding PADDING "padding_value" [Zero "zero", NegZero "neg_zero", Nan "nan", PosInf "pos_inf", NegInf "neg_inf"];

    /// The instruction of `nv_tileas.dot`, by its shape.
    DotAtom DOT_ATOM "dot_atom" [
        M16n8k8 "m16n8k8", M16n8k16 "m16n8k16", M16n8k32 "m16n8k32", M8n8k4 "m8n8k4", Fma "fma",
        M16n8k64 "m16n8k64", M8n8k16 "m8n8k16",
    ];
    /// What completes a pipeline's copies; `registers`: threads that load tiles and store them to the stages.
    PipelineKind PIPELINE_KIND "pipeline_kind" [
        CpAsync "cp_async", Tma "tma", Mma "mma", Registers "registers",
    ];

    /// State spaces of `nvvm` memory operations.
    Space SPACE "space" [Global "global", Shared "shared", Generic "generic"];
    /// Cache operators of PTX `ld` and `st`.
    Cache CACHE "cache" [Default "default", Cg "cg", Cs "cs", Lu "lu", Nc "nc"];
    Shuffle SHFL "shfl_mode" [Bfly "bfly", Idx "idx", Up "up", Down "down"];
    /// What `redux.sync` makes of the registers of all lanes: its modifiers, one behind the other.
    WarpReduction WARP_REDUCTION "warp_reduction" [
        Add "add_s32", MinS "min_s32", MaxS "max_s32", MinU "min_u32", MaxU "max_u32", And "and_b32", Or "or_b32",
        Xor "xor_b32", MinF "min_f32", MaxF "max_f32", MinFNan "min_NaN_f32", MaxFNan "max_NaN_f32",
    ];
    FenceKind FENCE "fence_kind" [
        ProxyAsyncShared "proxy_async_shared", MbarrierInit "mbarrier_init", Block "cta", Gpu "gpu", Sys "sys",
        TensorBefore "tensor_before", TensorAfter "tensor_after", ProxyAsyncGlobal "proxy_async_global",
        MapWritten "map_written",
    ];
    /// Fields of a tensor map (PTX ISA, "tensormap.replace").
    MapField MAP_FIELD "map_field" [
        GlobalAddress "global_address", GlobalDim "global_dim", GlobalStride "global_stride", Rank "rank",
        BoxDim "box_dim", ElementStride "element_stride", Elemtype "elemtype", Interleave "interleave_layout",
        Swizzle "swizzle_mode", Fill "fill_mode", Atomicity "swizzle_atomicity",
    ];
    /// Shapes of moves between registers and tensor memory.
    TensorMove TENSOR_MOVE "tensor_move" [By32x32 "32x32b", By16x256 "16x256b", By16x128 "16x128b"];
    /// Families of element types of `tcgen05.mma`.
    TensorKind TENSOR_KIND "tensor_kind" [F16 "f16", Tf32 "tf32", F8F6F4 "f8f6f4", I8 "i8", Mxf8F6F4 "mxf8f6f4", Mxf4 "mxf4", Mxf4Nvf4 "mxf4nvf4"];
    SpecialRegister SPECIAL_REGISTER "special_register" [
        TidX "tid.x", TidY "tid.y", TidZ "tid.z", CtaidX "ctaid.x", CtaidY "ctaid.y", CtaidZ "ctaid.z",
        NctaidX "nctaid.x", NctaidY "nctaid.y", NctaidZ "nctaid.z", Laneid "laneid", Warpid "warpid",
        ClusterCtarank "cluster_ctarank", ClusteridX "clusterid.x", ClusteridY "clusterid.y",
        ClusteridZ "clusterid.z", NclusteridX "nclusterid.x", NclusteridY "nclusterid.y", NclusteridZ "nclusterid.z",
    ];
}

/// [`Signedness`], which the arithmetic of `scalar` defines.
pub static SIGNEDNESS: EnumDef = EnumDef {
    name: "signedness",
    cases: &["unsigned", "signed"],
};

impl Case for Signedness {
    fn code(self) -> u8 {
        self as u8
    }
}

impl Attribute for Signedness {
    const KIND: AttrKind = AttrKind::Enum(&SIGNEDNESS);
    type Of<'m, P: Parts + 'm> = Self;
    fn read<'m, P: Parts + 'm>(attr: Option<&'m P::Attr>) -> Option<Self> {
        match P::case(attr?)? {
            0 => Some(Self::Unsigned),
            1 => Some(Self::Signed),
            _ => None,
        }
    }
}

/// Whether attributes of `cuda_tile` with this enumeration are plain 32-bit integers in MLIR's generic
/// form: the public dialect defines no attribute of its own around these.
pub fn is_integer(def: &EnumDef) -> bool {
    [&ORDERING, &SCOPE, &RMW_MODE].contains(&def)
}

/// First version with a case of an enumeration.
pub fn since(def: &EnumDef, case: u8) -> Version {
    let is = |of: &EnumDef, code: u8| of == def && code == case;
    if is(&ROUNDING, Rounding::NearestAway.code()) {
        Version::V13_4
    } else if is(&PTR_ATTR, Reach::Multicast.code()) {
        Version::V13_5
    } else {
        Version::V13_1
    }
}

/// Encodings of [`Rounding`], for patterns over encodings.
pub mod rounding {
    use super::Rounding as R;

    pub const NEAREST_EVEN: u8 = R::NearestEven as u8;
    pub const ZERO: u8 = R::Zero as u8;
    pub const NEGATIVE_INF: u8 = R::NegativeInf as u8;
    pub const POSITIVE_INF: u8 = R::PositiveInf as u8;
    pub const APPROX: u8 = R::Approx as u8;
    pub const FULL: u8 = R::Full as u8;
    pub const NEAREST_INT_TO_ZERO: u8 = R::NearestIntToZero as u8;
    pub const NEAREST_AWAY: u8 = R::NearestAway as u8;
}

/// Encodings of [`Ordering`], for patterns over encodings.
pub mod ordering {
    use super::Ordering as O;

    pub const WEAK: u8 = O::Weak as u8;
    pub const RELAXED: u8 = O::Relaxed as u8;
    pub const ACQUIRE: u8 = O::Acquire as u8;
    pub const RELEASE: u8 = O::Release as u8;
}
