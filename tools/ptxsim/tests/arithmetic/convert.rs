//! Conversions (PTX ISA 9.7.9.22).

use super::float::{NAN16, NAN32, ROUNDS};
use super::{Registers, Row, Stream, Want, check, float_operands};
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const SECTION: &str = "9.7.9.22";
const NEAREST: Round = Round::NearestTiesToEven;

/// One format to another; NaN becomes the target's canonical one.
fn convert<A: Float + FloatConvert<B>, B: Float>(bits: u64, round: Round, nan: u64) -> u64 {
    let value: B = A::from_bits(bits.into()).convert_r(round, &mut false).value;
    if value.is_nan() {
        nan
    } else {
        value.to_bits() as u64
    }
}

fn registers(d: &'static str, a: &'static str) -> Registers {
    Registers {
        d,
        a,
        b: "b32",
        c: "b32",
    }
}

#[test]
fn narrower_floats() {
    let singles = float_operands(8, 23, 8000, 21);
    let mut rows = Vec::new();
    for (word, round) in ROUNDS {
        rows.push(Row::new(
            SECTION,
            format!("cvt.{word}.f16.f32 d, a"),
            move |a, _, _| convert::<Single, Half>(a, round, NAN16),
        ));
    }
    for (word, round) in [ROUNDS[0], ROUNDS[1]] {
        rows.push(Row::new(
            SECTION,
            format!("cvt.{word}.bf16.f32 d, a"),
            move |a, _, _| convert::<Single, BFloat>(a, round, NAN16),
        ));
        // .relu: what is negative becomes 0; .satfinite: what is too large becomes the largest finite number.
        rows.push(Row::new(
            SECTION,
            format!("cvt.{word}.relu.f16.f32 d, a"),
            move |a, _, _| {
                let bits = convert::<Single, Half>(a, round, NAN16);
                if bits & 0x8000 != 0 { 0 } else { bits }
            },
        ));
        rows.push(Row::new(
            SECTION,
            format!("cvt.{word}.satfinite.f16.f32 d, a"),
            move |a, _, _| {
                let bits = convert::<Single, Half>(a, round, NAN16);
                if bits & 0x7fff == 0x7c00 {
                    bits - 1
                } else {
                    bits
                }
            },
        ));
    }
    check(registers("b16", "b32"), &rows, &singles);
    let rows: Vec<Row> = ROUNDS
        .into_iter()
        .map(|(word, round)| {
            Row::new(
                SECTION,
                format!("cvt.{word}.f32.f64 d, a"),
                move |a, _, _| convert::<Double, Single>(a, round, NAN32),
            )
        })
        .collect();
    check(
        registers("b32", "b64"),
        &rows,
        &float_operands(11, 52, 6000, 22),
    );
}

#[test]
fn wider_floats_are_exact() {
    let half = float_operands(5, 10, 6000, 23);
    check(
        registers("b32", "b16"),
        &[
            Row::new(SECTION, "cvt.f32.f16 d, a", |a, _, _| {
                convert::<Half, Single>(a, NEAREST, NAN32)
            }),
            Row::new(SECTION, "cvt.f32.bf16 d, a", |a, _, _| {
                convert::<BFloat, Single>(a, NEAREST, NAN32)
            }),
        ],
        &half,
    );
    check(
        registers("b64", "b32"),
        &[Row {
            section: SECTION,
            text: "cvt.f64.f32 d, a".into(),
            want: Box::new(|a, _, _| match convert::<Single, Double>(a, NEAREST, 0) {
                0 if a & 0x7fff_ffff != 0 => Want::Anything,
                bits => Want::Exactly(bits),
            }),
        }],
        &float_operands(8, 23, 4000, 24),
    );
}

/// Two results in one register, the first source above.
#[test]
fn packed_halves_and_eight_bit_floats() {
    let singles = float_operands(8, 23, 8000, 25);
    let pair = |text: &str, width: u32, one: fn(u64) -> u64| {
        Row::new(SECTION, text, move |a, b, _| one(a) << width | one(b))
    };
    // e4m3 has no infinity: .satfinite makes what is too large the largest number, and infinities too.
    fn e4m3(x: u64) -> u64 {
        saturated::<Float8E4M3FN>(x, 0x7e, 0x7f)
    }
    fn e5m2(x: u64) -> u64 {
        saturated::<Float8E5M2>(x, 0x7b, 0x7f)
    }
    fn saturated<F: Float>(x: u64, max: u64, nan: u64) -> u64
    where
        Single: FloatConvert<F>,
    {
        let single = Single::from_bits(x.into());
        if single.is_nan() {
            return nan;
        }
        let sign = x >> 31 << 7;
        let rounded: F = single.convert_r(NEAREST, &mut false).value;
        let limit = F::from_bits(max.into());
        let magnitude = rounded.abs();
        if magnitude.is_nan() || magnitude.is_infinite() || magnitude > limit {
            sign | max
        } else {
            rounded.to_bits() as u64
        }
    }
    let relu = |bits: u64| if bits & 0x80 != 0 { 0 } else { bits };
    check(
        registers_ab("b16"),
        &[
            pair("cvt.rn.satfinite.e4m3x2.f32 d, a, b", 8, e4m3),
            pair("cvt.rn.satfinite.e5m2x2.f32 d, a, b", 8, e5m2),
            Row::new(
                SECTION,
                "cvt.rn.satfinite.relu.e4m3x2.f32 d, a, b",
                move |a, b, _| relu(e4m3(a)) << 8 | relu(e4m3(b)),
            ),
            Row::new(
                SECTION,
                "cvt.rn.satfinite.relu.e5m2x2.f32 d, a, b",
                move |a, b, _| relu(e5m2(a)) << 8 | relu(e5m2(b)),
            ),
        ],
        &singles,
    );
    check(
        registers_ab("b32"),
        &[
            pair("cvt.rn.f16x2.f32 d, a, b", 16, |x| {
                convert::<Single, Half>(x, NEAREST, NAN16)
            }),
            pair("cvt.rz.f16x2.f32 d, a, b", 16, |x| {
                convert::<Single, Half>(x, Round::TowardZero, NAN16)
            }),
            pair("cvt.rn.bf16x2.f32 d, a, b", 16, |x| {
                convert::<Single, BFloat>(x, NEAREST, NAN16)
            }),
            pair("cvt.rz.bf16x2.f32 d, a, b", 16, |x| {
                convert::<Single, BFloat>(x, Round::TowardZero, NAN16)
            }),
        ],
        &singles,
    );
    // Back, and from half: all 65536 pairs of bytes.
    let bytes: Vec<[u64; 3]> = (0..65536).map(|i| [i, 0, 0]).collect();
    fn widened<F: Float + FloatConvert<Half>>(x: u64) -> u64 {
        let one = |x| convert::<F, Half>(x, NEAREST, NAN16);
        one(x >> 8) << 16 | one(x & 0xff)
    }
    check(
        registers("b32", "b16"),
        &[
            Row::new(SECTION, "cvt.rn.f16x2.e4m3x2 d, a", |a, _, _| {
                widened::<Float8E4M3FN>(a)
            }),
            Row::new(SECTION, "cvt.rn.f16x2.e5m2x2 d, a", |a, _, _| {
                widened::<Float8E5M2>(a)
            }),
        ],
        &bytes,
    );
}

fn registers_ab(d: &'static str) -> Registers {
    Registers {
        d,
        a: "f32",
        b: "f32",
        c: "b32",
    }
}

/// A small format without infinity or NaN by the value of each of its patterns: the nearest wins, the even one of two.
fn nearest_of(values: &[f64], x: f32) -> u64 {
    let sign = values.len() as u64;
    // Saturated first: distances from what is far away are all the same in double precision.
    let magnitude = f64::from(x.abs()).min(values[values.len() - 1]);
    let mut best = 0;
    for (i, &v) in values.iter().enumerate() {
        let (old, new) = ((values[best] - magnitude).abs(), (v - magnitude).abs());
        if new < old || new == old && i % 2 == 0 {
            best = i;
        }
    }
    if x.is_nan() {
        values.len() as u64 - 1
    } else {
        best as u64 | if x.is_sign_negative() { sign } else { 0 }
    }
}

/// OCP Microscaling Formats v1.0, 5.3: e2m1, e2m3 and e3m2 by their tables.
fn small_values(exponent_bits: u32, fraction_bits: u32) -> Vec<f64> {
    let bias = (1 << (exponent_bits - 1)) - 1;
    (0..1u32 << (exponent_bits + fraction_bits))
        .map(|bits| {
            let (exponent, fraction) = (bits >> fraction_bits, bits & ((1 << fraction_bits) - 1));
            let unit = f64::from(fraction) / f64::from(1u32 << fraction_bits);
            match exponent {
                0 => unit * 2f64.powi(1 - bias),
                e => (1.0 + unit) * 2f64.powi(e as i32 - bias),
            }
        })
        .collect()
}

#[test]
fn four_and_six_bit_floats() {
    let singles = float_operands(8, 23, 6000, 26);
    // Where these formats' values lie.
    let mut stream = Stream(27);
    let near: Vec<[u64; 3]> = (0..6000)
        .map(|_| {
            std::array::from_fn(|_| {
                u64::from(((stream.bits() % 4001) as f32 / 64.0 - 31.25).to_bits())
            })
        })
        .collect();
    let single = |x: u64| f32::from_bits(x as u32);
    for (name, exponent, fraction, width) in [
        ("e2m1x2", 2, 1, 4),
        ("e2m3x2", 2, 3, 8),
        ("e3m2x2", 3, 2, 8),
    ] {
        let values = small_values(exponent, fraction);
        let back = values.clone();
        let sign = values.len() as u64;
        let d = if width == 4 { "b8" } else { "b16" };
        let table = values.clone();
        let rows = [
            Row::new(
                SECTION,
                format!("cvt.rn.satfinite.{name}.f32 d, a, b"),
                move |a, b, _| {
                    nearest_of(&values, single(a)) << width | nearest_of(&values, single(b))
                },
            ),
            Row::new(
                SECTION,
                format!("cvt.rn.satfinite.relu.{name}.f32 d, a, b"),
                move |a, b, _| {
                    let one = |x| match nearest_of(&table, single(x)) {
                        bits if bits & sign != 0 => 0,
                        bits => bits,
                    };
                    one(a) << width | one(b)
                },
            ),
        ];
        for operands in [&singles, &near] {
            check(registers_ab(d), &rows, operands);
        }
        let bits = exponent + fraction + 1;
        let all: Vec<[u64; 3]> = (0..1u64 << (2 * bits))
            .map(|i| [(i >> bits) << width | i & ((1 << bits) - 1), 0, 0])
            .collect();
        check(
            registers("b32", d),
            &[Row::new(
                SECTION,
                format!("cvt.rn.f16x2.{name} d, a"),
                move |a, _, _| {
                    let one = |x: u64| {
                        let value = back[(x & (sign - 1)) as usize] as f32;
                        let half = convert::<Single, Half>(value.to_bits().into(), NEAREST, 0);
                        half | if x & sign != 0 { 0x8000 } else { 0 }
                    };
                    one(a >> width) << 16 | one(a & ((1 << width) - 1))
                },
            )],
            &all,
        );
    }
}

/// ue8m0 is the exponent field of a single: rounding to zero keeps it, rounding up adds one if there is a fraction.
#[test]
fn scales() {
    let singles = float_operands(8, 23, 4000, 28);
    let one = |x: u64, up: bool, finite: bool| {
        let (exponent, fraction) = (x >> 23 & 0xff, x & 0x7f_ffff);
        match (exponent, fraction) {
            (255, 1..) => 255,
            (255, 0) => 255 - u64::from(finite),
            // Below 2^-126 there is 2^-127, the smallest scale.
            (0, f) => u64::from(up && f > 1 << 22),
            (e, f) => {
                let rounded = e + u64::from(up && f != 0);
                if rounded == 255 && finite {
                    254
                } else {
                    rounded
                }
            }
        }
    };
    let mut rows = Vec::new();
    for (word, up) in [("rz", false), ("rp", true)] {
        for finite in [false, true] {
            let satfinite = if finite { ".satfinite" } else { "" };
            rows.push(Row::new(
                SECTION,
                format!("cvt.{word}{satfinite}.ue8m0x2.f32 d, a, b"),
                move |a, b, _| one(a, up, finite) << 8 | one(b, up, finite),
            ));
        }
    }
    check(registers_ab("b16"), &rows, &singles);
    let bytes: Vec<[u64; 3]> = (0..65536).map(|i| [i, 0, 0]).collect();
    let back = |x: u64| match x {
        255 => NAN16,
        0 => 0x40,
        e => e << 7,
    };
    check(
        registers("b32", "b16"),
        &[Row::new(
            SECTION,
            "cvt.rn.bf16x2.ue8m0x2 d, a",
            move |a, _, _| back(a >> 8) << 16 | back(a & 0xff),
        )],
        &bytes,
    );
}

/// tf32 keeps 10 fraction bits; the rounding is that of a single whose lower 13 bits go.
#[test]
fn tensor_float() {
    let rounded = |x: u64, up: fn(u64) -> bool| {
        if x & 0x7fff_ffff > 0x7f80_0000 {
            return NAN32;
        }
        let kept = x & !0x1fff;
        kept + if up(x) && x & 0x7f80_0000 != 0x7f80_0000 {
            0x2000
        } else {
            0
        }
    };
    let rows = [
        Row::new(SECTION, "cvt.rna.tf32.f32 d, a", move |a, _, _| {
            rounded(a, |x| x & 0x1000 != 0)
        }),
        Row::new(SECTION, "cvt.rz.tf32.f32 d, a", move |a, _, _| {
            rounded(a, |_| false)
        }),
        Row::new(SECTION, "cvt.rn.tf32.f32 d, a", move |a, _, _| {
            rounded(a, |x| x & 0x1fff > 0x1000 || x & 0x3fff == 0x3000)
        }),
    ];
    check(
        registers("b32", "f32"),
        &rows,
        &float_operands(8, 23, 8000, 29),
    );
}

/// The widths and signs of integers.
const INTEGERS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

fn container(bits: u32) -> &'static str {
    match bits {
        ..=16 => "b16",
        32 => "b32",
        _ => "b64",
    }
}

/// Floating point to integer clamps; a NaN is 0, or the sign bit alone where one side has 64 bits.
#[test]
fn floats_to_integers() {
    const TO_INTEGER: [(&str, Round); 4] = [
        ("rni", Round::NearestTiesToEven),
        ("rzi", Round::TowardZero),
        ("rmi", Round::TowardNegative),
        ("rpi", Round::TowardPositive),
    ];
    fn value<F: Float>(x: u64, bits: u32, signed: bool, round: Round, wide: bool) -> u64 {
        let x = F::from_bits(x.into());
        let mask = u64::MAX >> (64 - bits);
        if x.is_nan() {
            return if wide { 1 << (bits - 1) } else { 0 };
        }
        let exact = &mut false;
        if signed {
            x.to_i128_r(bits as usize, round, exact).value as u64 & mask
        } else {
            x.to_u128_r(bits as usize, round, exact).value as u64 & mask
        }
    }
    for (ty, bits, signed) in INTEGERS {
        if bits == 8 {
            continue;
        }
        let rows = |source: &'static str, width: u32| -> Vec<Row> {
            let one = move |(word, round): (&str, Round)| {
                let wide = bits == 64 || width == 64;
                Row::new(
                    SECTION,
                    format!("cvt.{word}.{ty}.{source} d, a"),
                    move |a, _, _| match source {
                        "f64" => value::<Double>(a, bits, signed, round, wide),
                        "f32" => value::<Single>(a, bits, signed, round, wide),
                        "f16" => value::<Half>(a, bits, signed, round, wide),
                        _ => value::<BFloat>(a, bits, signed, round, wide),
                    },
                )
            };
            TO_INTEGER.into_iter().map(one).collect()
        };
        let d = container(bits);
        check(
            registers(d, "b32"),
            &rows("f32", 32),
            &float_operands(8, 23, 4000, 30),
        );
        check(
            registers(d, "b64"),
            &rows("f64", 64),
            &float_operands(11, 52, 4000, 31),
        );
        check(
            registers(d, "b16"),
            &rows("f16", 16),
            &float_operands(5, 10, 4000, 32),
        );
        check(
            registers(d, "b16"),
            &rows("bf16", 16),
            &float_operands(8, 7, 4000, 33),
        );
    }
}

fn integers(seed: u64, count: usize) -> Vec<[u64; 3]> {
    let mut stream = Stream(seed);
    let special = [
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        i64::MAX as u64,
        1 << 63,
        u64::MAX,
    ];
    let mut out: Vec<[u64; 3]> = special.iter().map(|&x| [x, 0, 0]).collect();
    for _ in 0..count {
        let shift = stream.bits() % 64;
        out.push([stream.bits() >> shift, 0, 0]);
    }
    out
}

#[test]
fn integers_to_floats() {
    fn value<F: Float>(x: u64, bits: u32, signed: bool, round: Round) -> u64 {
        let unused = 64 - bits;
        let float = if signed {
            F::from_i128_r(i128::from((x << unused) as i64 >> unused), round)
        } else {
            F::from_u128_r(u128::from(x << unused >> unused), round)
        };
        float.value.to_bits() as u64
    }
    for (ty, bits, signed) in INTEGERS {
        let rows = |target: &'static str| -> Vec<Row> {
            ROUNDS
                .into_iter()
                .map(move |(word, round)| {
                    Row::new(
                        SECTION,
                        format!("cvt.{word}.{target}.{ty} d, a"),
                        move |a, _, _| match target {
                            "f64" => value::<Double>(a, bits, signed, round),
                            "f32" => value::<Single>(a, bits, signed, round),
                            "f16" => value::<Half>(a, bits, signed, round),
                            _ => value::<BFloat>(a, bits, signed, round),
                        },
                    )
                })
                .collect()
        };
        let operands = integers(34, 3000);
        let a = container(bits);
        check(registers("b64", a), &rows("f64"), &operands);
        check(registers("b32", a), &rows("f32"), &operands);
        check(registers("b16", a), &rows("f16"), &operands);
        check(registers("b16", a), &rows("bf16"), &operands);
    }
}

/// Truncation, extension and `.sat` between all pairs of integer types.
#[test]
fn integers_to_integers() {
    let operands = integers(35, 500);
    for (from, from_bits, from_signed) in INTEGERS {
        for (to, to_bits, to_signed) in INTEGERS {
            let read = move |x: u64| -> i128 {
                let unused = 64 - from_bits;
                if from_signed {
                    ((x << unused) as i64 >> unused).into()
                } else {
                    (x << unused >> unused).into()
                }
            };
            let (low, high) = if to_signed {
                (-(1i128 << (to_bits - 1)), (1i128 << (to_bits - 1)) - 1)
            } else {
                (0, (1i128 << to_bits) - 1)
            };
            // A result narrower than its register is extended by its sign.
            let width = super::bits_of(container(to_bits));
            let put = move |x: i128| {
                let unused = 128 - to_bits;
                let x = if to_signed {
                    x << unused >> unused
                } else {
                    ((x as u128) << unused >> unused) as i128
                };
                x as u64 & u64::MAX >> (64 - width)
            };
            let rows = [
                Row::new(SECTION, format!("cvt.{to}.{from} d, a"), move |a, _, _| {
                    put(read(a))
                }),
                Row::new(
                    SECTION,
                    format!("cvt.sat.{to}.{from} d, a"),
                    move |a, _, _| put(read(a).clamp(low, high)),
                ),
            ];
            check(
                registers(container(to_bits), container(from_bits)),
                &rows,
                &operands,
            );
        }
    }
}
