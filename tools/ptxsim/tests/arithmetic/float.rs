//! Operations that round once (PTX ISA 9.7.3, 9.7.4, 9.7.5).

use super::{Judge, Registers, Row, Want, all, check, float_operands};
use num_bigint::BigUint;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// Rounding modifiers of arithmetic.
pub const ROUNDS: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

/// Which operation, on which operands.
#[derive(Clone, Copy, PartialEq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
}

impl Op {
    fn name(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::Fma => "fma",
            Op::Div => "div",
            Op::Rcp => "rcp",
        }
    }

    fn operands(self) -> &'static str {
        match self {
            Op::Fma => "d, a, b, c",
            Op::Rcp => "d, a",
            _ => "d, a, b",
        }
    }

    fn section(self) -> &'static str {
        match self {
            Op::Add => "9.7.3.3",
            Op::Sub => "9.7.3.4",
            Op::Mul => "9.7.3.5",
            Op::Fma => "9.7.3.6",
            Op::Div => "9.7.3.8",
            Op::Rcp => "9.7.3.13",
        }
    }
}

/// How a result is finished.
#[derive(Clone, Copy, Default)]
pub struct Finish {
    pub ftz: bool,
    pub sat: bool,
    pub relu: bool,
}

impl Finish {
    fn words(self) -> String {
        let word = |on, name| if on { name } else { "" };
        format!(
            "{}{}{}",
            word(self.ftz, ".ftz"),
            word(self.sat, ".sat"),
            word(self.relu, ".relu")
        )
    }
}

fn flush<F: Float>(x: F, ftz: bool) -> F {
    if ftz && x.is_denormal() {
        F::ZERO.copy_sign(x)
    } else {
        x
    }
}

/// Canonical NaN, subnormals, saturation (PTX ISA 9.7.3: ".sat clamps to [0, 1] and makes NaN +0").
fn finish<F: Float>(x: F, nan: u64, how: Finish) -> u64 {
    let x = flush(x, how.ftz);
    if x.is_nan() {
        return if how.sat { 0 } else { nan };
    }
    let one = F::from_u128(1).value;
    let x = match (how.sat, how.relu) {
        (true, _) if x.is_negative() || x.is_zero() => F::ZERO,
        (true, _) if x > one => one,
        (_, true) if x.is_negative() => F::ZERO,
        _ => x,
    };
    x.to_bits() as u64
}

/// The operation on bits of a format.
fn compute<F: Float>(op: Op, round: Round, nan: u64, how: Finish, [a, b, c]: [u64; 3]) -> u64 {
    let read = |x: u64| flush(F::from_bits(x.into()), how.ftz);
    let (a, b, c) = (read(a), read(b), read(c));
    let value = match op {
        Op::Add => a.add_r(b, round).value,
        Op::Sub => a.sub_r(b, round).value,
        Op::Mul => a.mul_r(b, round).value,
        Op::Fma => a.mul_add_r(b, c, round).value,
        Op::Div => a.div_r(b, round).value,
        Op::Rcp => F::from_u128(1).value.div_r(a, round).value,
    };
    finish(value, nan, how)
}

pub const NAN32: u64 = 0x7fff_ffff;
pub const NAN16: u64 = 0x7fff;

fn row<F: Float + 'static>(op: Op, round: (&str, Round), ty: &str, nan: u64, how: Finish) -> Row {
    let text = format!(
        "{}.{}{}.{ty} {}",
        op.name(),
        round.0,
        how.words(),
        op.operands()
    );
    let direction = round.1;
    Row::new(op.section(), text, move |a, b, c| {
        compute::<F>(op, direction, nan, how, [a, b, c])
    })
}

#[test]
fn singles_in_every_direction() {
    let mut rows = Vec::new();
    for op in [Op::Add, Op::Sub, Op::Mul, Op::Fma, Op::Div, Op::Rcp] {
        for round in ROUNDS {
            for ftz in [false, true] {
                let saturates = !matches!(op, Op::Div | Op::Rcp);
                for sat in [false, true].into_iter().take(1 + usize::from(saturates)) {
                    let how = Finish {
                        ftz,
                        sat,
                        relu: false,
                    };
                    rows.push(row::<Single>(op, round, "f32", NAN32, how));
                }
            }
        }
    }
    check(all("f32"), &rows, &float_operands(8, 23, 4000, 1));
}

/// Doubles keep the payload of a NaN operand or make one up; any NaN will do.
fn double(op: Op, round: (&'static str, Round)) -> Row {
    #[derive(Debug)]
    struct Nan;
    impl Judge for Nan {
        fn holds(&self, bits: u64) -> bool {
            f64::from_bits(bits).is_nan()
        }
    }
    let text = format!("{}.{}.f64 {}", op.name(), round.0, op.operands());
    Row {
        section: op.section(),
        text,
        want: Box::new(move |a, b, c| {
            let bits = compute::<Double>(op, round.1, u64::MAX, Finish::default(), [a, b, c]);
            if bits == u64::MAX {
                Want::Such(Box::new(Nan))
            } else {
                Want::Exactly(bits)
            }
        }),
    }
}

#[test]
fn doubles_in_every_direction() {
    let ops = [Op::Add, Op::Sub, Op::Mul, Op::Fma, Op::Div, Op::Rcp];
    let rows: Vec<Row> = ops
        .into_iter()
        .flat_map(|op| ROUNDS.into_iter().map(move |round| double(op, round)))
        .collect();
    check(all("f64"), &rows, &float_operands(11, 52, 4000, 2));
}

/// 9.7.4: half and bfloat, `.ftz` for half alone, `.relu` for fma alone.
#[test]
fn halves_and_bfloats() {
    let near = ("rn", Round::NearestTiesToEven);
    let hows = |op: Op, half: bool| {
        let mut hows = vec![Finish::default()];
        if half {
            hows.push(Finish {
                ftz: true,
                ..Finish::default()
            });
            hows.push(Finish {
                ftz: true,
                sat: true,
                relu: false,
            });
            hows.push(Finish {
                sat: true,
                ..Finish::default()
            });
        }
        if op == Op::Fma {
            hows.push(Finish {
                relu: true,
                ..Finish::default()
            });
        }
        hows
    };
    let rows = |half: bool| -> Vec<Row> {
        [Op::Add, Op::Sub, Op::Mul, Op::Fma]
            .into_iter()
            .flat_map(|op| hows(op, half).into_iter().map(move |how| (op, how)))
            .map(|(op, how)| {
                if half {
                    row::<Half>(op, near, "f16", NAN16, how)
                } else {
                    row::<BFloat>(op, near, "bf16", NAN16, how)
                }
            })
            .collect()
    };
    let (half, bfloat) = (
        float_operands(5, 10, 6000, 3),
        float_operands(8, 7, 6000, 4),
    );
    check(all("b16"), &rows(true), &half);
    check(all("b16"), &rows(false), &bfloat);
    // Packed: the upper half gets other operands than the lower.
    for (name, operands, half) in [("f16x2", half, true), ("bf16x2", bfloat, false)] {
        let packed: Vec<[u64; 3]> = operands
            .iter()
            .zip(operands.iter().rev())
            .map(|(low, high)| std::array::from_fn(|i| low[i] | high[i] << 16))
            .collect();
        let rows: Vec<Row> = rows(half)
            .into_iter()
            .map(|row| {
                let want = row.want;
                Row {
                    section: row.section,
                    text: row.text.replace(&name[..name.len() - 2], name),
                    want: Box::new(move |a, b, c| {
                        let part = |shift: u32| match want(
                            a >> shift & 0xffff,
                            b >> shift & 0xffff,
                            c >> shift & 0xffff,
                        ) {
                            Want::Exactly(bits) => bits << shift,
                            _ => 0,
                        };
                        Want::Exactly(part(0) | part(16))
                    }),
                }
            })
            .collect();
        check(all("b32"), &rows, &packed);
    }
}

#[test]
fn pairs_of_singles() {
    let operands = float_operands(8, 23, 2000, 5);
    let packed: Vec<[u64; 3]> = operands
        .iter()
        .zip(operands.iter().rev())
        .map(|(low, high)| std::array::from_fn(|i| low[i] | high[i] << 32))
        .collect();
    let mut rows = Vec::new();
    for op in [Op::Add, Op::Sub, Op::Mul, Op::Fma] {
        for round in ROUNDS {
            for ftz in [false, true] {
                let how = Finish {
                    ftz,
                    ..Finish::default()
                };
                let text = format!(
                    "{}.{}{}.f32x2 {}",
                    op.name(),
                    round.0,
                    how.words(),
                    op.operands()
                );
                rows.push(Row::new(op.section(), text, move |a, b, c| {
                    let part = |s: u32| {
                        let low = |x: u64| x >> s & 0xffff_ffff;
                        compute::<Single>(op, round.1, NAN32, how, [low(a), low(b), low(c)]) << s
                    };
                    part(0) | part(32)
                }));
            }
        }
    }
    check(all("b64"), &rows, &packed);
}

/// 9.7.5: the narrow operands are widened exactly, then one rounding.
#[test]
fn mixed_precision() {
    fn widen<F: Float + FloatConvert<Single>>(x: u64) -> u64 {
        let single: Single = F::from_bits(x.into()).convert(&mut false).value;
        single.to_bits() as u64
    }
    for (ty, exponent, fraction) in [("f16", 5, 10), ("bf16", 8, 7)] {
        let narrow = float_operands(exponent, fraction, 3000, 6);
        let wide = float_operands(8, 23, 3000, 7);
        let widened = move |x: u64| {
            if ty == "f16" {
                widen::<Half>(x)
            } else {
                widen::<BFloat>(x)
            }
        };
        for op in [Op::Add, Op::Sub, Op::Fma] {
            let mut rows = Vec::new();
            for round in ROUNDS {
                for sat in [false, true] {
                    let how = Finish {
                        sat,
                        ..Finish::default()
                    };
                    let text = format!(
                        "{}.{}{}.f32.{ty} {}",
                        op.name(),
                        round.0,
                        how.words(),
                        op.operands()
                    );
                    rows.push(Row::new("9.7.5", text, move |a, b, c| {
                        let b = if op == Op::Fma { widened(b) } else { b };
                        compute::<Single>(op, round.1, NAN32, how, [widened(a), b, c])
                    }));
                }
            }
            let b = if op == Op::Fma { "b16" } else { "f32" };
            let registers = Registers {
                d: "f32",
                a: "b16",
                b,
                c: "f32",
            };
            let operands: Vec<[u64; 3]> = narrow
                .iter()
                .zip(&wide)
                .map(|(n, w)| [n[0], if op == Op::Fma { n[1] } else { w[1] }, w[2]])
                .collect();
            check(registers, &rows, &operands);
        }
    }
}

/// A square root that is right in a direction, judged by squaring neighbours exactly.
#[derive(Debug)]
struct Root {
    of: u64,
    round: Round,
    fraction_bits: u32,
}

impl Root {
    fn parts(&self, bits: u64) -> (u64, i64) {
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        match bits >> self.fraction_bits {
            0 => (fraction, 1),
            exponent => (fraction | 1 << self.fraction_bits, exponent as i64),
        }
    }

    /// (significand × 4 + quarters)², scaled to a common unit with `4² × radicand`.
    fn compare(&self, root: u64, quarters: i64) -> std::cmp::Ordering {
        let bias = if self.fraction_bits == 52 { 1075 } else { 150 };
        let ((m, e), (x, ex)) = (self.parts(root), self.parts(self.of));
        let scaled = (4 * m as i128 + i128::from(quarters)).max(0) as u128;
        let square = BigUint::from(scaled) * BigUint::from(scaled);
        let radicand = BigUint::from(16u32) * BigUint::from(x);
        // Exponents of the last places: 2 (e - bias) and ex - bias.
        let (left, right) = (2 * (e - bias), ex - bias);
        let base = left.min(right);
        (square << (left - base) as usize).cmp(&(radicand << (right - base) as usize))
    }
}

impl Judge for Root {
    fn holds(&self, bits: u64) -> bool {
        use std::cmp::Ordering::{Greater, Less};
        match self.round {
            Round::NearestTiesToEven => {
                self.compare(bits, -2) != Greater && self.compare(bits, 2) != Less
            }
            Round::TowardPositive => {
                self.compare(bits, 0) != Less && self.compare(bits, -4) == Less
            }
            _ => self.compare(bits, 0) != Greater && self.compare(bits, 4) == Greater,
        }
    }
}

/// 9.7.3.15.
#[test]
fn square_roots() {
    for (ty, exponent_bits, fraction_bits, nan) in
        [("f32", 8, 23, NAN32), ("f64", 11, 52, 0x7ff8 << 48)]
    {
        let width = 1 + exponent_bits + fraction_bits;
        let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
        let rows: Vec<Row> = ROUNDS
            .into_iter()
            .map(|(word, round)| Row {
                section: "9.7.3.15",
                text: format!("sqrt.{word}.{ty} d, a"),
                want: Box::new(move |a, _, _| {
                    let (magnitude, negative) = (a & !(1 << (width - 1)), a >> (width - 1) == 1);
                    match magnitude {
                        0 => Want::Exactly(a),
                        m if m > infinity && fraction_bits == 52 => Want::Anything,
                        m if m > infinity || negative && fraction_bits == 23 => Want::Exactly(nan),
                        _ if negative => Want::Anything,
                        m if m == infinity => Want::Exactly(a),
                        _ => Want::Such(Box::new(Root {
                            of: a,
                            round,
                            fraction_bits,
                        })),
                    }
                }),
            })
            .collect();
        check(
            all(ty),
            &rows,
            &float_operands(exponent_bits, fraction_bits, 4000, 8),
        );
    }
}
