//! How the result of a float operation is rounded, clamped and flushed.

use crate::decode::lanes::LaneBits;
use crate::num::format::{BF16, F16, F32, bf16_to_f32, f16_to_f32};
use crate::num::{Format, Overflow, Round};
use crate::program::types::Ty;

/// How a result is finished.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Finish {
    pub(super) round: Round,
    pub(super) ftz: bool,
    pub(super) sat: bool,
    pub(super) relu: bool,
}

/// 1.0 in a format.
pub fn one(ty: Ty) -> u64 {
    match ty {
        Ty::F64 => 1f64.to_bits(),
        Ty::F16 => 0x3c00,
        Ty::BF16 => 0x3f80,
        _ => 1f32.to_bits().into(),
    }
}

/// Subnormals to zero of the same sign.
#[inline]
pub fn flush(x: f32) -> f32 {
    if x.is_subnormal() {
        0f32.copysign(x)
    } else {
        x
    }
}

/// A half or bfloat16 as a single.
#[inline]
pub fn widen16(ty: Ty, bits: u16, ftz: bool) -> f32 {
    let flushed = ftz && bits & 0x7c00 == 0 && ty == Ty::F16;
    let bits = if flushed { bits & 0x8000 } else { bits };
    if ty == Ty::BF16 {
        bf16_to_f32(bits)
    } else {
        f16_to_f32(bits)
    }
}

pub(super) fn format16(ty: Ty) -> Format {
    if ty == Ty::BF16 { BF16 } else { F16 }
}

/// An exact or odd-rounded double to a finished single.
pub(super) fn finish32(x: f64, how: Finish) -> u64 {
    let bits = F32.encode(x, how.round, Overflow::Ieee) as u32;
    finish_bits32(f32::from_bits(bits), how)
}

#[inline]
pub(super) fn finish_bits32(x: f32, how: Finish) -> u64 {
    let x = if how.ftz { flush(x) } else { x };
    if x.is_nan() {
        return if how.sat { 0 } else { F32.nan };
    }
    let x = if how.sat { x.clamp(0.0, 1.0) } else { x };
    // -0 saturates to +0.
    let x = if how.sat && x == 0.0 { 0.0 } else { x };
    let x = if how.relu && x <= 0.0 { 0.0 } else { x };
    x.lane()
}

pub(super) fn finish16(ty: Ty, x: f64, how: Finish) -> u64 {
    let format = format16(ty);
    if x.is_nan() {
        return if how.sat { 0 } else { format.nan };
    }
    let x = if how.sat { x.clamp(0.0, 1.0) } else { x };
    let x = if (how.relu && x <= 0.0) || (how.sat && x == 0.0) {
        0.0
    } else {
        x
    };
    let bits = format.encode(x, how.round, Overflow::Ieee);
    if how.ftz && ty == Ty::F16 && bits & 0x7c00 == 0 {
        bits & 0x8000
    } else {
        bits
    }
}
