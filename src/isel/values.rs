//! How nvvm values live in registers.
//!
//! | element | count | registers |
//! |---|---|---|
//! | i1 | any | one predicate each |
//! | 4 bits | any | as 8 bits, the high half of a byte unspecified |
//! | 8 bits | multiple of 4 | four per 32-bit register |
//! | 8 bits | other | one per 16-bit register, the high half unspecified |
//! | 16 bits | even | two per 32-bit register |
//! | 16 bits | odd | one per 16-bit register |
//! | 32, 64 bits | any | one each |
//!
//! The first element of a packed register is in its low bits.

use super::build::{Builder, Fail, fail};
pub use super::table::elem::Elem;
use crate::ir::{Type, TypeId, Types};
use crate::machine::class::Class;
use crate::machine::mir::Atom;

/// The registers of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Form {
    pub elem: Elem,
    /// Elements.
    pub n: usize,
    pub class: Class,
    /// Elements per register.
    pub per: usize,
}

impl Form {
    /// How a value of `ty` lives in registers.
    pub fn of(types: &Types, ty: TypeId) -> Result<Form, Fail> {
        let elem = match types.get(types.elem(ty)) {
            Type::Int(bits @ (1 | 4 | 8 | 16 | 32 | 64)) => Elem::Int(*bits),
            Type::Float(f) => Elem::Float(*f),
            Type::Ptr { .. } | Type::TensorMap => Elem::Global,
            Type::SharedPtr => Elem::Shared,
            other => return fail(format!("a value of type {other:?} has no registers")),
        };
        Ok(Form::new(elem, types.reg_count(ty) as usize))
    }

    pub fn new(elem: Elem, n: usize) -> Form {
        let (class, per) = match elem.stored() {
            1 => (Class::Pred, 1),
            8 if n.is_multiple_of(4) && n > 0 => (Class::B32, 4),
            8 => (Class::B16, 1),
            16 if n.is_multiple_of(2) && n > 0 => (Class::B32, 2),
            16 => (Class::B16, 1),
            32 => (Class::B32, 1),
            _ => (Class::B64, 1),
        };
        Form {
            elem,
            n,
            class,
            per,
        }
    }

    /// Registers of the value.
    pub fn regs(self) -> usize {
        self.n / self.per
    }

    /// Class of one element by itself.
    pub fn elem_class(self) -> Class {
        match self.elem.stored() {
            1 => Class::Pred,
            8 | 16 => Class::B16,
            32 => Class::B32,
            _ => Class::B64,
        }
    }

    /// The same elements, one per register.
    pub fn is_packed(self) -> bool {
        self.per > 1
    }
}

impl Builder<'_> {
    /// One atom per element.
    pub fn unpack(&mut self, form: Form, atoms: &[Atom]) -> Result<Vec<Atom>, Fail> {
        match form.per {
            2 => self.split(atoms),
            4 => {
                let halves = self.split(atoms)?;
                let high = self.shift_halves(&halves)?;
                Ok(halves
                    .into_iter()
                    .zip(high)
                    .flat_map(|(low, high)| [low, high])
                    .collect())
            }
            _ => Ok(atoms.to_vec()),
        }
    }

    fn shift_halves(&mut self, halves: &[Atom]) -> Result<Vec<Atom>, Fail> {
        if let Some(constants) = halves
            .iter()
            .map(|&a| match a {
                Atom::Imm(bits) => Some(Atom::Imm(bits >> 8 & 0xff)),
                Atom::Undef => Some(Atom::Undef),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()
        {
            return Ok(constants);
        }
        self.value("shr.u16", &[halves, &[Atom::Imm(8)]])
    }

    /// The inverse of [`Builder::unpack`].
    pub fn pack(&mut self, form: Form, elements: &[Atom]) -> Result<Vec<Atom>, Fail> {
        match form.per {
            2 => self.join(elements),
            4 => {
                if let Some(words) = constant_words(elements) {
                    return Ok(words);
                }
                let pairs = self.join(elements)?;
                let (low, high): (Vec<_>, Vec<_>) =
                    pairs.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
                self.value("prmt.b32", &[&low, &high, &[Atom::Imm(0x6420)]])
            }
            _ => Ok(elements.to_vec()),
        }
    }

    /// The value as 32-bit words, the first element lowest; a short last word is padded with zeros.
    pub fn split_words(&mut self, form: Form, atoms: &[Atom]) -> Result<Vec<Atom>, Fail> {
        match (form.class, form.elem.stored()) {
            (Class::B32, _) => Ok(atoms.to_vec()),
            (Class::B64, _) => self.split_wide(atoms),
            (Class::B16, 16) => {
                let mut halves = atoms.to_vec();
                halves.push(Atom::Imm(0));
                self.join(&halves)
            }
            (Class::B16, 8) => {
                let mut elements = atoms.to_vec();
                elements.resize(elements.len().next_multiple_of(4), Atom::Imm(0));
                self.pack(Form::new(form.elem, elements.len()), &elements)
            }
            _ => fail("i1 values have no bit pattern in memory order"),
        }
    }

    /// The inverse of [`Builder::split_words`].
    pub fn join_words(&mut self, form: Form, words: &[Atom]) -> Result<Vec<Atom>, Fail> {
        match (form.class, form.elem.stored()) {
            (Class::B32, _) => Ok(words.to_vec()),
            (Class::B64, _) => {
                let (low, high): (Vec<_>, Vec<_>) = words.chunks(2).map(|w| (w[0], w[1])).unzip();
                self.value("@pack.rr", &[&low, &high])
            }
            (Class::B16, bits @ (8 | 16)) => {
                let whole = Form::new(form.elem, words.len() * (32 / bits as usize));
                let mut elements = self.unpack(whole, words)?;
                elements.truncate(form.n);
                Ok(elements)
            }
            _ => fail("i1 values have no bit pattern in memory order"),
        }
    }

    fn split_wide(&mut self, atoms: &[Atom]) -> Result<Vec<Atom>, Fail> {
        let results = self.op("@unpack.rr", atoms.len(), vec![atoms.into()])?;
        let (low, high) = (&results[0], &results[1]);
        Ok(low.iter().zip(high).flat_map(|(&l, &h)| [l, h]).collect())
    }
}

/// Packs bytes that are all constants.
fn constant_words(elements: &[Atom]) -> Option<Vec<Atom>> {
    elements
        .chunks(4)
        .map(|bytes| {
            bytes.iter().rev().try_fold(0u64, |word, byte| match byte {
                Atom::Imm(b) => Some(word << 8 | b & 0xff),
                Atom::Undef => Some(word << 8),
                _ => None,
            })
        })
        .map(|word| word.map(Atom::Imm))
        .collect()
}
