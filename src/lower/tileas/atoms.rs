//! The element types that warpgroups' matrix instructions multiply and add, and how precisely matrix instructions add.

use crate::ir::{Float, Type};
use crate::target::Target;

use Float::{BF16, F8E4M3FN, F8E5M2, F16, F32, TF32};

/// A matrix instruction of a warpgroup (`wgmma`), by its types.
#[derive(Debug)]
pub struct Atom {
    lhs: &'static [Type],
    rhs: &'static [Type],
    acc: Type,
    /// Bits of the fraction that a sum in `acc` keeps from one instruction to the next; what is below is cut off.
    pub fraction: u32,
}

/// Bits of the fraction of f32.
const SINGLE: u32 = 23;

const BYTES: &[Type] = &[Type::Float(F8E4M3FN), Type::Float(F8E5M2)];

/// Sources: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", for the types. The fraction of sums of 8-bit
/// floats: DeepSeek-V3 Technical Report (arXiv 2412.19437), 3.3.2, and MMA-Sim (arXiv 2511.10909), which measured 13 bits.
const ATOMS: &[Atom] = &[
    Atom::of(&[Type::Float(F16)], Type::Float(F16), 10),
    Atom::of(&[Type::Float(F16)], Type::Float(F32), SINGLE),
    Atom::of(&[Type::Float(BF16)], Type::Float(F32), SINGLE),
    Atom::of(&[Type::Float(TF32)], Type::Float(F32), SINGLE),
    Atom::of(BYTES, Type::Float(F16), 10),
    Atom::of(BYTES, Type::Float(F32), 13),
    Atom::of(&[Type::Int(8)], Type::Int(32), 31),
];

impl Atom {
    const fn of(operands: &'static [Type], acc: Type, fraction: u32) -> Atom {
        Atom {
            lhs: operands,
            rhs: operands,
            acc,
            fraction,
        }
    }

    /// The instruction that multiplies elements of `lhs` and `rhs` into `acc`.
    pub fn find(lhs: &Type, rhs: &Type, acc: &Type) -> Option<&'static Atom> {
        let fits = |a: &&Atom| a.lhs.contains(lhs) && a.rhs.contains(rhs) && a.acc == *acc;
        ATOMS.iter().find(fits)
    }

    /// Whether `mma.sync` of these types loses bits of a sum that its accumulator has. Its sums of 8-bit floats are as
    /// rough on 8.9 as those of `wgmma`; 9.0 multiplies such operands as f16 there, and later ones add in full (MMA-Sim).
    pub fn rough_for_warps(lhs: &Type, rhs: &Type, acc: &Type, target: &Target) -> bool {
        let floats = BYTES.contains(lhs) && BYTES.contains(rhs) && *acc == Type::Float(F32);
        floats && target.sm == 89
    }

    /// Whether sums lose bits that the accumulator's type has.
    pub fn sums_are_rough(&self) -> bool {
        self.acc == Type::Float(F32) && self.fraction < SINGLE
    }
}
