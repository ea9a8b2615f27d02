//! Elementwise arithmetic, comparisons, approximate functions.

use super::Gen;
use crate::types::{Elem, Fact, Float, Tile, anything, tile_type};

/// A function that is computed approximately: where it is called, what it yields there, how fast it grows.
struct Function {
    name: &'static str,
    from: (f64, f64),
    to: (f64, f64),
    slope: f64,
    /// Relative error as a multiple of the result type's.
    units: f64,
    f32_only: bool,
}

const fn function(name: &'static str, from: (f64, f64), to: (f64, f64), slope: f64) -> Function {
    Function {
        name,
        from,
        to,
        slope,
        units: 4.0,
        f32_only: false,
    }
}

const FUNCTIONS: &[Function] = &[
    function("exp", (-8.0, 4.0), (0.0, 55.0), 55.0),
    function("exp2", (-8.0, 6.0), (0.0, 64.5), 45.0),
    function("log", (0.25, 16.0), (-1.4, 2.8), 4.0),
    function("log2", (0.25, 16.0), (-2.1, 4.1), 6.0),
    function("sin", (-8.0, 8.0), (-1.0, 1.0), 1.0),
    function("cos", (-8.0, 8.0), (-1.0, 1.0), 1.0),
    function("tanh", (-6.0, 6.0), (-1.0, 1.0), 1.0),
    function("rsqrt", (0.25, 16.0), (0.24, 2.1), 4.0),
    function("sinh", (-4.0, 4.0), (-28.0, 28.0), 28.0),
    function("cosh", (-4.0, 4.0), (0.9, 28.0), 28.0),
    function("tan", (-1.0, 1.0), (-1.6, 1.6), 3.5),
    Function {
        units: 2048.0,
        f32_only: true,
        ..function("exp @ rounding<approx>", (-8.0, 4.0), (0.0, 55.0), 55.0)
    },
    Function {
        units: 16384.0,
        f32_only: true,
        ..function("tanh @ rounding<approx>", (-6.0, 6.0), (-1.0, 1.0), 1.0)
    },
    Function {
        f32_only: true,
        ..function("exp2 @ flush_to_zero", (-8.0, 6.0), (0.0, 64.5), 45.0)
    },
    Function {
        f32_only: true,
        ..function("rsqrt @ flush_to_zero", (0.25, 16.0), (0.24, 2.1), 4.0)
    },
    Function {
        f32_only: true,
        ..function("sqrt @ rounding<approx>", (0.0625, 16.0), (0.24, 4.1), 2.0)
    },
];

impl Gen {
    pub(super) fn float_binary(&mut self) {
        let shape = self.shape();
        let elem = self.float_elem();
        let bounded = self.c.chance(40);
        let fits = |t: &Tile| t.is_exact() || bounded;
        let a = self.operand_where(elem, &shape, &fits);
        let b = self.operand_where(elem, &shape, &fits);
        self.float_op(&a, &b);
    }

    fn float_op(&mut self, a: &Tile, b: &Tile) {
        let exact = a.is_exact() && b.is_exact();
        let names = [
            "addf", "mulf", "subf", "maxf", "minf", "fma", "divf", "remf",
        ];
        let which = self.c.below(if exact { 8 } else { 5 });
        let name = names[which];
        let (x, y) = (a.float(), b.float());
        let elem = a.elem;
        let both = format!("{}, {}", a.name, b.name);
        let fact = match name {
            "addf" => x.sum(y).rounded(elem),
            "subf" => x.sum(y.negated()).rounded(elem),
            "mulf" => x.product(y).rounded(elem),
            "maxf" | "minf" => Float {
                nan: x.nan || y.nan,
                ..x.join(y)
            },
            _ => Float::ANY,
        };
        if !fact.is_useful(elem) {
            return;
        }
        let flag = match name {
            "maxf" | "minf" if self.c.chance(30) => " propagate_nan",
            "maxf" | "minf" | "remf" => "",
            _ => self.rounding(elem),
        };
        // A flag changes what is rounded to, not by how much.
        let fact = if flag.contains("flush") || flag.contains("rounding") {
            if fact.is_exact() {
                Float {
                    quantum: None,
                    ..fact
                }
            } else {
                return;
            }
        } else {
            fact
        };
        let text = if name == "fma" {
            let c = self.operand(elem, &a.shape);
            format!("fma {both}, {}{flag}", c.name)
        } else {
            format!("{name} {both}{flag}")
        };
        self.value(&text, None, elem, &a.shape, Fact::Float(fact));
    }

    fn rounding(&mut self, elem: Elem) -> &'static str {
        let f32_or_f64 = matches!(elem, Elem::F32 | Elem::F64);
        match self.c.below(20) {
            17 if elem == Elem::F32 => " flush_to_zero",
            18 if f32_or_f64 => " rounding<zero>",
            19 if f32_or_f64 => self
                .c
                .pick(&[" rounding<negative_inf>", " rounding<positive_inf>"]),
            _ => "",
        }
    }

    pub(super) fn unary(&mut self) {
        let shape = self.shape();
        if self.c.chance(40) {
            let elem = self.int_elem();
            let a = self.operand(elem, &shape);
            let name = self.c.pick(&["negi", "absi"]);
            self.value(
                &format!("{name} {}", a.name),
                None,
                elem,
                &shape,
                anything(elem),
            );
            return;
        }
        let elem = self.float_elem();
        let a = self.operand(elem, &shape);
        let x = a.float();
        let name = self.c.pick(&["negf", "absf", "sqrt", "floor", "ceil"]);
        let fact = match name {
            "negf" => x.negated(),
            "absf" => Float {
                lo: 0.0,
                hi: x.max(),
                ..x
            },
            "sqrt" if x.lo >= 0.0 && !x.nan => Float {
                quantum: None,
                lo: 0.0,
                hi: x.hi.max(1.0),
                ..x
            },
            "sqrt" => Float::ANY,
            _ => Float {
                lo: x.lo - 1.0,
                hi: x.hi + 1.0,
                quantum: Some(0),
                ..x
            }
            .rounded(elem),
        };
        self.value(
            &format!("{name} {}", a.name),
            None,
            elem,
            &shape,
            Fact::Float(fact),
        );
    }

    /// Between two numbers; what is no number becomes the lower.
    pub(super) fn clamp(&mut self, a: &Tile, (lo, hi): (f64, f64)) -> Tile {
        let low = self.float_constant(a.elem, &a.shape, lo);
        let high = self.float_constant(a.elem, &a.shape, hi);
        let x = a.float();
        let part = Float {
            lo: x.lo.max(lo),
            hi: x.hi.max(lo),
            nan: false,
            quantum: x.quantum.map(|q| q.min(-4)),
            error: x.error,
        };
        let some = self.op(
            &format!("maxf {}, {}", a.name, low.name),
            None,
            a.elem,
            &a.shape,
            Fact::Float(part),
        );
        let part = Float {
            lo: part.lo.min(hi),
            hi: part.hi.min(hi),
            ..part
        };
        self.op(
            &format!("minf {}, {}", some.name, high.name),
            None,
            a.elem,
            &a.shape,
            Fact::Float(part),
        )
    }

    pub(super) fn approximate(&mut self) {
        let shape = self.shape();
        let elem = self.float_elem();
        let a = self.operand_where(elem, &shape, &|_| true);
        let at = self.c.below(FUNCTIONS.len() + 2);
        let Some(f) = FUNCTIONS
            .get(at)
            .filter(|f| !f.f32_only || elem == Elem::F32)
        else {
            let b = self.operand_where(elem, &shape, &|_| true);
            let b = self.clamp(&b, (0.5, 4.0));
            let a = self.clamp(&a, (-8.0, 8.0));
            self.quotient(&a, &b);
            return;
        };
        let x = self.clamp(&a, f.from);
        self.function(f, &x);
    }

    fn function(&mut self, f: &Function, x: &Tile) -> Tile {
        let size = f.to.0.abs().max(f.to.1.abs());
        let error = f.slope * x.float().error * 1.1 + f.units * x.elem.epsilon() * size;
        let fact = Float {
            error,
            ..Float::range(f.to.0 - error, f.to.1 + error)
        };
        let (name, flag) = f.name.split_once(" @").unwrap_or((f.name, ""));
        self.value(
            &format!("{name} {}{flag}", x.name),
            None,
            x.elem,
            &x.shape,
            Fact::Float(fact),
        )
    }

    /// e to the power of a tile that is at most `most`.
    pub(super) fn exponential(&mut self, x: &Tile, most: f64) -> Tile {
        let f = Function {
            to: (0.0, most.exp()),
            slope: most.exp(),
            ..function("exp", (0.0, 0.0), (0.0, 0.0), 0.0)
        };
        self.function(&f, x)
    }

    /// A quotient whose divisor is known to be away from zero.
    pub(super) fn quotient(&mut self, a: &Tile, b: &Tile) -> Option<Tile> {
        let (x, y) = (a.float(), b.float());
        let least = y.lo - y.error;
        if least <= 0.0 || !x.is_finite() || !y.is_finite() {
            return None;
        }
        let size = (x.max() + x.error) / least;
        let flag = match (a.elem, self.c.below(4)) {
            (Elem::F32, 3) => " rounding<approx>",
            (Elem::F32, 2) => " rounding<full>",
            _ => "",
        };
        let exact = x.is_exact() && y.is_exact() && flag.is_empty();
        let error = if exact {
            0.0
        } else {
            x.error / least + size * y.error / least + 4.0 * a.elem.epsilon() * size
        };
        let fact = Float {
            error,
            ..Float::range(-size - error, size + error)
        };
        let text = format!("divf {}, {}{flag}", a.name, b.name);
        Some(self.value(&text, None, a.elem, &a.shape, Fact::Float(fact)))
    }

    pub(super) fn int_binary(&mut self) {
        let shape = self.shape();
        let elem = self.int_elem();
        let a = self.operand(elem, &shape);
        let names = [
            "addi", "subi", "muli", "andi", "xori", "ori", "maxi", "mini", "mulhii", "shli",
            "shri", "divi", "remi",
        ];
        let name = names[self.c.below(if elem == Elem::I1 { 6 } else { 13 })];
        match name {
            "divi" | "remi" => self.divide(name, &a),
            "shli" | "shri" => self.shift(name, &a),
            _ => {
                let b = self.operand(elem, &shape);
                self.int_op(name, &a, &b);
            }
        }
    }

    pub(super) fn int_op(&mut self, name: &str, a: &Tile, b: &Tile) -> Tile {
        let elem = a.elem;
        let ((al, ah), (bl, bh)) = (a.int(), b.int());
        let ends = |f: fn(i128, i128) -> i128| {
            let all = [f(al, bl), f(al, bh), f(ah, bl), f(ah, bh)];
            all.iter().copied().min().zip(all.iter().copied().max())
        };
        let exact = match name {
            "addi" => Some((al + bl, ah + bh)),
            "subi" => Some((al - bh, ah - bl)),
            "muli" => ends(|a, b| a.saturating_mul(b)),
            "andi" if al >= 0 && bl >= 0 => Some((0, ah.min(bh))),
            _ => None,
        };
        let Fact::Int {
            lo: least,
            hi: most,
        } = anything(elem)
        else {
            return a.clone();
        };
        let fits = exact.filter(|&(l, h)| l >= least && h <= most);
        let fact = fits.map_or(anything(elem), |(lo, hi)| Fact::Int { lo, hi });
        let flag = match name {
            "maxi" | "mini" => self.c.pick(&[" signed", " unsigned"]),
            "addi" | "subi" | "muli" if fits.is_some() && elem != Elem::I1 && self.c.chance(20) => {
                " overflow<no_signed_wrap>"
            }
            _ => "",
        };
        self.value(
            &format!("{name} {}, {}{flag}", a.name, b.name),
            None,
            elem,
            &a.shape,
            fact,
        )
    }

    /// A divisor that is neither zero nor, with a sign, minus one.
    fn divide(&mut self, name: &str, a: &Tile) {
        let signed = self.c.chance(60);
        let b = if self.c.chance(50) {
            let n = self.c.pick(&[2, 3, 4, 7, 8, 10, 16, 64, 100, 1, 127, 12]);
            let n = if signed && self.c.chance(20) {
                -n - 1
            } else {
                n
            };
            self.int_constant(a.elem, &a.shape, n)
        } else {
            let b = self.operand(a.elem, &a.shape);
            let one = self.int_constant(a.elem, &a.shape, 1);
            let name = if signed { "maxi" } else { "ori" };
            let flag = if signed { " signed" } else { "" };
            let text = format!("{name} {}, {}{flag}", b.name, one.name);
            self.op(&text, None, a.elem, &a.shape, anything(a.elem))
        };
        let sign = if signed { "signed" } else { "unsigned" };
        let rounding = match (name, signed, self.c.below(6)) {
            ("divi", true, 4) => " rounding<negative_inf>",
            ("divi", _, 5) => " rounding<positive_inf>",
            _ => "",
        };
        let text = format!("{name} {}, {} {sign}{rounding}", a.name, b.name);
        self.value(&text, None, a.elem, &a.shape, anything(a.elem));
    }

    fn shift(&mut self, name: &str, a: &Tile) {
        let width = i64::from(a.elem.bits());
        let b = if self.c.chance(70) {
            let n = self.c.below(width as usize) as i64;
            self.int_constant(a.elem, &a.shape, n)
        } else {
            let b = self.operand(a.elem, &a.shape);
            let mask = self.int_constant(a.elem, &a.shape, width - 1);
            self.op(
                &format!("andi {}, {}", b.name, mask.name),
                None,
                a.elem,
                &a.shape,
                anything(a.elem),
            )
        };
        let sign = match name {
            "shri" => self.c.pick(&[" signed", " unsigned"]),
            _ => "",
        };
        self.value(
            &format!("{name} {}, {}{sign}", a.name, b.name),
            None,
            a.elem,
            &a.shape,
            anything(a.elem),
        );
    }

    /// A condition on a tile of some type.
    pub(super) fn condition(&mut self, shape: &[u64]) -> Tile {
        let elem = self.any_elem();
        let a = self.operand(elem, shape);
        let b = self.operand(elem, shape);
        let predicate = self.c.pick(&[
            "less_than",
            "greater_than_or_equal",
            "equal",
            "not_equal",
            "less_than_or_equal",
            "greater_than",
        ]);
        let types = format!("{} -> {}", a.ty(), tile_type(Elem::I1, shape));
        let text = if elem.is_float() {
            let order = self.c.pick(&["ordered", "unordered"]);
            format!("cmpf {predicate} {order} {}, {}", a.name, b.name)
        } else {
            let sign = self.c.pick(&["signed", "unsigned"]);
            format!("cmpi {predicate} {}, {}, {sign}", a.name, b.name)
        };
        self.value(&text, Some(&types), Elem::I1, shape, anything(Elem::I1))
    }

    pub(super) fn compare(&mut self) {
        let shape = self.shape();
        let condition = self.condition(&shape);
        let elem = self.any_elem();
        let a = self.operand_where(elem, &shape, &|_| true);
        let b = self.operand_where(elem, &shape, &|_| true);
        self.select(&condition, &a, &b);
    }

    pub(super) fn select(&mut self, condition: &Tile, a: &Tile, b: &Tile) -> Tile {
        let text = format!("select {}, {}, {}", condition.name, a.name, b.name);
        let types = format!("{}, {}", condition.ty(), a.ty());
        self.value(&text, Some(&types), a.elem, &a.shape, join(a, b))
    }
}

/// What holds of either of two values.
pub(super) fn join(a: &Tile, b: &Tile) -> Fact {
    match (a.fact, b.fact) {
        (Fact::Int { lo, hi }, Fact::Int { lo: l, hi: h }) => Fact::Int {
            lo: lo.min(l),
            hi: hi.max(h),
        },
        (Fact::Float(x), Fact::Float(y)) => {
            let both = x.join(y);
            // Of a value with a bound it is known that it is finite; so it must be of the other.
            if both.is_exact() || both.is_finite() {
                Fact::Float(both)
            } else {
                Fact::Float(Float {
                    error: f64::INFINITY,
                    ..both
                })
            }
        }
        _ => anything(a.elem),
    }
}
