//! Element types of tensor maps.

use serde::{Deserialize, Serialize};

/// Element types (CUDA driver API, `CUtensorMapDataType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Element {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    BF16,
    F32Ftz,
    TF32,
    TF32Ftz,
}

/// Names in manifests, with the numbers that `tensormap.replace` uses (PTX ISA 9.7.9.28).
const ELEMENTS: &[(&str, Element)] = &[
    ("u8", Element::U8),
    ("u16", Element::U16),
    ("u32", Element::U32),
    ("s32", Element::S32),
    ("u64", Element::U64),
    ("s64", Element::S64),
    ("f16", Element::F16),
    ("f32", Element::F32),
    ("f32_ftz", Element::F32Ftz),
    ("f64", Element::F64),
    ("bf16", Element::BF16),
    ("tf32", Element::TF32),
    ("tf32_ftz", Element::TF32Ftz),
];

impl Element {
    /// By name; `i8`, `i32`, `f8e4m3fn` and the like are the unsigned integer of their width.
    pub fn parse(name: &str) -> Option<Element> {
        let name = name.to_ascii_lowercase();
        let alias = match name.as_str() {
            "i8" | "s8" | "i1" | "f8e4m3fn" | "f8e5m2" | "f8e8m0fnu" => "u8",
            "i16" | "s16" => "u16",
            "i32" => "s32",
            "i64" => "s64",
            other => other,
        };
        ELEMENTS.iter().find(|(n, _)| *n == alias).map(|&(_, e)| e)
    }

    /// By the number of `tensormap.replace.elemtype`.
    pub fn from_code(code: u64) -> Option<Element> {
        ELEMENTS.get(usize::try_from(code).ok()?).map(|&(_, e)| e)
    }

    pub(super) fn code(self) -> u8 {
        ELEMENTS.iter().position(|&(_, e)| e == self).unwrap_or(0) as u8
    }

    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Element::U8 => 1,
            Element::U16 | Element::F16 | Element::BF16 => 2,
            Element::U64 | Element::S64 | Element::F64 => 8,
            _ => 4,
        }
    }

    /// True for floating-point types, which can fill with NaN.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Element::F16
                | Element::F32
                | Element::F64
                | Element::BF16
                | Element::F32Ftz
                | Element::TF32
                | Element::TF32Ftz
        )
    }
}
