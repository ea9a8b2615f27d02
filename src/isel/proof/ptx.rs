//! What PTX instructions compute, as SMT-LIB terms: the PTX ISA's sections on integer, floating-point, logic and shift,
//! comparison and conversion instructions. Every register is a bit vector as wide as its class.

use super::bits::Bits;
use crate::rules::prove::terms::{Script, bit, int_compare, literal, resize};
use crate::scalar::int::IntRounding;
use crate::scalar::{
    Compare, FloatBinary, FloatFormat, FloatMode, FloatUnary, Function, IntBinary, IntUnary,
    MathUnary, Ordering, Overflow, Rounding, Signedness,
};

use FloatFormat::{BF16, F8E4M3FN, F8E5M2, F16, F32, F64, TF32};
use Signedness::{Signed, Unsigned};

/// A source of an instruction.
pub struct Source {
    pub bits: Bits,
    /// Its value if it is a number.
    pub number: Option<u64>,
}

/// Why there is no term for what an instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The PTX ISA bounds its error only.
    Approximate,
    /// It is not described here.
    Unknown,
}

/// An operand type of PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Type {
    Int(Signedness, u32),
    /// Two halves of a word, each by itself.
    Halves(Signedness),
    Float(FloatFormat, u32),
}

impl Type {
    fn parse(text: &str) -> Option<Type> {
        let floats = [
            ("f16", F16, 1),
            ("f16x2", F16, 2),
            ("bf16", BF16, 1),
            ("bf16x2", BF16, 2),
            ("f32", F32, 1),
            ("f32x2", F32, 2),
            ("tf32", TF32, 1),
            ("f64", F64, 1),
            ("e4m3x2", F8E4M3FN, 2),
            ("e5m2x2", F8E5M2, 2),
        ];
        if let Some(&(_, format, lanes)) = floats.iter().find(|row| row.0 == text) {
            return Some(Type::Float(format, lanes));
        }
        if text == "pred" {
            return Some(Type::Int(Unsigned, 1));
        }
        let (sign, bits) = text.split_at_checked(1)?;
        let sign = match sign {
            "s" => Signed,
            "u" | "b" => Unsigned,
            _ => return None,
        };
        if bits == "16x2" {
            return Some(Type::Halves(sign));
        }
        Some(Type::Int(sign, bits.parse().ok()?))
    }
}

/// A mnemonic in parts.
struct Mnemonic<'a> {
    op: &'a str,
    parts: Vec<&'a str>,
    /// The last two types; the second is that of the sources.
    to: Option<Type>,
    of: Option<Type>,
}

impl<'a> Mnemonic<'a> {
    fn new(text: &'a str) -> Self {
        let mut parts = text.split('.');
        let op = parts.next().unwrap_or_default();
        let parts: Vec<&str> = parts.collect();
        let mut types = parts.iter().rev().map_while(|p| Type::parse(p));
        let of = types.next();
        let to = types.next().or(of);
        Mnemonic { op, parts, to, of }
    }

    fn has(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    fn approximate(&self) -> bool {
        self.has("approx") || self.has("full")
    }

    fn rounding(&self) -> Rounding {
        let named = |p: &&str| match *p {
            "rz" | "rzi" => Some(Rounding::Zero),
            "rm" | "rmi" => Some(Rounding::NegativeInf),
            "rp" | "rpi" => Some(Rounding::PositiveInf),
            "rna" => Some(Rounding::NearestAway),
            _ => None,
        };
        let mut parts = self.parts.iter();
        parts.find_map(named).unwrap_or(Rounding::NearestEven)
    }

    fn mode(&self) -> FloatMode {
        FloatMode {
            rounding: self.rounding(),
            flush: self.has("ftz"),
        }
    }

    /// The comparison of `setp`, and whether it holds for what is no number.
    fn predicate(&self) -> Option<(Compare, Ordering)> {
        let name = self.parts.first()?;
        let (name, ordering) = match name.strip_suffix('u') {
            Some(name) => (name, Ordering::Unordered),
            None => (*name, Ordering::Ordered),
        };
        let predicate = match name {
            "eq" => Compare::Equal,
            "ne" => Compare::NotEqual,
            "lt" => Compare::Less,
            "le" => Compare::LessEqual,
            "gt" => Compare::Greater,
            "ge" => Compare::GreaterEqual,
            _ => return None,
        };
        Some((predicate, ordering))
    }
}

/// What `mnemonic` writes to registers of these widths.
pub fn execute(
    script: &mut Script,
    mnemonic: &str,
    sources: &[Source],
    results: &[u32],
) -> Result<Vec<Bits>, Refusal> {
    let m = Mnemonic::new(mnemonic);
    if m.op == "mov" {
        return Ok(moved(script, sources, results));
    }
    let &[result] = results else {
        return Err(Refusal::Unknown);
    };
    let bits = match m.of {
        _ if m.op == "cvt" => convert(script, &m, sources)?,
        _ if m.op == "prmt" => permuted(script, sources)?,
        Some(Type::Float(..)) => floats(script, &m, sources)?,
        Some(Type::Int(sign, width)) => integers(script, &m, (sign, width), sources)?,
        Some(Type::Halves(sign)) => halves(script, &m, sign, sources)?,
        None => return Err(Refusal::Unknown),
    };
    let width = bits.width();
    if width >= result {
        return Ok(vec![bits.part(script, 0, result)]);
    }
    // A narrower result is extended by its sign.
    let sign = match m.to {
        Some(Type::Int(sign, _)) => sign,
        _ => Unsigned,
    };
    let term = resize(width, result, sign, &bits.term(script));
    Ok(vec![Bits::new(script.name(result, &term), result)])
}

/// The bits of all sources, the first lowest, put into the results.
fn moved(script: &mut Script, sources: &[Source], results: &[u32]) -> Vec<Bits> {
    let whole = Bits::join(sources.iter().map(|s| s.bits.clone()));
    let mut low = 0;
    let part = results.iter().map(|&width| {
        low += width;
        whole.part(script, low - width, width)
    });
    part.collect()
}

/// Some bits of a source as a term with a name.
fn lane(script: &mut Script, source: &Source, from: u32, width: u32) -> String {
    source.bits.part(script, from, width).term(script)
}

/// The low bits of a source.
fn low(script: &mut Script, source: &Source, width: u32) -> String {
    lane(script, source, 0, width)
}

fn integers(
    script: &mut Script,
    m: &Mnemonic,
    (sign, width): (Signedness, u32),
    sources: &[Source],
) -> Result<Bits, Refusal> {
    let (term, width) = integer(script, m, (sign, width), sources)?;
    Ok(Bits::new(script.name(width, &term), width))
}

/// Each half of the words by itself.
fn halves(
    script: &mut Script,
    m: &Mnemonic,
    sign: Signedness,
    sources: &[Source],
) -> Result<Bits, Refusal> {
    let half = |low: u32| {
        let part = |s: &Source| Source {
            bits: s.bits.part(script, low, 16),
            number: None,
        };
        let sources: Vec<Source> = sources.iter().map(part).collect();
        integers(script, m, (sign, 16), &sources)
    };
    let halves: Result<Vec<Bits>, Refusal> = [0, 16].into_iter().map(half).collect();
    Ok(Bits::join(halves?))
}

/// A term for what an instruction computes, and its width.
fn integer(
    script: &mut Script,
    m: &Mnemonic,
    (sign, width): (Signedness, u32),
    sources: &[Source],
) -> Result<(String, u32), Refusal> {
    let words: Vec<String> = sources.iter().map(|s| s.bits.term(script)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut of = |f: Function, arity: usize| match words.get(..arity) {
        Some(words) => Ok(script.term(f, &vec![width; arity], width, words)),
        None => Err(Refusal::Unknown),
    };
    let binary = match m.op {
        "add" => Some(IntBinary::Add),
        "sub" => Some(IntBinary::Sub),
        "mul" if m.has("lo") => Some(IntBinary::Mul),
        "mul" if m.has("hi") => Some(IntBinary::MulHi(sign)),
        "div" => Some(IntBinary::Div(sign, IntRounding::Zero)),
        "rem" => Some(IntBinary::Rem(sign)),
        "min" => Some(IntBinary::Min(sign)),
        "max" => Some(IntBinary::Max(sign)),
        "and" => Some(IntBinary::And),
        "or" => Some(IntBinary::Or),
        "xor" => Some(IntBinary::Xor),
        _ => None,
    };
    if let Some(op) = binary {
        return Ok((of(Function::Int2(op, width), 2)?, width));
    }
    let unary = match m.op {
        "not" => Some((IntUnary::Not, width)),
        "abs" => Some((IntUnary::Abs, width)),
        "neg" => Some((IntUnary::Neg, width)),
        "popc" => Some((IntUnary::CountOnes, 32)),
        "clz" => Some((IntUnary::LeadingZeros, 32)),
        _ => None,
    };
    if let Some((op, result)) = unary {
        let term = of(Function::Int1(op, width), 1)?;
        let term = script.name(width, &term);
        return Ok((resize(width, result, Unsigned, &term), result));
    }
    let number = |i: usize| {
        let source = sources.get(i).ok_or(Refusal::Unknown)?;
        source.number.ok_or(Refusal::Unknown)
    };
    let term = match (m.op, words.as_slice()) {
        ("shl" | "shr", [a, by]) => shift(m.op, sign, width, a, by),
        ("shf", [a, b, by]) if m.has("wrap") => funnel(m.has("l"), a, b, by),
        ("mul" | "mad", [a, b, rest @ ..]) if m.has("wide") => {
            let wide = |term: &str| resize(width, 2 * width, sign, term);
            let product = format!("(bvmul {} {})", wide(a), wide(b));
            let sum = match rest {
                [c] => format!("(bvadd {product} {c})"),
                _ => product,
            };
            return Ok((sum, 2 * width));
        }
        ("mad", [a, b, c]) => format!("(bvadd (bvmul {a} {b}) {c})"),
        ("lop3", [a, b, c, _]) => lop3(a, b, c, number(3)?),
        ("bfe", [a, _, _]) => field(sign, a, number(1)?, number(2)?)?,
        ("selp", [a, b, p]) => format!("(ite (= {p} #b1) {a} {b})"),
        ("setp", [a, b, rest @ ..]) => {
            let (predicate, _) = m.predicate().ok_or(Refusal::Unknown)?;
            let holds = bit(&int_compare(predicate, sign, a, b));
            return Ok((with_condition(m, holds, rest)?, 1));
        }
        _ => return Err(Refusal::Unknown),
    };
    Ok((term, width))
}

/// The result of `setp` and the condition that it is combined with.
fn with_condition(m: &Mnemonic, holds: String, rest: &[&str]) -> Result<String, Refusal> {
    match rest {
        [] => Ok(holds),
        [c] if m.has("and") => Ok(format!("(bvand {holds} {c})")),
        [c] if m.has("or") => Ok(format!("(bvor {holds} {c})")),
        _ => Err(Refusal::Unknown),
    }
}

/// By an unsigned amount of 32 bits; one beyond the width is the width.
fn shift(op: &str, sign: Signedness, width: u32, a: &str, by: &str) -> String {
    let top = literal(32, u64::from(width));
    let clamped = format!("(ite (bvugt {by} {top}) {top} {by})");
    let by = resize(32, width, Unsigned, &clamped);
    let name = match (op, sign) {
        ("shl", _) => "bvshl",
        (_, Signed) => "bvashr",
        (_, Unsigned) => "bvlshr",
    };
    format!("({name} {a} {by})")
}

/// 32 bits of two words, moved by the low five bits of an amount.
fn funnel(left: bool, a: &str, b: &str, by: &str) -> String {
    let amount = format!("(bvand {by} {})", literal(32, 31));
    let rest = format!("(bvsub {} {amount})", literal(32, 32));
    match left {
        true => format!("(bvor (bvshl {b} {amount}) (bvlshr {a} {rest}))"),
        false => format!("(bvor (bvshl {b} {rest}) (bvlshr {a} {amount}))"),
    }
}

/// Bit i of the result is bit 4a + 2b + c of the table, for bits i of the operands.
fn lop3(a: &str, b: &str, c: &str, table: u64) -> String {
    let bit_of = |i: usize| {
        let of = |term: &str| format!("(= ((_ extract {i} {i}) {term}) #b1)");
        let entry = |n: u64| if table >> n & 1 == 1 { "#b1" } else { "#b0" };
        let pair = |n| format!("(ite {} {} {})", of(c), entry(n + 1), entry(n));
        let four = |n| format!("(ite {} {} {})", of(b), pair(n + 2), pair(n));
        format!("(ite {} {} {})", of(a), four(4), four(0))
    };
    let bits: Vec<String> = (0..32).rev().map(bit_of).collect();
    format!("(concat {})", bits.join(" "))
}

/// A field inside a word, extended.
fn field(sign: Signedness, a: &str, at: u64, length: u64) -> Result<String, Refusal> {
    let fits = length > 0 && at < 32 && at + length <= 32;
    let (at, length) = (at as u32, length as u32);
    if !fits {
        return Err(Refusal::Unknown);
    }
    let part = format!("((_ extract {} {at}) {a})", at + length - 1);
    Ok(resize(length, 32, sign, &part))
}

/// Bytes of two words, each chosen by three bits of the selector; with the fourth, its sign eight times.
fn permuted(script: &mut Script, sources: &[Source]) -> Result<Bits, Refusal> {
    let [a, b, selector] = sources else {
        return Err(Refusal::Unknown);
    };
    let selector = selector.number.ok_or(Refusal::Unknown)?;
    let byte = |i: u32| {
        let choice = (selector >> (4 * i) & 0xf) as u32;
        let word = if choice & 4 == 0 { a } else { b };
        let byte = word.bits.part(script, 8 * (choice % 4), 8);
        if choice & 8 == 0 {
            return byte;
        }
        let sign = byte.part(script, 7, 1).term(script);
        let eight = resize(1, 8, Signed, &sign);
        Bits::new(script.name(8, &eight), 8)
    };
    Ok(Bits::join((0..4).map(byte)))
}

fn floats(script: &mut Script, m: &Mnemonic, sources: &[Source]) -> Result<Bits, Refusal> {
    let Some(Type::Float(format, lanes)) = m.of else {
        return Err(Refusal::Unknown);
    };
    let bits = format.bits();
    if m.op == "setp" {
        let (predicate, ordering) = m.predicate().ok_or(Refusal::Unknown)?;
        let [a, b] = sources else {
            return Err(Refusal::Unknown);
        };
        let f = Function::FloatCompare(predicate, ordering, format);
        let (a, b) = (low(script, a, bits), low(script, b, bits));
        let holds = script.term(f, &[bits, bits], 1, &[&a, &b]);
        return Ok(Bits::new(script.name(1, &holds), 1));
    }
    let f = arithmetic(m, format)?;
    let mut words = Vec::new();
    for i in 0..lanes {
        let lanes = sources.iter().map(|s| lane(script, s, i * bits, bits));
        let terms: Vec<String> = lanes.collect();
        let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
        let widths = vec![bits; terms.len()];
        let word = script.term(f, &widths, bits, &terms);
        words.push(Bits::new(script.name(bits, &word), bits));
    }
    Ok(Bits::join(words))
}

fn arithmetic(m: &Mnemonic, format: FloatFormat) -> Result<Function, Refusal> {
    let mode = m.mode();
    let nan = m.has("NaN");
    let math = match m.op {
        "rsqrt" => Some(MathUnary::Rsqrt),
        "ex2" => Some(MathUnary::Exp2),
        "lg2" => Some(MathUnary::Log2),
        "sin" => Some(MathUnary::Sin),
        "cos" => Some(MathUnary::Cos),
        "tanh" => Some(MathUnary::Tanh),
        _ => None,
    };
    if let Some(op) = math {
        // Whatever approximation of the function it is.
        return Ok(Function::Math1 {
            op,
            format,
            flush: mode.flush,
        });
    }
    if m.approximate() {
        return Err(Refusal::Approximate);
    }
    Ok(match m.op {
        "add" => Function::Float2(FloatBinary::Add, format, mode),
        "sub" => Function::Float2(FloatBinary::Sub, format, mode),
        "mul" => Function::Float2(FloatBinary::Mul, format, mode),
        "div" => Function::Float2(FloatBinary::Div, format, mode),
        "min" => Function::Float2(FloatBinary::Min { nan }, format, mode),
        "max" => Function::Float2(FloatBinary::Max { nan }, format, mode),
        "fma" => Function::Fma(format, mode),
        "neg" => Function::Float1(FloatUnary::Neg, format, mode),
        "abs" => Function::Float1(FloatUnary::Abs, format, mode),
        "sqrt" => Function::Float1(FloatUnary::Sqrt, format, mode),
        "rcp" => Function::Reciprocal(format, mode),
        _ => return Err(Refusal::Unknown),
    })
}

fn convert(script: &mut Script, m: &Mnemonic, sources: &[Source]) -> Result<Bits, Refusal> {
    let unknown = Refusal::Unknown;
    let (to, from) = (m.to.ok_or(unknown)?, m.of.ok_or(unknown)?);
    let (term, width) = match (from, to, sources) {
        (Type::Int(sign, from), Type::Int(unsigned, to), [a]) if m.has("sat") => {
            // Only this form is used: an unsigned number that may be too large.
            if (sign, unsigned) != (Unsigned, Unsigned) || to > from {
                return Err(unknown);
            }
            let a = low(script, a, from);
            let most = literal(from, (1 << to) - 1);
            let clamped = format!("(ite (bvugt {a} {most}) {most} {a})");
            let clamped = script.name(from, &clamped);
            (resize(from, to, Unsigned, &clamped), to)
        }
        (Type::Int(_, from), Type::Int(_, to), [a]) if to <= from => {
            return Ok(a.bits.part(script, 0, to));
        }
        (Type::Int(sign, from), Type::Int(_, to), [a]) => {
            (resize(from, to, sign, &low(script, a, from)), to)
        }
        (Type::Int(sign, width), Type::Float(to, 1), [a]) => {
            let rounding = m.rounding();
            let f = Function::IntToFloat {
                width,
                sign,
                to,
                rounding,
            };
            let a = low(script, a, width);
            (script.term(f, &[width], to.bits(), &[&a]), to.bits())
        }
        (Type::Float(from, 1), Type::Int(sign, width), [a]) => {
            let f = Function::FloatToInt {
                from,
                mode: m.mode(),
                width,
                sign,
                // NaN: zero, unless one of the types has 64 bits.
                nan_is_top: from == F64 || width == 64,
            };
            let a = low(script, a, from.bits());
            (script.term(f, &[from.bits()], width, &[&a]), width)
        }
        (Type::Float(from, 1), Type::Float(to, 1), [a]) if from == to => {
            let (f, bits) = (Function::Integral(from, m.mode()), from.bits());
            let a = low(script, a, bits);
            (script.term(f, &[bits], bits, &[&a]), bits)
        }
        // Two sources: the first is the upper half.
        (Type::Float(from, 1), Type::Float(to, 2), [high, lower]) => {
            let lanes = [lower, high].map(|a| {
                let element = low(script, a, from.bits());
                rounded(script, m, from, to, &element)
            });
            return Ok(Bits::join(lanes));
        }
        (Type::Float(from, lanes), Type::Float(to, same), [a]) if lanes == same => {
            let bits = from.bits();
            let lanes = (0..lanes).map(|i| {
                let element = lane(script, a, i * bits, bits);
                rounded(script, m, from, to, &element)
            });
            return Ok(Bits::join(lanes));
        }
        _ => return Err(unknown),
    };
    Ok(Bits::new(script.name(width, &term), width))
}

/// An element in another format.
fn rounded(
    script: &mut Script,
    m: &Mnemonic,
    from: FloatFormat,
    to: FloatFormat,
    element: &str,
) -> Bits {
    let f = Function::FloatToFloat {
        from,
        to,
        rounding: m.rounding(),
        overflow: match m.has("satfinite") {
            true => Overflow::Saturate,
            false => Overflow::Ieee,
        },
    };
    let term = script.term(f, &[from.bits()], to.bits(), &[element]);
    Bits::new(script.name(to.bits(), &term), to.bits())
}
