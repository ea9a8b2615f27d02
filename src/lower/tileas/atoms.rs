//! The element types that warpgroups' matrix instructions multiply and add, and how precisely matrix instructions add.

use crate::ir::{Float, Module, OpId, Type};
use crate::layout::mma::Wgmma;
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

/// Extents of a matmul that warpgroups can do.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    pub rows: u64,
    pub columns: u64,
}

impl Extents {
    /// The extents of `dot`, or why there is no instruction for it.
    ///
    /// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", shapes and types: m64nNkK with
    /// N of 8 to 256 and 256 bits of K.
    pub fn of(m: &Module, dot: OpId) -> Result<Extents, String> {
        let tile = |i: usize| {
            m.op(dot)
                .operands
                .get(i)
                .and_then(|&v| m.types.as_tile(m.ty(v)))
        };
        let (Some((a, lhs)), Some((b, _)), Some((c, acc))) = (tile(0), tile(1), tile(2)) else {
            return Err("an operand is no tile".to_owned());
        };
        let (&[rows, columns], &[_, k]) = (acc, lhs) else {
            return Err("the matmul has a batch dimension".to_owned());
        };
        if Atom::find(m.types.get(a), m.types.get(b), m.types.get(c)).is_none() {
            return Err("no wgmma multiplies these element types".to_owned());
        }
        let k_bits = k * u64::from(m.types.width(a));
        match () {
            () if rows < Wgmma::M => Err(format!("{rows} rows, {} needed", Wgmma::M)),
            () if columns < Wgmma::MIN_N => {
                Err(format!("{columns} columns, {} needed", Wgmma::MIN_N))
            }
            () if k_bits < 256 => Err(format!("{k_bits} bits of K, 256 needed")),
            () => Ok(Extents { rows, columns }),
        }
    }

    /// How `groups` warpgroups share out the result: over rows first.
    pub fn spread(self, groups: u64) -> Option<[u64; 2]> {
        let over_rows = groups.min(self.rows / Wgmma::M);
        let over_columns = groups.checked_div(over_rows)?;
        let part = self.columns.checked_div(over_columns)?;
        (part >= 8 && over_rows * over_columns == groups).then_some([over_rows, over_columns])
    }
}
