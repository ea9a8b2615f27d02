//! Float formats: one table, and the way between bits and exact values.

use super::Exact;

/// The float formats of Tile IR 13.5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize)]
pub enum FloatFormat {
    F16,
    BF16,
    F32,
    /// Stored in 32 bits like f32; the low 13 bits are ignored on reading and zero on writing.
    TF32,
    F64,
    F8E4M3FN,
    F8E5M2,
    /// Powers of two from 2^-127 to 2^127: no sign, no zero.
    F8E8M0FNU,
    /// No sign.
    F8E5M3FNU,
    F4E2M1FN,
}

/// Rounding direction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    NearestEven,
    Zero,
    NegativeInf,
    PositiveInf,
    NearestAway,
}

impl Rounding {
    pub const ALL: [Rounding; 5] = [
        Rounding::NearestEven,
        Rounding::Zero,
        Rounding::NegativeInf,
        Rounding::PositiveInf,
        Rounding::NearestAway,
    ];

    /// Whether a magnitude with a discarded part moves up: `half` compares that part with half a
    /// unit in the last place, `odd` is the last kept bit.
    pub(super) fn moves_up(self, half: std::cmp::Ordering, odd: bool, negative: bool) -> bool {
        match self {
            Rounding::NearestEven => half.is_gt() || (half.is_eq() && odd),
            Rounding::NearestAway => half.is_ge(),
            Rounding::Zero => false,
            Rounding::NegativeInf => negative,
            Rounding::PositiveInf => !negative,
        }
    }

    /// Whether a magnitude beyond the largest finite value becomes infinite.
    fn overflows_to_infinity(self, negative: bool) -> bool {
        match self {
            Rounding::NearestEven | Rounding::NearestAway => true,
            Rounding::Zero => false,
            Rounding::NegativeInf => negative,
            Rounding::PositiveInf => !negative,
        }
    }
}

/// What a value beyond the largest finite one becomes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overflow {
    /// Infinity where the format has it, else NaN where it has that, else the largest finite value.
    Ieee,
    /// The largest finite value, for infinities too (`satfinite` of PTX).
    Saturate,
}

/// Which codes with the largest exponent are not numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NonFinite {
    /// All of them: infinity with mantissa zero, NaN otherwise.
    Ieee,
    /// The one of all ones, which is NaN.
    NanAllOnes,
    /// None.
    FiniteOnly,
}

struct Spec {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    signed: bool,
    /// Exponent field 0 means zero and subnormals.
    zero: bool,
    nonfinite: NonFinite,
    /// Unused low bits of the stored word.
    pad: u32,
    /// The NaN that operations produce; for a format without NaN, what NaN is converted to.
    nan: u64,
}

const fn spec(exponent: u32, mantissa: u32, bias: i32, nonfinite: NonFinite, nan: u64) -> Spec {
    Spec {
        exponent,
        mantissa,
        bias,
        signed: true,
        zero: true,
        nonfinite,
        pad: 0,
        nan,
    }
}

// The NaN of each format is what NVIDIA hardware produces (PTX ISA, "Floating Point
// Instructions" and "cvt"): all mantissa bits set, except f64; e2m1 has none and takes its
// largest value.
static F16: Spec = spec(5, 10, 15, NonFinite::Ieee, 0x7fff);
static BF16: Spec = spec(8, 7, 127, NonFinite::Ieee, 0x7fff);
static F32: Spec = spec(8, 23, 127, NonFinite::Ieee, 0x7fff_ffff);
static TF32: Spec = Spec {
    pad: 13,
    ..spec(8, 10, 127, NonFinite::Ieee, 0x7fff_e000)
};
static F64: Spec = spec(11, 52, 1023, NonFinite::Ieee, 0x7ff8_0000_0000_0000);
static F8E4M3FN: Spec = spec(4, 3, 7, NonFinite::NanAllOnes, 0x7f);
static F8E5M2: Spec = spec(5, 2, 15, NonFinite::Ieee, 0x7f);
static F8E8M0FNU: Spec = Spec {
    signed: false,
    zero: false,
    ..spec(8, 0, 127, NonFinite::NanAllOnes, 0xff)
};
static F8E5M3FNU: Spec = Spec {
    signed: false,
    ..spec(5, 3, 15, NonFinite::NanAllOnes, 0xff)
};
static F4E2M1FN: Spec = spec(2, 1, 1, NonFinite::FiniteOnly, 0x7);

/// A decoded float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unpacked {
    Nan,
    Infinity { negative: bool },
    Zero { negative: bool },
    Finite(Exact),
}

impl Unpacked {
    /// The sign bit; NaN counts as positive.
    pub fn is_negative(self) -> bool {
        match self {
            Unpacked::Nan => false,
            Unpacked::Infinity { negative } | Unpacked::Zero { negative } => negative,
            Unpacked::Finite(v) => v.negative,
        }
    }
}

impl FloatFormat {
    pub const ALL: [FloatFormat; 10] = [
        FloatFormat::F16,
        FloatFormat::BF16,
        FloatFormat::F32,
        FloatFormat::TF32,
        FloatFormat::F64,
        FloatFormat::F8E4M3FN,
        FloatFormat::F8E5M2,
        FloatFormat::F8E8M0FNU,
        FloatFormat::F8E5M3FNU,
        FloatFormat::F4E2M1FN,
    ];

    fn spec(self) -> &'static Spec {
        match self {
            FloatFormat::F16 => &F16,
            FloatFormat::BF16 => &BF16,
            FloatFormat::F32 => &F32,
            FloatFormat::TF32 => &TF32,
            FloatFormat::F64 => &F64,
            FloatFormat::F8E4M3FN => &F8E4M3FN,
            FloatFormat::F8E5M2 => &F8E5M2,
            FloatFormat::F8E8M0FNU => &F8E8M0FNU,
            FloatFormat::F8E5M3FNU => &F8E5M3FNU,
            FloatFormat::F4E2M1FN => &F4E2M1FN,
        }
    }

    /// Every format with its textual name.
    pub const NAMES: &'static [(FloatFormat, &'static str)] = &[
        (FloatFormat::F16, "f16"),
        (FloatFormat::BF16, "bf16"),
        (FloatFormat::F32, "f32"),
        (FloatFormat::TF32, "tf32"),
        (FloatFormat::F64, "f64"),
        (FloatFormat::F8E4M3FN, "f8E4M3FN"),
        (FloatFormat::F8E5M2, "f8E5M2"),
        (FloatFormat::F8E8M0FNU, "f8E8M0FNU"),
        (FloatFormat::F8E5M3FNU, "fnv8E5M3FNU"),
        (FloatFormat::F4E2M1FN, "f4E2M1FN"),
    ];

    /// The textual name, as in `tile<4xf16>`.
    pub fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(f, _)| *f == self)
            .map_or("", |(_, n)| n)
    }

    /// Bits of the stored pattern, in a register or in memory (tf32 takes 32).
    pub fn bits(self) -> u32 {
        let s = self.spec();
        s.exponent + s.mantissa + u32::from(s.signed) + s.pad
    }

    /// Explicit mantissa bits.
    pub fn mantissa_bits(self) -> u32 {
        self.spec().mantissa
    }

    /// Whether values have a sign.
    pub fn is_signed(self) -> bool {
        self.spec().signed
    }

    /// The NaN that operations produce; a format without NaN gives its largest value.
    pub fn nan(self) -> u64 {
        self.spec().nan
    }

    /// The pattern of the sign bit, 0 for unsigned formats.
    pub fn sign_bit(self) -> u64 {
        let s = self.spec();
        u64::from(s.signed) << (s.exponent + s.mantissa + s.pad)
    }

    /// The largest finite value with this sign.
    pub fn max_finite(self, negative: bool) -> u64 {
        ((self.spec().first_overflow_code() - 1) << self.spec().pad) | self.sign_of(negative)
    }

    /// Infinity with this sign, or what takes its place in a format without it.
    pub fn infinity(self, negative: bool, overflow: Overflow) -> u64 {
        match (self.spec().nonfinite, overflow) {
            (NonFinite::Ieee, Overflow::Ieee) => {
                (self.spec().first_overflow_code() << self.spec().pad) | self.sign_of(negative)
            }
            (NonFinite::NanAllOnes, Overflow::Ieee) => self.nan(),
            _ => self.max_finite(negative),
        }
    }

    /// Zero with this sign; the smallest value of a format without zero.
    pub fn zero(self, negative: bool) -> u64 {
        self.sign_of(negative)
    }

    /// The value 1.
    pub fn one(self) -> u64 {
        let s = self.spec();
        (s.bias as u64) << (s.mantissa + s.pad)
    }

    fn sign_of(self, negative: bool) -> u64 {
        if negative { self.sign_bit() } else { 0 }
    }

    /// The value's place among the format's values: smaller patterns have smaller keys, and the
    /// two zeros differ by one. Meaningless for NaN.
    pub fn total_order_key(self, bits: u64) -> i64 {
        let magnitude = ((bits >> self.spec().pad) & self.spec().magnitude_mask()) as i64;
        if bits & self.sign_bit() != 0 {
            -1 - magnitude
        } else {
            magnitude
        }
    }

    /// Whether the pattern is a NaN.
    pub fn is_nan(self, bits: u64) -> bool {
        let s = self.spec();
        let magnitude = (bits >> s.pad) & s.magnitude_mask();
        match s.nonfinite {
            NonFinite::Ieee => magnitude > s.first_overflow_code(),
            NonFinite::NanAllOnes => magnitude == s.magnitude_mask(),
            NonFinite::FiniteOnly => false,
        }
    }

    /// Whether the pattern is a nonzero value below the smallest normal one.
    pub fn is_subnormal(self, bits: u64) -> bool {
        let s = self.spec();
        let magnitude = (bits >> s.pad) & s.magnitude_mask();
        s.zero && magnitude != 0 && magnitude >> s.mantissa == 0
    }

    /// The exact value of a pattern.
    pub fn unpack(self, bits: u64) -> Unpacked {
        let s = self.spec();
        let negative = bits & self.sign_bit() != 0;
        let magnitude = (bits >> s.pad) & s.magnitude_mask();
        let fraction = magnitude & ((1 << s.mantissa) - 1);
        let field = (magnitude >> s.mantissa) as i32;
        if self.is_nan(bits) {
            return Unpacked::Nan;
        }
        if s.nonfinite == NonFinite::Ieee && magnitude == s.first_overflow_code() {
            return Unpacked::Infinity { negative };
        }
        let (significand, field) = match (s.zero, field) {
            (true, 0) => (fraction, 1),
            _ => (fraction | (1 << s.mantissa), field),
        };
        if significand == 0 {
            return Unpacked::Zero { negative };
        }
        Unpacked::Finite(Exact {
            negative,
            mantissa: u128::from(significand),
            exponent: field - s.bias - s.mantissa as i32,
        })
    }

    /// The pattern nearest to an exact value in the given direction. Unsigned formats take the
    /// magnitude (as the e8m0 conversions of the hardware do); a format without zero takes its
    /// smallest value for what rounds below it.
    pub fn pack(self, value: Exact, rounding: Rounding, overflow: Overflow) -> u64 {
        let s = self.spec();
        let negative = value.negative && s.signed;
        let top = 127 - value.mantissa.leading_zeros() as i32 + value.exponent;
        let lowest = top.max(s.lowest_exponent());
        let quantum = lowest - s.mantissa as i32;
        let (kept, half) = value.split_at(quantum);
        let up = half.is_some_and(|h| rounding.moves_up(h, kept & 1 == 1, negative));
        // A carry out of the significand runs into the exponent field by itself.
        let code = (i128::from(lowest + s.bias - i32::from(s.zero)) << s.mantissa)
            + (kept + u128::from(up)) as i128
            - if s.zero { 0 } else { 1 << s.mantissa };
        let code = code.max(0) as u128;
        if code < u128::from(s.first_overflow_code()) {
            return ((code as u64) << s.pad) | self.sign_of(negative);
        }
        if rounding.overflows_to_infinity(negative) {
            self.infinity(negative, overflow)
        } else {
            self.max_finite(negative)
        }
    }

    /// [`FloatFormat::pack`] for any decoded value.
    pub fn pack_any(self, value: Unpacked, rounding: Rounding, overflow: Overflow) -> u64 {
        match value {
            Unpacked::Nan => self.nan(),
            Unpacked::Infinity { negative } => {
                self.infinity(negative && self.is_signed(), overflow)
            }
            Unpacked::Zero { negative } => self.zero(negative),
            Unpacked::Finite(v) => self.pack(v, rounding, overflow),
        }
    }

    /// The value as `f64`; exact for every format.
    pub fn decode(self, bits: u64) -> f64 {
        match self {
            FloatFormat::F64 => f64::from_bits(bits),
            FloatFormat::F32 => f64::from(f32::from_bits(bits as u32)),
            _ => match self.unpack(bits) {
                Unpacked::Nan => f64::NAN,
                Unpacked::Infinity { negative } => signed(negative, f64::INFINITY),
                Unpacked::Zero { negative } => signed(negative, 0.0),
                Unpacked::Finite(v) => {
                    signed(v.negative, libm::ldexp(v.mantissa as f64, v.exponent))
                }
            },
        }
    }

    /// The pattern nearest to `value`.
    pub fn encode(self, value: f64, rounding: Rounding, overflow: Overflow) -> u64 {
        self.pack_any(FloatFormat::F64.unpack(value.to_bits()), rounding, overflow)
    }
}

fn signed(negative: bool, magnitude: f64) -> f64 {
    if negative { -magnitude } else { magnitude }
}

impl Spec {
    fn magnitude_mask(&self) -> u64 {
        (1 << (self.exponent + self.mantissa)) - 1
    }

    /// The first code, sign and padding aside, that is beyond the finite values.
    fn first_overflow_code(&self) -> u64 {
        match self.nonfinite {
            NonFinite::Ieee => ((1 << self.exponent) - 1) << self.mantissa,
            NonFinite::NanAllOnes => self.magnitude_mask(),
            NonFinite::FiniteOnly => self.magnitude_mask() + 1,
        }
    }

    /// Exponent of the smallest normal value.
    fn lowest_exponent(&self) -> i32 {
        i32::from(self.zero) - self.bias
    }
}
