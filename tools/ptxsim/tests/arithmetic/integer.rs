//! Integer arithmetic, logic and shifts (PTX ISA 9.7.1, 9.7.2, 9.7.8) against 128-bit integers: every operation is
//! written from its defining sentence, on sign- or zero-extended values, and truncated to the result's width.

use super::{Registers, Row, Stream, all, check};

/// An integer type.
#[derive(Clone, Copy)]
struct Type {
    name: &'static str,
    bits: u32,
    signed: bool,
}

const fn ty(name: &'static str, bits: u32, signed: bool) -> Type {
    Type { name, bits, signed }
}

const TYPES: [Type; 6] = [
    ty("u16", 16, false),
    ty("s16", 16, true),
    ty("u32", 32, false),
    ty("s32", 32, true),
    ty("u64", 64, false),
    ty("s64", 64, true),
];

impl Type {
    fn value(self, bits: u64) -> i128 {
        let low = i128::from(bits) & ((1 << self.bits) - 1);
        if self.signed && low >> (self.bits - 1) & 1 == 1 {
            low - (1 << self.bits)
        } else {
            low
        }
    }

    fn cut(self, value: i128) -> u64 {
        (value & ((1 << self.bits) - 1)) as u64
    }

    fn least(self) -> i128 {
        if self.signed {
            -(1 << (self.bits - 1))
        } else {
            0
        }
    }

    fn largest(self) -> i128 {
        self.least() + (1 << self.bits) - 1
    }

    fn registers(self) -> Registers {
        all(match self.bits {
            16 => "b16",
            32 => "b32",
            _ => "b64",
        })
    }

    fn row(
        self,
        section: &'static str,
        text: String,
        f: impl Fn(i128, i128, i128) -> i128 + 'static,
    ) -> Row {
        Row::new(section, text, move |a, b, c| {
            self.cut(f(self.value(a), self.value(b), self.value(c)))
        })
    }
}

/// Corners and random words, small ones too.
fn operands(bits: u32, count: usize, seed: u64) -> Vec<[u64; 3]> {
    let all = u64::MAX >> (64 - bits);
    let top = 1u64 << (bits - 1);
    let corners = [
        0,
        1,
        2,
        7,
        all,
        all - 1,
        top,
        top - 1,
        top + 1,
        0x5555_5555_5555_5555 & all,
        u64::from(bits),
        u64::from(bits) - 1,
    ];
    let mut stream = Stream(seed);
    let mut out = Vec::new();
    for a in corners {
        for b in corners {
            out.push([a, b, corners[stream.bits() as usize % corners.len()]]);
        }
    }
    while out.len() < count {
        let shift = stream.bits() % u64::from(bits);
        out.push([
            stream.bits() & all,
            (stream.bits() & all) >> shift,
            stream.bits() & all,
        ]);
    }
    out
}

#[test]
fn arithmetic_of_every_type() {
    for t in TYPES {
        let n = t.name;
        let (least, largest) = (t.least(), t.largest());
        let mut rows = vec![
            t.row("9.7.1.1", format!("add.{n} d, a, b"), |a, b, _| a + b),
            t.row("9.7.1.2", format!("sub.{n} d, a, b"), |a, b, _| a - b),
            t.row("9.7.1.3", format!("mul.lo.{n} d, a, b"), |a, b, _| {
                a.wrapping_mul(b)
            }),
            t.row("9.7.1.4", format!("mad.lo.{n} d, a, b, c"), |a, b, c| {
                a.wrapping_mul(b).wrapping_add(c)
            }),
            t.row("9.7.1.7", format!("sad.{n} d, a, b, c"), |a, b, c| {
                c + (a - b).abs()
            }),
            t.row("9.7.1.12", format!("min.{n} d, a, b"), |a, b, _| a.min(b)),
            t.row("9.7.1.13", format!("max.{n} d, a, b"), |a, b, _| a.max(b)),
        ];
        // The upper half of the full product; 64-bit ones fit signed 128 bits except u64's, which wraps to the same bits.
        let bits = t.bits;
        rows.push(
            t.row("9.7.1.3", format!("mul.hi.{n} d, a, b"), move |a, b, _| {
                ((a.wrapping_mul(b) as u128) >> bits) as i128
            }),
        );
        if t.signed {
            rows.push(t.row("9.7.1.10", format!("abs.{n} d, a"), |a, _, _| a.abs()));
            rows.push(t.row("9.7.1.11", format!("neg.{n} d, a"), |a, _, _| -a));
        }
        if n == "s32" {
            rows.push(
                t.row("9.7.1.1", "add.sat.s32 d, a, b".into(), move |a, b, _| {
                    (a + b).clamp(least, largest)
                }),
            );
            rows.push(
                t.row("9.7.1.2", "sub.sat.s32 d, a, b".into(), move |a, b, _| {
                    (a - b).clamp(least, largest)
                }),
            );
            rows.push(t.row(
                "9.7.1.4",
                "mad.hi.sat.s32 d, a, b, c".into(),
                move |a, b, c| (((a * b) >> 32) + c).clamp(least, largest),
            ));
            rows.push(t.row("9.7.1.12", "min.relu.s32 d, a, b".into(), |a, b, _| {
                a.min(b).max(0)
            }));
            rows.push(t.row("9.7.1.13", "max.relu.s32 d, a, b".into(), |a, b, _| {
                a.max(b).max(0)
            }));
        }
        check(t.registers(), &rows, &operands(t.bits, 3000, 41));
        // Division by zero and the one quotient that overflows are undefined.
        let divisible: Vec<[u64; 3]> = operands(t.bits, 3000, 42)
            .into_iter()
            .filter(|&[a, b, _]| {
                t.value(b) != 0 && !(t.signed && t.value(a) == least && t.value(b) == -1)
            })
            .collect();
        let rows = [
            t.row("9.7.1.8", format!("div.{n} d, a, b"), |a, b, _| a / b),
            t.row("9.7.1.9", format!("rem.{n} d, a, b"), |a, b, _| a % b),
        ];
        check(t.registers(), &rows, &divisible);
    }
}

#[test]
fn wide_products() {
    for t in TYPES.into_iter().filter(|t| t.bits < 64) {
        let twice = ty("", 2 * t.bits, t.signed);
        let (narrow, wide) = if t.bits == 16 {
            ("b16", "b32")
        } else {
            ("b32", "b64")
        };
        let registers = Registers {
            d: wide,
            a: narrow,
            b: narrow,
            c: wide,
        };
        let rows = [
            Row::new(
                "9.7.1.3",
                format!("mul.wide.{} d, a, b", t.name),
                move |a, b, _| twice.cut(t.value(a) * t.value(b)),
            ),
            Row::new(
                "9.7.1.4",
                format!("mad.wide.{} d, a, b, c", t.name),
                move |a, b, c| twice.cut(t.value(a) * t.value(b) + twice.value(c)),
            ),
        ];
        let mut operands = operands(t.bits, 2000, 43);
        let mut stream = Stream(44);
        for [_, _, c] in &mut operands {
            *c = stream.bits() >> (64 - 2 * t.bits);
        }
        check(registers, &rows, &operands);
    }
}

/// Four bytes or two halves of a word.
fn parts(word: u64, bits: u32, signed: bool) -> impl Iterator<Item = i128> {
    let part = ty("", bits, signed);
    (0..32 / bits).map(move |i| part.value(word >> (i * bits)))
}

#[test]
fn dot_products_and_24_bit_products() {
    let mut rows = Vec::new();
    for (a_name, a_signed) in [("u32", false), ("s32", true)] {
        for (b_name, b_signed) in [("u32", false), ("s32", true)] {
            rows.push(Row::new(
                "9.7.1.24",
                format!("dp4a.{a_name}.{b_name} d, a, b, c"),
                move |a, b, c| {
                    let sum: i128 = parts(a, 8, a_signed)
                        .zip(parts(b, 8, b_signed))
                        .map(|(x, y)| x * y)
                        .sum();
                    (sum + i128::from(c)) as u32 as u64
                },
            ));
            for (half, skip) in [("lo", 0), ("hi", 2)] {
                rows.push(Row::new(
                    "9.7.1.25",
                    format!("dp2a.{half}.{a_name}.{b_name} d, a, b, c"),
                    move |a, b, c| {
                        let bytes = parts(b, 8, b_signed).skip(skip);
                        let sum: i128 = parts(a, 16, a_signed).zip(bytes).map(|(x, y)| x * y).sum();
                        (sum + i128::from(c)) as u32 as u64
                    },
                ));
            }
        }
    }
    for (name, signed) in [("u32", false), ("s32", true)] {
        let t = ty("", 24, signed);
        let product = move |a, b| t.value(a) * t.value(b);
        rows.push(Row::new(
            "9.7.1.5",
            format!("mul24.lo.{name} d, a, b"),
            move |a, b, _| product(a, b) as u32 as u64,
        ));
        rows.push(Row::new(
            "9.7.1.5",
            format!("mul24.hi.{name} d, a, b"),
            move |a, b, _| (product(a, b) >> 16) as u32 as u64,
        ));
        rows.push(Row::new(
            "9.7.1.6",
            format!("mad24.lo.{name} d, a, b, c"),
            move |a, b, c| (product(a, b) + i128::from(c)) as u32 as u64,
        ));
    }
    check(all("b32"), &rows, &operands(32, 3000, 45));
}

#[test]
fn bits_and_shifts() {
    let bit = |x: u64, i: u32| x >> i & 1;
    let rows = [
        Row::new("9.7.1.14", "popc.b32 d, a", move |a, _, _| {
            (0..32).map(|i| bit(a, i)).sum()
        }),
        Row::new("9.7.1.15", "clz.b32 d, a", move |a, _, _| {
            (0..32).rev().take_while(|&i| bit(a, i) == 0).count() as u64
        }),
        Row::new("9.7.1.16", "bfind.u32 d, a", move |a, _, _| {
            (0..32)
                .rev()
                .find(|&i| bit(a, i) == 1)
                .map_or(0xffff_ffff, u64::from)
        }),
        // The highest bit that is not a copy of the sign.
        Row::new("9.7.1.16", "bfind.s32 d, a", move |a, _, _| {
            (0..31)
                .rev()
                .find(|&i| bit(a, i) != bit(a, 31))
                .map_or(0xffff_ffff, u64::from)
        }),
        Row::new("9.7.1.18", "brev.b32 d, a", move |a, _, _| {
            (0..32).map(|i| bit(a, i) << (31 - i)).sum()
        }),
        Row::new("9.7.1.19", "bfe.u32 d, a, b, c", move |a, b, c| {
            let (at, len) = ((b & 255) as u32, (c & 255) as u32);
            (0..len.min(32))
                .filter(|i| at + i < 32)
                .map(|i| bit(a, at + i) << i)
                .sum()
        }),
        Row::new("9.7.1.19", "bfe.s32 d, a, b, c", move |a, b, c| {
            let (at, len) = ((b & 255) as u32, (c & 255) as u32);
            // Bits beyond the field copy its sign, which is that of the last bit there is.
            let sign = if len == 0 {
                0
            } else {
                bit(a, (at + len - 1).min(31))
            };
            (0..32)
                .map(|i| {
                    if i < len && at + i < 32 {
                        bit(a, at + i) << i
                    } else {
                        sign << i
                    }
                })
                .sum()
        }),
        Row::new("9.7.1.23", "bmsk.clamp.b32 d, a, b", move |a, b, _| {
            (0..32u64)
                .filter(|&i| i >= a && i < a.saturating_add(b))
                .map(|i| 1 << i)
                .sum()
        }),
        Row::new("9.7.8.6", "lop3.b32 d, a, b, c, 0x1b", move |a, b, c| {
            (0..32)
                .map(|i| (0x1b >> (bit(a, i) << 2 | bit(b, i) << 1 | bit(c, i)) & 1) << i)
                .sum()
        }),
        Row::new("9.7.8.7", "shf.l.clamp.b32 d, a, b, c", |a, b, c| {
            ((b << 32 | a) << c.min(32) >> 32) & 0xffff_ffff
        }),
        Row::new("9.7.8.7", "shf.r.wrap.b32 d, a, b, c", |a, b, c| {
            (b << 32 | a) >> (c & 31) & 0xffff_ffff
        }),
        Row::new("9.7.8.8", "shl.b32 d, a, b", |a, b, _| {
            if b > 31 { 0 } else { a << b & 0xffff_ffff }
        }),
        Row::new("9.7.8.9", "shr.u32 d, a, b", |a, b, _| {
            if b > 31 { 0 } else { a >> b }
        }),
        Row::new("9.7.8.9", "shr.s32 d, a, b", |a, b, _| {
            ((a as i32) >> b.min(31)) as u32 as u64
        }),
        Row::new("9.7.9.7", "prmt.b32 d, a, b, c", |a, b, c| {
            let bytes: Vec<u8> = (a as u32)
                .to_le_bytes()
                .into_iter()
                .chain((b as u32).to_le_bytes())
                .collect();
            let select = |i: u64| {
                let nibble = c >> (4 * i);
                let byte = bytes[(nibble & 7) as usize];
                let replicated = if byte & 0x80 != 0 { 255 } else { 0 };
                u64::from(if nibble & 8 != 0 { replicated } else { byte }) << (8 * i)
            };
            (0..4).map(select).sum()
        }),
        Row::new("9.7.9.6", "slct.b32.s32 d, a, b, c", |a, b, c| {
            if c as i32 >= 0 { a } else { b }
        }),
    ];
    let mut operands = operands(32, 4000, 46);
    let mut stream = Stream(47);
    // Positions, lengths and distances around the width.
    for _ in 0..3000 {
        operands.push([stream.bits() >> 32, stream.bits() % 40, stream.bits() % 40]);
    }
    check(all("b32"), &rows, &operands);
}

#[test]
fn packed_halves() {
    let mut rows = Vec::new();
    for (name, signed) in [("u16x2", false), ("s16x2", true)] {
        let t = ty("", 16, signed);
        let two = move |a: u64, b: u64, f: fn(i128, i128) -> i128| {
            let half = |shift: u32| t.cut(f(t.value(a >> shift), t.value(b >> shift))) << shift;
            half(0) | half(16)
        };
        for (section, op, f) in [
            ("9.7.1.1", "add", (|a, b| a + b) as fn(i128, i128) -> i128),
            ("9.7.1.12", "min", |a, b| a.min(b)),
            ("9.7.1.13", "max", |a, b| a.max(b)),
        ] {
            rows.push(Row::new(
                section,
                format!("{op}.{name} d, a, b"),
                move |a, b, _| two(a, b, f),
            ));
        }
        if signed {
            rows.push(Row::new(
                "9.7.1.13",
                "max.relu.s16x2 d, a, b",
                move |a, b, _| two(a, b, |a, b| a.max(b).max(0)),
            ));
        }
    }
    check(all("b32"), &rows, &operands(32, 3000, 48));
}

#[test]
fn carries() {
    // 128-bit sums and differences from two 64-bit halves, and a product of 64 bits from 32-bit ones.
    let big = |lo: u64, hi: u64| u128::from(hi) << 64 | u128::from(lo);
    let rows = [
        Row::new(
            "9.7.2.1",
            "add.cc.u64 d, a, b; addc.u64 d, c, a",
            move |a, b, c| ((big(a, c).wrapping_add(big(b, a))) >> 64) as u64,
        ),
        Row::new(
            "9.7.2.3",
            "sub.cc.u64 d, a, b; subc.u64 d, c, a",
            move |a, b, c| ((big(a, c).wrapping_sub(big(b, a))) >> 64) as u64,
        ),
        Row::new(
            "9.7.2.5",
            "mad.lo.cc.u64 d, a, b, c; madc.hi.u64 d, a, b, c",
            move |a, b, c| ((u128::from(a) * u128::from(b)).wrapping_add(big(c, c)) >> 64) as u64,
        ),
    ];
    check(all("b64"), &rows, &operands(64, 3000, 49));
}
