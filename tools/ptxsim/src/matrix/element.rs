//! Elements of matrices: widths and values.

use crate::num::format::{E2M1, E2M3, E3M2, E4M3, E5M2, bf16_to_f32, f16_to_f32};
use crate::num::int::{mask, sign_extend};
use crate::program::inst::MatTy;

impl MatTy {
    /// Bits that an element takes in a register; `k` tells 4-bit data in bytes from packed data.
    pub fn container_bits(self, packed: bool) -> u32 {
        match self {
            MatTy::F64 => 64,
            MatTy::TF32 => 32,
            MatTy::F16 | MatTy::BF16 => 16,
            MatTy::E2M1 if packed => 4,
            MatTy::E4M3
            | MatTy::E5M2
            | MatTy::E2M3
            | MatTy::E3M2
            | MatTy::E2M1
            | MatTy::S8
            | MatTy::U8 => 8,
            MatTy::S4 | MatTy::U4 => 4,
            MatTy::B1 => 1,
        }
    }

    /// True for types whose products are summed in 32-bit integers.
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            MatTy::S8 | MatTy::U8 | MatTy::S4 | MatTy::U4 | MatTy::B1
        )
    }

    /// The value of a floating-point element; exact.
    pub fn real(self, bits: u64, packed: bool) -> f32 {
        match self {
            MatTy::F16 => f16_to_f32(bits as u16),
            MatTy::BF16 => bf16_to_f32(bits as u16),
            // The low 13 bits are ignored (PTX ISA 9.7.14: tf32 operands).
            MatTy::TF32 => f32::from_bits(bits as u32 & !0x1fff),
            MatTy::E4M3 => E4M3.decode(bits & 0xff) as f32,
            MatTy::E5M2 => E5M2.decode(bits & 0xff) as f32,
            MatTy::E2M3 => E2M3.decode(bits & 0x3f) as f32,
            MatTy::E3M2 => E3M2.decode(bits & 0x3f) as f32,
            // In a byte, 4-bit data sits in the middle: 00xxxx00.
            MatTy::E2M1 => E2M1.decode(if packed { bits } else { bits >> 2 } & 0xf) as f32,
            _ => 0.0,
        }
    }

    /// The value of an integer element.
    pub fn integer(self, bits: u64) -> i32 {
        match self {
            MatTy::S8 => sign_extend(bits, 8) as i32,
            MatTy::S4 => sign_extend(bits, 4) as i32,
            MatTy::U8 => (bits & mask(8)) as i32,
            MatTy::U4 => (bits & mask(4)) as i32,
            _ => (bits & 1) as i32,
        }
    }
}
