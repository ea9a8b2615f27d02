//! Machine PTX: instructions of the table over virtual registers, in the order they are written.
//!
//! One [`Op`] stands for `reps` instructions that differ only in their registers: an operation on
//! a register array is one `Op`. Registers may be written more than once (loop-carried values,
//! accumulators); [`Inst::Copy`] is a parallel copy, and most copies disappear when
//! `isel::coalesce` gives source and destination one register.

use smallvec::SmallVec;

use super::class::Class;
use super::table::{Insn, Slot, Width};
use crate::ir::LocId;

/// A virtual register; its class is in [`Func::regs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VReg(pub u32);

/// What a register-sized operand is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    Reg(VReg),
    /// A constant, as the bits of its class.
    Imm(u64),
    /// `global_smem` plus bytes.
    Shared(i64),
    /// The address of a kernel parameter in parameter space.
    Param(u32),
    /// The address of the global with this number in [`Func::globals`].
    Global(u32),
    /// A special register.
    Special(&'static str),
    /// No particular value.
    Undef,
}

impl Atom {
    pub fn reg(self) -> Option<VReg> {
        match self {
            Atom::Reg(r) => Some(r),
            _ => None,
        }
    }
}

/// Initialised global memory of the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    pub name: String,
    /// Bytes, a power of two.
    pub align: u64,
    pub bytes: Vec<u8>,
}

/// One operand slot of an [`Op`]: the atoms of all repetitions, one after another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Operand {
    pub atoms: Vec<Atom>,
    /// Byte offsets of an address slot, one per repetition (or none).
    pub offsets: Vec<i64>,
}

impl Operand {
    /// How many atoms a repetition has of what stands in a slot.
    pub fn width(&self, slot: &Slot) -> usize {
        match slot.width {
            Width::Each(n) => n as usize,
            Width::All => self.atoms.len(),
        }
    }

    /// The atoms in repetition `rep` of what stands in a slot.
    pub fn of(&self, slot: &Slot, rep: usize) -> &[Atom] {
        let width = self.width(slot);
        self.atoms
            .get(rep * width..(rep + 1) * width)
            .unwrap_or(&[])
    }

    /// The byte offset of an address in repetition `rep`.
    pub fn offset(&self, rep: usize) -> i64 {
        self.offsets.get(rep).copied().unwrap_or(0)
    }
}

impl From<Vec<Atom>> for Operand {
    fn from(atoms: Vec<Atom>) -> Self {
        Self {
            atoms,
            offsets: Vec::new(),
        }
    }
}

impl From<&[Atom]> for Operand {
    fn from(atoms: &[Atom]) -> Self {
        atoms.to_vec().into()
    }
}

impl From<Atom> for Operand {
    fn from(atom: Atom) -> Self {
        vec![atom].into()
    }
}

/// The predicate of each repetition; `None` for an unconditional one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    pub preds: Vec<Option<VReg>>,
    pub negate: bool,
}

/// `reps` instructions of one kind.
#[derive(Clone, Debug)]
pub struct Op {
    pub insn: Insn,
    pub operands: SmallVec<[Operand; 4]>,
    pub reps: u32,
    pub guard: Option<Guard>,
    /// Where in the source it comes from.
    pub loc: LocId,
    /// Repetitions that were found useless.
    pub dead: Vec<bool>,
}

impl Op {
    /// The atoms of slot `slot` in repetition `rep`.
    pub fn atoms_of(&self, slots: &[Slot], slot: usize, rep: usize) -> &[Atom] {
        self.operands[slot].of(&slots[slot], rep)
    }

    pub fn is_dead(&self, rep: usize) -> bool {
        self.dead.get(rep).copied().unwrap_or(false)
    }

    /// The predicate of repetition `rep`.
    pub fn pred(&self, rep: usize) -> Option<VReg> {
        self.guard
            .as_ref()
            .and_then(|g| g.preds.get(rep).copied().flatten())
    }
}

/// A jump target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Label(pub u32);

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every instruction is an operation: boxing them would save nothing"
)]
pub enum Inst {
    Op(Op),
    /// All sources are read before any destination is written.
    Copy {
        dst: Vec<VReg>,
        src: Vec<Atom>,
    },
    Label(Label),
    /// Jumps, if the predicate (negated when the flag is set) holds.
    Branch {
        to: Label,
        guard: Option<(VReg, bool)>,
        /// All threads of a warp agree.
        uniform: bool,
    },
}

/// A kernel parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Param {
    /// A global address.
    Pointer,
    /// A scalar of so many bits (8 to 64), and its name in the manifest.
    Scalar { bits: u32 },
    /// A 128-byte tensor map.
    TensorMap,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Func {
    pub name: String,
    pub params: Vec<Param>,
    pub block: u32,
    pub min_ctas: u32,
    pub max_regs: Option<u32>,
    pub cluster: Option<[u32; 3]>,
    /// Bytes of `global_smem`.
    pub shared: u32,
    /// Names of the globals whose addresses it takes.
    pub globals: Vec<String>,
    /// Texts whose addresses it takes, as the globals that [`Func::text_name`] names.
    pub texts: Vec<String>,
    /// Bytes of `local_depot`, each thread's own memory: what it prints.
    pub local: u32,
    /// Whether it calls `vprintf`.
    pub prints: bool,
    pub regs: Vec<Class>,
    pub insts: Vec<Inst>,
    /// A name for each label, without the number that makes it unique.
    pub labels: Vec<&'static str>,
}

impl Func {
    /// The number in [`Func::globals`] of the global called `name`.
    pub fn global(&mut self, name: &str) -> u32 {
        let at = self.globals.iter().position(|n| n == name);
        at.unwrap_or_else(|| {
            self.globals.push(name.to_owned());
            self.globals.len() - 1
        }) as u32
    }

    /// The name of the global that holds text `i`.
    pub fn text_name(&self, i: usize) -> String {
        format!("{}__text{i}", self.name)
    }

    /// Whether something is copied from register to register.
    pub fn has_copies(&self) -> bool {
        let mut insts = self.insts.iter();
        insts.any(|inst| matches!(inst, Inst::Copy { .. }))
    }

    pub fn new_reg(&mut self, class: Class) -> VReg {
        self.regs.push(class);
        VReg(self.regs.len() as u32 - 1)
    }

    pub fn new_label(&mut self, name: &'static str) -> Label {
        self.labels.push(name);
        Label(self.labels.len() as u32 - 1)
    }

    pub fn class(&self, reg: VReg) -> Class {
        self.regs[reg.0 as usize]
    }
}
