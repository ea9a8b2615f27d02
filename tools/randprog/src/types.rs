//! Element types, tiles and what is known of their values.

use std::fmt::Write;

/// An element type of Tile IR's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elem {
    I(u32),
    F16,
    BF16,
    F32,
    F64,
    TF32,
    E4M3,
    E5M2,
    /// Powers of two, which are scales.
    E8M0,
    /// Tiles alone have them.
    F4,
}

impl Elem {
    pub const I1: Self = Self::I(1);
    pub const I32: Self = Self::I(32);

    /// As the text form spells it.
    pub fn name(self) -> String {
        match self {
            Self::I(n) => format!("i{n}"),
            Self::F16 => "f16".into(),
            Self::BF16 => "bf16".into(),
            Self::F32 => "f32".into(),
            Self::F64 => "f64".into(),
            Self::TF32 => "tf32".into(),
            Self::E4M3 => "f8E4M3FN".into(),
            Self::E5M2 => "f8E5M2".into(),
            Self::E8M0 => "f8E8M0FNU".into(),
            Self::F4 => "f4E2M1FN".into(),
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        let int = [1, 8, 16, 32, 64].map(Self::I);
        let float = [
            Self::F16,
            Self::BF16,
            Self::F32,
            Self::F64,
            Self::TF32,
            Self::E4M3,
            Self::E5M2,
            Self::E8M0,
        ];
        int.into_iter().chain(float).find(|e| e.name() == name)
    }

    pub fn is_float(self) -> bool {
        !matches!(self, Self::I(_))
    }

    /// Whether arithmetic on floats exists for it.
    pub fn has_arithmetic(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// Bits in memory.
    pub fn bits(self) -> u32 {
        match self {
            Self::I(1) => 8,
            Self::I(n) => n,
            Self::F16 | Self::BF16 => 16,
            Self::F32 | Self::TF32 => 32,
            Self::F64 => 64,
            Self::E4M3 | Self::E5M2 | Self::E8M0 => 8,
            Self::F4 => 4,
        }
    }

    /// Bits of precision, the hidden one included.
    pub fn precision(self) -> i32 {
        match self {
            Self::I(n) => n as i32,
            Self::F16 | Self::TF32 => 11,
            Self::BF16 => 8,
            Self::F32 => 24,
            Self::F64 => 53,
            Self::E4M3 => 4,
            Self::E5M2 => 3,
            Self::E8M0 => 1,
            Self::F4 => 2,
        }
    }

    /// Distance from 1 to the next number.
    pub fn epsilon(self) -> f64 {
        2f64.powi(1 - self.precision())
    }

    /// The largest finite number, and the exponent of the least that is no zero.
    pub fn extent(self) -> (f64, i32) {
        match self {
            Self::I(_) => (f64::INFINITY, 0),
            Self::F16 => (65504.0, -24),
            Self::BF16 => (3.389e38, -133),
            Self::F32 => (3.4028e38, -149),
            Self::TF32 => (3.4e38, -136),
            Self::F64 => (1.79e308, -1074),
            Self::E4M3 => (448.0, -9),
            Self::E5M2 => (57344.0, -16),
            Self::E8M0 => (2f64.powi(127), -127),
            Self::F4 => (6.0, -1),
        }
    }

    /// The pattern of the float nearest to `x`, which is small enough.
    pub fn encode(self, x: f64) -> u64 {
        match self {
            Self::F64 => x.to_bits(),
            Self::F32 => u64::from((x as f32).to_bits()),
            Self::TF32 => u64::from((x as f32).to_bits() & !0x1fff),
            Self::F16 => u64::from(half::f16::from_f64(x).to_bits()),
            Self::BF16 => u64::from(half::bf16::from_f64(x).to_bits()),
            // Cut from the wider format with the same exponent.
            Self::E5M2 => u64::from(half::f16::from_f64(x).to_bits() >> 8),
            Self::E4M3 => e4m3(x),
            Self::E8M0 => (x.log2().floor() as i64 + 127) as u64,
            Self::F4 => {
                let below = F4.iter().filter(|&&f| f <= x.abs()).count();
                u64::from(x < 0.0) << 3 | below.saturating_sub(1) as u64
            }
            Self::I(n) => (x as i64 as u64) & (u64::MAX >> (64 - n)),
        }
    }

    /// The value of a pattern of a type that outputs have.
    pub fn decode(self, bits: u64) -> f64 {
        match self {
            Self::F64 => f64::from_bits(bits),
            Self::F32 | Self::TF32 => f64::from(f32::from_bits(bits as u32)),
            Self::F16 => half::f16::from_bits(bits as u16).to_f64(),
            Self::BF16 => half::bf16::from_bits(bits as u16).to_f64(),
            Self::E5M2 => half::f16::from_bits((bits as u16) << 8).to_f64(),
            Self::E4M3 if bits & 0x7f == 0x7f => f64::NAN,
            Self::E4M3 => {
                let (e, m) = ((bits >> 3 & 15) as i32, (bits & 7) as f64);
                let size = if e == 0 {
                    m / 512.0
                } else {
                    (1.0 + m / 8.0) * 2f64.powi(e - 7)
                };
                if bits & 0x80 == 0 { size } else { -size }
            }
            Self::E8M0 => 2f64.powi(bits as i32 - 127),
            Self::F4 => {
                let size = F4[bits as usize & 7];
                if bits & 8 == 0 { size } else { -size }
            }
            Self::I(_) => bits as f64,
        }
    }
}

/// What three bits of `f4E2M1FN` stand for.
const F4: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// Truncated towards zero; numbers below the normal range become zero.
fn e4m3(x: f64) -> u64 {
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    let size = x.abs().min(448.0);
    if size < 2f64.powi(-6) {
        return sign;
    }
    let e = size.log2().floor() as i32;
    let m = ((size / 2f64.powi(e) - 1.0) * 8.0) as u64;
    sign | ((e + 7) as u64) << 3 | m
}

/// What is known of a tile's elements.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fact {
    /// Signed values lie between these.
    Int {
        lo: i128,
        hi: i128,
    },
    Float(Float),
}

impl Fact {
    pub fn is_exact(self) -> bool {
        match self {
            Self::Int { .. } => true,
            Self::Float(x) => x.is_exact(),
        }
    }
}

/// What is known of floats.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Float {
    /// Numbers lie between these, infinities included.
    pub lo: f64,
    pub hi: f64,
    pub nan: bool,
    /// All values are multiples of 2 to this power.
    pub quantum: Option<i32>,
    /// How far a right result may be from the interpreter's: 0, the same bits.
    pub error: f64,
}

impl Float {
    pub const ANY: Self = Self {
        lo: f64::NEG_INFINITY,
        hi: f64::INFINITY,
        nan: true,
        quantum: None,
        error: 0.0,
    };

    /// What may differ from the interpreter's by any amount.
    pub const UNKNOWN: Self = Self {
        error: f64::INFINITY,
        ..Self::ANY
    };

    pub fn range(lo: f64, hi: f64) -> Self {
        Self {
            lo,
            hi,
            nan: false,
            quantum: None,
            error: 0.0,
        }
    }

    pub fn max(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    pub fn is_exact(self) -> bool {
        self.error == 0.0
    }

    pub fn is_finite(self) -> bool {
        !self.nan && self.max().is_finite()
    }

    /// What holds of both.
    pub fn join(self, other: Self) -> Self {
        Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            nan: self.nan | other.nan,
            quantum: self.quantum.zip(other.quantum).map(|(a, b)| a.min(b)),
            error: self.error.max(other.error),
        }
    }
}

/// Everything that `elem` can hold.
pub fn anything(elem: Elem) -> Fact {
    match elem {
        Elem::I(n) => Fact::Int {
            lo: -(1 << (n - 1)),
            hi: (1 << (n - 1)) - 1,
        },
        _ => Fact::Float(Float::ANY),
    }
}

/// A value of the program.
#[derive(Clone, Debug)]
pub struct Tile {
    pub name: String,
    pub elem: Elem,
    pub shape: Vec<u64>,
    pub fact: Fact,
}

impl Tile {
    /// An i32 that is no less than zero and below a number.
    pub fn index(name: impl Into<String>, below: u64) -> Self {
        Self {
            name: name.into(),
            elem: Elem::I32,
            shape: Vec::new(),
            fact: Fact::Int {
                lo: 0,
                hi: i128::from(below) - 1,
            },
        }
    }

    pub fn ty(&self) -> String {
        tile_type(self.elem, &self.shape)
    }

    pub fn float(&self) -> Float {
        match self.fact {
            Fact::Float(f) => f,
            Fact::Int { .. } => Float::ANY,
        }
    }

    /// Lower and upper bound of an integer.
    pub fn int(&self) -> (i128, i128) {
        match self.fact {
            Fact::Int { lo, hi } => (lo, hi),
            Fact::Float(_) => (i128::MIN, i128::MAX),
        }
    }

    pub fn is_exact(&self) -> bool {
        self.fact.is_exact()
    }
}

/// `4x8x` of a shape.
pub fn extents(shape: &[u64]) -> String {
    shape.iter().fold(String::new(), |mut s, d| {
        let _ = write!(s, "{d}x");
        s
    })
}

pub fn tile_type(elem: Elem, shape: &[u64]) -> String {
    format!("tile<{}{}>", extents(shape), elem.name())
}
