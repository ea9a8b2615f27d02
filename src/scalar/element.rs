//! Element types as far as arithmetic goes.

use super::FloatFormat;

/// The type of one element, whose bits stand in the low end of a `u64`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// An integer of so many bits.
    Int(u32),
    Float(FloatFormat),
    /// A 64-bit address of pointees of so many bits in memory (a whole byte for i1).
    Ptr(u32),
    /// A 32-bit address in shared memory.
    Shared,
}

impl Element {
    pub fn bits(self) -> u32 {
        match self {
            Element::Int(bits) => bits,
            Element::Float(float) => float.bits(),
            Element::Ptr(_) => 64,
            Element::Shared => 32,
        }
    }

    /// The width of an integer.
    pub fn int(self) -> Option<u32> {
        match self {
            Element::Int(bits) => Some(bits),
            _ => None,
        }
    }

    /// The format of a float.
    pub fn float(self) -> Option<FloatFormat> {
        match self {
            Element::Float(float) => Some(float),
            _ => None,
        }
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Element::Int(bits) => write!(f, "i{bits}"),
            Element::Float(float) => f.write_str(float.name()),
            Element::Ptr(_) => f.write_str("ptr"),
            Element::Shared => f.write_str("shared_ptr"),
        }
    }
}
