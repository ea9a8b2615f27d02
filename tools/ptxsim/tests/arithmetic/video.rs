//! Video instructions (PTX ISA 9.7.18) against the integer types of Rust: bytes, halves and words by their own
//! saturating and wrapping operations, averages by rounding doubles.

use super::{Row, Stream, all, check};

fn operands() -> Vec<[u64; 3]> {
    let special = [
        0,
        1,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x7f80_ff01,
        0x8001_7fff,
    ];
    let mut stream = Stream(91);
    let mut word = move || stream.bits() & 0xffff_ffff;
    let mut out: Vec<[u64; 3]> = Vec::new();
    for a in special {
        special.iter().for_each(|&b| out.push([a, b, word()]));
    }
    (0..1500).for_each(|_| out.push([word(), word(), word()]));
    out
}

fn byte(x: u64, i: u32) -> u8 {
    (x >> (8 * i)) as u8
}

fn half(x: u64, i: u32) -> u16 {
    (x >> (16 * i)) as u16
}

/// Byte by byte.
fn bytes(a: u64, b: u64, f: impl Fn(u8, u8) -> u8) -> u64 {
    let four = std::array::from_fn(|i| f(byte(a, i as u32), byte(b, i as u32)));
    u32::from_le_bytes(four).into()
}

/// Half by half.
fn halves(a: u64, b: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    u64::from(f(half(a, 0), half(b, 0))) | u64::from(f(half(a, 1), half(b, 1))) << 16
}

fn sum_of_bytes(a: u64, b: u64, f: impl Fn(u8, u8) -> u32) -> u32 {
    (0..4).map(|i| f(byte(a, i), byte(b, i))).sum()
}

/// Half of a sum, halves away from zero.
fn average(a: i64, b: i64) -> i64 {
    ((a + b) as f64 / 2.0).round() as i64
}

#[test]
fn scalar_video_instructions() {
    let row = |text: &str, want: fn(u64, u64, u64) -> i64| {
        Row::new("9.7.18.1", text, move |a, b, c| {
            u64::from(want(a, b, c) as u32)
        })
    };
    let rows = [
        row("vadd.s32.s32.s32 d, a, b", |a, b, _| {
            (a as i32).wrapping_add(b as i32).into()
        }),
        row("vadd.s32.s32.s32.sat d, a, b", |a, b, _| {
            (a as i32).saturating_add(b as i32).into()
        }),
        row("vadd.u32.u32.u32.sat d, a, b", |a, b, _| {
            (a as u32).saturating_add(b as u32).into()
        }),
        row("vsub.u32.u32.u32.sat d, a, b", |a, b, _| {
            (a as u32).saturating_sub(b as u32).into()
        }),
        // A mixed sum has 33 bits.
        row("vadd.s32.u32.s32.sat d, a, b", |a, b, _| {
            (i64::from(a as u32) + i64::from(b as i32)).clamp(i32::MIN.into(), i32::MAX.into())
        }),
        row("vadd.s32.u32.s32.sat d, %a.b0, %b.h1", |a, b, _| {
            i64::from(byte(a, 0)) + i64::from(half(b, 1) as i16)
        }),
        row("vsub.u32.s32.s32.sat.add d, %a.b3, b, c", |a, b, c| {
            let first = i64::from(byte(a, 3) as i8) - i64::from(b as i32);
            i64::from((first.clamp(0, u32::MAX.into()) as u32).wrapping_add(c as u32))
        }),
        row("vabsdiff.s32.s32.s32 %d.h0, %a.b3, %b.b1, c", |a, b, c| {
            let difference = (byte(a, 3) as i8).abs_diff(byte(b, 1) as i8);
            (c & 0xffff_0000) as i64 | i64::from(difference)
        }),
        row("vabsdiff.s32.s32.s32.sat %d.b2, a, b, c", |a, b, c| {
            let difference = (a as i32).abs_diff(b as i32).min(127);
            (c & 0xff00_ffff) as i64 | i64::from(difference) << 16
        }),
        row("vmin.s32.s32.s32.max d, a, %b.b1, c", |a, b, c| {
            i64::from((a as i32).min((byte(b, 1) as i8).into()).max(c as i32))
        }),
        row("vmax.u32.u32.u32.min d, a, b, c", |a, b, c| {
            i64::from((a as u32).max(b as u32).min(c as u32))
        }),
        row("vshl.u32.u32.u32.wrap d, a, b", |a, b, _| {
            (a as u32).wrapping_shl(b as u32).into()
        }),
        row("vshl.u32.u32.u32.clamp.add d, a, b, c", |a, b, c| {
            let shifted = (a as u32).checked_shl(b as u32).unwrap_or(0);
            shifted.wrapping_add(c as u32).into()
        }),
        row("vshr.s32.s32.u32.clamp d, a, b", |a, b, _| {
            ((a as i32) >> (b as u32).min(31)).into()
        }),
        row("vshr.u32.u32.u32.wrap.min d, a, b, c", |a, b, c| {
            (a as u32).wrapping_shr(b as u32).min(c as u32).into()
        }),
        row("vset.s32.u32.lt d, a, b", |a, b, _| {
            (i64::from(a as i32) < i64::from(b as u32)).into()
        }),
        row("vset.u32.u32.ge.add d, %a.h1, %b.h0, c", |a, b, c| {
            (c as u32)
                .wrapping_add((half(a, 1) >= half(b, 0)).into())
                .into()
        }),
        row("vmad.u32.u32.u32.sat d, %a.h0, %b.h0, c", |a, b, c| {
            let product = u32::from(half(a, 0)) * u32::from(half(b, 0));
            product.saturating_add(c as u32).into()
        }),
        row("vmad.s32.s32.u32 d, a, b, -%c", |a, b, c| {
            (a as i32)
                .wrapping_mul(b as i32)
                .wrapping_sub(c as i32)
                .into()
        }),
        row("vmad.s32.s32.s32 d, -%a, b, c", |a, b, c| {
            (c as i32)
                .wrapping_sub((a as i32).wrapping_mul(b as i32))
                .into()
        }),
        row(
            "vmad.s32.s32.s32.sat.shr15 d, %a.h0, %b.h1, c",
            |a, b, c| {
                let product = i64::from(half(a, 0) as i16) * i64::from(half(b, 1) as i16);
                (product + i64::from(c as i32)) >> 15
            },
        ),
        // An average of two products, rounded up.
        row("vmad.u32.u32.u32.po.shr7 d, %a.b0, %b.b1, %c", |a, b, c| {
            (i64::from(byte(a, 0)) * i64::from(byte(b, 1)) + i64::from(c as u32) + 1) >> 7
        }),
    ];
    check(all("b32"), &rows, &operands());
}

#[test]
fn simd_video_instructions() {
    let row = |text: &str, want: fn(u64, u64, u64) -> u64| Row::new("9.7.18.2", text, want);
    let rows = [
        row("vadd4.u32.u32.u32 d, a, b, c", |a, b, _| {
            bytes(a, b, u8::wrapping_add)
        }),
        row("vadd4.u32.u32.u32.sat d, a, b, c", |a, b, _| {
            bytes(a, b, u8::saturating_add)
        }),
        row("vsub4.s32.s32.s32.sat d, a, b, c", |a, b, _| {
            bytes(a, b, |a, b| (a as i8).saturating_sub(b as i8) as u8)
        }),
        row("vadd2.s32.s32.s32.sat d, a, b, c", |a, b, _| {
            halves(a, b, |a, b| (a as i16).saturating_add(b as i16) as u16)
        }),
        row("vsub2.u32.u32.u32 d, a, b, c", |a, b, _| {
            halves(a, b, u16::wrapping_sub)
        }),
        row("vavrg2.s32.s32.s32 d, a, b, c", |a, b, _| {
            halves(a, b, |a, b| {
                average((a as i16).into(), (b as i16).into()) as u16
            })
        }),
        row("vavrg4.u32.u32.u32 d, a, b, c", |a, b, _| {
            bytes(a, b, |a, b| average(a.into(), b.into()) as u8)
        }),
        row("vabsdiff2.s32.s32.s32.sat d, a, b, c", |a, b, _| {
            halves(a, b, |a, b| {
                (a as i16).abs_diff(b as i16).min(i16::MAX as u16)
            })
        }),
        // The sum of absolute differences that motion estimation is made of.
        row("vabsdiff4.u32.u32.u32.add d, a, b, c", |a, b, c| {
            let sum = sum_of_bytes(a, b, |a, b| a.abs_diff(b).into());
            sum.wrapping_add(c as u32).into()
        }),
        row("vmin4.s32.s32.s32 d, a, b, c", |a, b, _| {
            bytes(a, b, |a, b| (a as i8).min(b as i8) as u8)
        }),
        row("vmax2.u32.u32.u32 d, a, b, c", |a, b, _| {
            halves(a, b, u16::max)
        }),
        row("vset2.u32.u32.gt d, a, b, c", |a, b, _| {
            halves(a, b, |a, b| (a > b).into())
        }),
        row("vset4.s32.s32.ne.add d, a, b, c", |a, b, c| {
            u64::from((c as u32).wrapping_add(sum_of_bytes(a, b, |a, b| (a != b).into())))
        }),
        // Selected parts: 0 to 1 (3) are those of the first operand, the others those of the second; those that the
        // destination does not name come from the third.
        row("vadd2.u32.u32.u32 %d.h1, %a.h10, %b.h23, c", |a, b, c| {
            (c & 0xffff) | u64::from(half(a, 1).wrapping_add(half(b, 0))) << 16
        }),
        row(
            "vmin4.s32.s32.s32 %d.b10, %a.b7632, %b.b0123, c",
            |a, _, c| {
                let low = (byte(a, 2) as i8).min(byte(a, 3) as i8) as u8;
                let next = (byte(a, 3) as i8).min(byte(a, 2) as i8) as u8;
                (c & 0xffff_0000) | u64::from(next) << 8 | u64::from(low)
            },
        ),
        row(
            "vsub4.u32.u32.u32.add %d.b30, %a.b7700, %b.b1111, c",
            |a, b, c| {
                let difference = |x: u8| i64::from(x) - i64::from(byte(a, 1));
                let sum = difference(byte(a, 0)) + difference(byte(b, 3));
                u64::from((c as u32).wrapping_add(sum as u32))
            },
        ),
    ];
    check(all("b32"), &rows, &operands());
}
