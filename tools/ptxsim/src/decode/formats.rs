//! Formats of types.

use crate::num::Format;
use crate::num::format::{self, BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, F64};
use crate::program::types::Ty;

/// The format of a scalar floating-point type.
pub fn format_of(ty: Ty) -> Option<Format> {
    Some(match ty {
        Ty::F16 | Ty::F16x2 => F16,
        Ty::BF16 | Ty::BF16x2 => BF16,
        Ty::F32 => F32,
        Ty::F64 => F64,
        Ty::TF32 => format::TF32,
        Ty::E4M3 | Ty::E4M3x2 | Ty::E4M3x4 => E4M3,
        Ty::E5M2 | Ty::E5M2x2 | Ty::E5M2x4 => E5M2,
        Ty::E2M1 | Ty::E2M1x2 | Ty::E2M1x4 => E2M1,
        Ty::E2M3 | Ty::E2M3x2 | Ty::E2M3x4 => E2M3,
        Ty::E3M2 | Ty::E3M2x2 | Ty::E3M2x4 => E3M2,
        _ => return None,
    })
}

/// How many narrow elements a packed type of `cvt` holds, and how many bits each takes in it.
pub(super) fn packing(ty: Ty) -> Option<(u32, u32)> {
    Some(match ty {
        Ty::F16x2 | Ty::BF16x2 => (2, 16),
        Ty::E4M3x2 | Ty::E5M2x2 | Ty::E2M3x2 | Ty::E3M2x2 | Ty::UE8M0x2 => (2, 8),
        Ty::E2M1x2 => (2, 4),
        Ty::E4M3x4 | Ty::E5M2x4 | Ty::E2M3x4 | Ty::E3M2x4 => (4, 8),
        Ty::E2M1x4 => (4, 4),
        _ => return None,
    })
}
