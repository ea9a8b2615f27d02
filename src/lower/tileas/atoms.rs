//! The element types that warpgroups' matrix instructions multiply and add, and how precisely matrix instructions add.

use crate::ir::{Float, Type};
use crate::target::Target;

use Float::{BF16, F8E4M3FN, F8E5M2, F16, F32, TF32};

/// Which instruction multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// `wgmma`.
    Warpgroups,
    /// `mma.sync` of one compute capability.
    Warps { sm: u16 },
}

/// A matrix instruction, by its types.
#[derive(Debug)]
pub struct Atom {
    by: By,
    /// What either operand's elements can be.
    operands: &'static [Type],
    acc: Type,
    /// Bits of the fraction that a sum in `acc` keeps from one instruction to the next; what is below is cut off.
    pub fraction: u32,
}

/// Bits of the fraction of f32.
const SINGLE: u32 = 23;

const BYTES: &[Type] = &[Type::Float(F8E4M3FN), Type::Float(F8E5M2)];

/// All that warpgroups have, and of warps' instructions those whose sums lose bits.
///
/// Sources: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", for the types. The fraction of sums of 8-bit
/// floats: DeepSeek-V3 Technical Report (arXiv 2412.19437), 3.3.2, and MMA-Sim (arXiv 2511.10909), which measured 13 bits,
/// on 8.9 for `mma.sync`, too; 9.0 multiplies such operands as f16 there, and later ones add in full.
const ATOMS: &[Atom] = &[
    Atom::of(By::Warpgroups, &[Type::Float(F16)], Type::Float(F16), 10),
    Atom::of(
        By::Warpgroups,
        &[Type::Float(F16)],
        Type::Float(F32),
        SINGLE,
    ),
    Atom::of(
        By::Warpgroups,
        &[Type::Float(BF16)],
        Type::Float(F32),
        SINGLE,
    ),
    Atom::of(
        By::Warpgroups,
        &[Type::Float(TF32)],
        Type::Float(F32),
        SINGLE,
    ),
    Atom::of(By::Warpgroups, BYTES, Type::Float(F16), 10),
    Atom::of(By::Warpgroups, BYTES, Type::Float(F32), 13),
    Atom::of(By::Warpgroups, &[Type::Int(8)], Type::Int(32), 31),
    Atom::of(By::Warps { sm: 89 }, BYTES, Type::Float(F32), 13),
];

impl Atom {
    const fn of(by: By, operands: &'static [Type], acc: Type, fraction: u32) -> Atom {
        Atom {
            by,
            operands,
            acc,
            fraction,
        }
    }

    /// The instruction of warpgroups that multiplies elements of `lhs` and `rhs` into `acc`.
    pub fn find(lhs: &Type, rhs: &Type, acc: &Type) -> Option<&'static Atom> {
        Atom::find_by(By::Warpgroups, lhs, rhs, acc)
    }

    fn find_by(by: By, lhs: &Type, rhs: &Type, acc: &Type) -> Option<&'static Atom> {
        let takes = |a: &Atom, operand| a.operands.contains(operand);
        let fits = |a: &&Atom| a.by == by && takes(a, lhs) && takes(a, rhs) && a.acc == *acc;
        ATOMS.iter().find(fits)
    }

    /// Whether `mma.sync` of these types loses bits of a sum that its accumulator has.
    pub fn rough_for_warps(lhs: &Type, rhs: &Type, acc: &Type, target: &Target) -> bool {
        let by = By::Warps { sm: target.sm };
        Atom::find_by(by, lhs, rhs, acc).is_some_and(Atom::sums_are_rough)
    }

    /// Whether sums lose bits that the accumulator's type has.
    pub fn sums_are_rough(&self) -> bool {
        self.acc == Type::Float(F32) && self.fraction < SINGLE
    }
}
