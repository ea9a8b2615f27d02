//! A program with what it is run on: Tile IR text whose leading comments say the grid and the arguments.
//!
//! ```text
//! // grid: 2,1,1
//! // arg: i32 57
//! // arg: buffer f32 4096 uniform -4 4 seed 3
//! // arg: buffer f16 1024 zero seed 0 within 0.001
//! entry @main(…) { … }
//! ```

use std::fmt;

use crate::choices::step;
use crate::types::{Elem, Fact, Float, anything};

/// What a buffer holds before the launch.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fill {
    Zero,
    /// Integral numbers between two, both included.
    Whole(i64, i64),
    /// Floats between two.
    Uniform(f64, f64),
    /// Any patterns, special values among them.
    Any,
}

/// An argument of the entry.
#[derive(Clone, PartialEq, Debug)]
pub enum Param {
    Scalar {
        elem: Elem,
        bits: u64,
    },
    Buffer {
        elem: Elem,
        count: usize,
        fill: Fill,
        seed: u64,
        /// How far its elements may be from the interpreter's.
        within: f64,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    pub text: String,
    pub grid: [u32; 3],
    pub params: Vec<Param>,
}

impl Fill {
    /// What is known of values of `elem` that it makes.
    pub fn fact(self, elem: Elem) -> Fact {
        let float = |lo: f64, hi: f64, quantum| {
            Fact::Float(Float {
                quantum,
                ..Float::range(lo, hi)
            })
        };
        match (self, elem.is_float()) {
            (Self::Zero, false) => Fact::Int { lo: 0, hi: 0 },
            (Self::Zero, true) => float(0.0, 0.0, Some(0)),
            (Self::Whole(lo, hi), false) => Fact::Int {
                lo: lo.into(),
                hi: hi.into(),
            },
            (Self::Whole(lo, hi), true) => float(lo as f64, hi as f64, Some(0)),
            (Self::Uniform(lo, hi), true) => float(lo, hi, None),
            (Self::Uniform(..) | Self::Any, _) => anything(elem),
        }
    }
}

impl Param {
    /// The bytes of a buffer before the launch.
    pub fn bytes(&self) -> Vec<u8> {
        let &Self::Buffer {
            elem,
            count,
            fill,
            seed,
            ..
        } = self
        else {
            return Vec::new();
        };
        let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5851_f42d_4c95_7f2d;
        let width = (elem.bits() / 8) as usize;
        let mut out = Vec::with_capacity(count * width);
        for _ in 0..count {
            let value = element(elem, fill, step(&mut state));
            out.extend_from_slice(&value.to_le_bytes()[..width]);
        }
        out
    }
}

fn element(elem: Elem, fill: Fill, random: u64) -> u64 {
    let fraction = (random >> 11) as f64 / (1u64 << 53) as f64;
    match fill {
        Fill::Zero => 0,
        Fill::Whole(lo, hi) => {
            let n = lo + ((random >> 8) % (hi - lo + 1) as u64) as i64;
            if elem.is_float() {
                elem.encode(n as f64)
            } else {
                trim(elem, n as u64)
            }
        }
        Fill::Uniform(lo, hi) => elem.encode(lo + (hi - lo) * fraction),
        Fill::Any if elem == Elem::I1 => random >> 40 & 1,
        Fill::Any if elem.is_float() && random.is_multiple_of(4) => {
            let least = 2f64.powi(elem.extent().1);
            let some = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                least,
                -least,
                elem.extent().0,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
            ];
            let x = some[(random >> 8) as usize % some.len()];
            match elem {
                // It has no infinities.
                Elem::E4M3 if !x.is_finite() => 0x7f,
                _ => elem.encode(x),
            }
        }
        Fill::Any if elem.is_float() && random % 4 < 3 => elem.encode((fraction - 0.5) * 8.0),
        Fill::Any if elem == Elem::TF32 => random >> 32 & !0x1fff,
        Fill::Any => trim(elem, random),
    }
}

fn trim(elem: Elem, bits: u64) -> u64 {
    bits & (u64::MAX >> (64 - elem.bits()))
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => write!(f, "zero"),
            Self::Whole(lo, hi) => write!(f, "whole {lo} {hi}"),
            Self::Uniform(lo, hi) => write!(f, "uniform {lo} {hi}"),
            Self::Any => write!(f, "any"),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.grid;
        writeln!(f, "// grid: {x},{y},{z}")?;
        for param in &self.params {
            match param {
                Param::Scalar { elem, bits } => writeln!(f, "// arg: {} {bits}", elem.name())?,
                Param::Buffer {
                    elem,
                    count,
                    fill,
                    seed,
                    within,
                } => {
                    write!(
                        f,
                        "// arg: buffer {} {count} {fill} seed {seed}",
                        elem.name()
                    )?;
                    if *within > 0.0 {
                        write!(f, " within {within:e}")?;
                    }
                    writeln!(f)?;
                }
            }
        }
        f.write_str(&self.text)
    }
}

impl Program {
    /// Reads what `Display` writes; other comments are left in the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut program = Self {
            text: String::new(),
            grid: [1; 3],
            params: Vec::new(),
        };
        for line in text.lines() {
            let wrong = || format!("`{line}` is no argument or grid");
            if let Some(rest) = line.strip_prefix("// grid: ") {
                for (slot, n) in program.grid.iter_mut().zip(rest.split(',')) {
                    *slot = n.parse().map_err(|_| wrong())?;
                }
            } else if let Some(rest) = line.strip_prefix("// arg: ") {
                let words: Vec<&str> = rest.split_whitespace().collect();
                program.params.push(param(&words).ok_or_else(wrong)?);
            } else {
                program.text.push_str(line);
                program.text.push('\n');
            }
        }
        Ok(program)
    }
}

fn param(words: &[&str]) -> Option<Param> {
    let ["buffer", elem, count, rest @ ..] = words else {
        let [elem, bits] = words else { return None };
        return Some(Param::Scalar {
            elem: Elem::parse(elem)?,
            bits: bits.parse().ok()?,
        });
    };
    let (fill, rest) = match rest {
        ["zero", rest @ ..] => (Fill::Zero, rest),
        ["any", rest @ ..] => (Fill::Any, rest),
        ["whole", lo, hi, rest @ ..] => (Fill::Whole(lo.parse().ok()?, hi.parse().ok()?), rest),
        ["uniform", lo, hi, rest @ ..] => (Fill::Uniform(lo.parse().ok()?, hi.parse().ok()?), rest),
        _ => return None,
    };
    let (seed, within) = match rest {
        ["seed", seed] => (seed, 0.0),
        ["seed", seed, "within", error] => (seed, error.parse().ok()?),
        _ => return None,
    };
    Some(Param::Buffer {
        elem: Elem::parse(elem)?,
        count: count.parse().ok()?,
        fill,
        seed: seed.parse().ok()?,
        within,
    })
}
