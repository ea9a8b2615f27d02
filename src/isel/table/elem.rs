//! Elements as instructions know them.

use serde::Serialize;

use crate::scalar::FloatFormat as Float;

/// What an element is, as far as instructions care.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Elem {
    Int(u32),
    Float(Float),
    /// A 64-bit global address.
    Global,
    /// A 32-bit shared address.
    Shared,
}

impl Elem {
    pub fn bits(self) -> u32 {
        match self {
            Elem::Int(bits) => bits,
            Elem::Float(f) => f.bits(),
            Elem::Global => 64,
            Elem::Shared => 32,
        }
    }

    /// Bits that an element takes in a register.
    pub fn stored(self) -> u32 {
        match self.bits() {
            4 => 8,
            bits => bits,
        }
    }
}

impl std::fmt::Display for Elem {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Elem::Int(bits) => write!(f, "i{bits}"),
            Elem::Float(float) => f.write_str(float.name()),
            Elem::Global => f.write_str("ptr"),
            Elem::Shared => f.write_str("shared_ptr"),
        }
    }
}
