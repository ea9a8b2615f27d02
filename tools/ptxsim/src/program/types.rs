//! Operand types of the instruction set (PTX ISA 5.2).

/// How the bits of a type are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `.b`
    Bits,
    /// `.u`
    Unsigned,
    /// `.s`
    Signed,
    /// floating point, packed too
    Float,
    /// `.pred`
    Predicate,
}

macro_rules! types {
    ($($variant:ident $name:literal $bits:literal $class:ident;)*) => {
        /// A type as written in an opcode.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Ty { $($variant),* }

        const TYPES: &[(&str, Ty)] = &[$(($name, Ty::$variant)),*];

        impl Ty {
            /// Width in bits, of the whole for packed types.
            pub fn bits(self) -> u32 {
                match self { $(Ty::$variant => $bits),* }
            }

            /// How its bits are read.
            pub fn class(self) -> Class {
                match self { $(Ty::$variant => Class::$class),* }
            }

            /// The word that names it, without the dot.
            pub fn name(self) -> &'static str {
                match self { $(Ty::$variant => $name),* }
            }
        }
    };
}

types! {
    Pred "pred" 1 Predicate;
    B8 "b8" 8 Bits;
    B16 "b16" 16 Bits;
    B32 "b32" 32 Bits;
    B64 "b64" 64 Bits;
    B128 "b128" 128 Bits;
    U8 "u8" 8 Unsigned;
    U16 "u16" 16 Unsigned;
    U32 "u32" 32 Unsigned;
    U64 "u64" 64 Unsigned;
    S8 "s8" 8 Signed;
    S16 "s16" 16 Signed;
    S32 "s32" 32 Signed;
    S64 "s64" 64 Signed;
    S4 "s4" 4 Signed;
    U4 "u4" 4 Unsigned;
    B1 "b1" 1 Bits;
    S2 "s2" 2 Signed;
    U2 "u2" 2 Unsigned;
    U16x2 "u16x2" 32 Unsigned;
    S16x2 "s16x2" 32 Signed;
    F16 "f16" 16 Float;
    BF16 "bf16" 16 Float;
    F16x2 "f16x2" 32 Float;
    BF16x2 "bf16x2" 32 Float;
    F32 "f32" 32 Float;
    F32x2 "f32x2" 64 Float;
    TF32 "tf32" 32 Float;
    F64 "f64" 64 Float;
    E4M3 "e4m3" 8 Float;
    E5M2 "e5m2" 8 Float;
    E4M3x2 "e4m3x2" 16 Float;
    E5M2x2 "e5m2x2" 16 Float;
    E2M1x2 "e2m1x2" 8 Float;
    E2M3x2 "e2m3x2" 16 Float;
    E3M2x2 "e3m2x2" 16 Float;
    E4M3x4 "e4m3x4" 32 Float;
    E5M2x4 "e5m2x4" 32 Float;
    E2M1x4 "e2m1x4" 16 Float;
    E2M3x4 "e2m3x4" 32 Float;
    E3M2x4 "e3m2x4" 32 Float;
    E2M1 "e2m1" 4 Float;
    E2M3 "e2m3" 6 Float;
    E3M2 "e3m2" 6 Float;
    UE8M0x2 "ue8m0x2" 16 Float;
}

impl Ty {
    /// The type that `name` names.
    pub fn parse(name: &str) -> Option<Ty> {
        TYPES.iter().find(|(n, _)| *n == name).map(|&(_, ty)| ty)
    }

    /// Bytes it takes in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// `.s…`
    pub fn is_signed(self) -> bool {
        self.class() == Class::Signed
    }

    /// `.f…`, packed too.
    pub fn is_float(self) -> bool {
        self.class() == Class::Float
    }

    /// The element of a packed pair such as `.f16x2`.
    pub fn pair_element(self) -> Option<Ty> {
        Some(match self {
            Ty::F16x2 => Ty::F16,
            Ty::BF16x2 => Ty::BF16,
            Ty::U16x2 => Ty::U16,
            Ty::S16x2 => Ty::S16,
            Ty::F32x2 => Ty::F32,
            _ => return None,
        })
    }
}
