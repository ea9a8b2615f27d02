//! Do matrix instructions of a warpgroup (`wgmma`) and of tensor memory (`tcgen05.mma`) compute the matmuls that loops are
//! lowered to? Elements of operands have names, and lie where the layouts and descriptors of `src/layout/` put them; the
//! selected instructions read them as the PTX ISA says. What they write are sums of products of names, which must be the
//! matmul's.

pub mod memory;
pub mod tensor;
#[cfg(test)]
mod tests;
pub mod wgmma;

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::choose::Tables;
use super::matmul::{Accumulator, Multiplicand};
use crate::ir::Float;
use crate::machine::mir::{Atom, Inst, Op, VReg};
use crate::machine::table::Unit;
use crate::rules::Wrong;
use crate::rules::prove::{Class, Verdict};

/// A place in an operand: row and column.
pub type Place = [u64; 2];

/// A row of A or a column of B that an instruction reads: its elements along K. All elements of the accumulator that they
/// are added to share it.
#[derive(Debug)]
pub struct Line {
    places: Vec<Place>,
    /// Its row or column and its first element, where it is of one row or column and its elements follow each other.
    straight: Option<[u64; 2]>,
}

impl Line {
    /// A row of A (`along` is 1) or a column of B (0): `along` is the dimension that K is.
    fn new(places: Vec<Place>, along: usize) -> Rc<Line> {
        let at = |place: &Place| [place[1 - along], place[along]];
        let straight = places.first().map(at).filter(|&[line, first]| {
            let mut want = (first..).map(|k| [line, k]);
            places.iter().all(|place| Some(at(place)) == want.next())
        });
        Rc::new(Line { places, straight })
    }

    /// The rows of A that an instruction reads.
    pub fn rows(all: Vec<Vec<Place>>) -> Vec<Rc<Line>> {
        all.into_iter().map(|row| Line::new(row, 1)).collect()
    }

    /// The columns of B that it reads.
    pub fn columns(all: Vec<Vec<Place>>) -> Vec<Rc<Line>> {
        all.into_iter().map(|column| Line::new(column, 0)).collect()
    }

    /// The elements from K's first to behind the last, if it is straight and of this row or column.
    fn of(&self, line: u64) -> Option<[u64; 2]> {
        let [own, first] = self.straight?;
        (own == line).then_some([first, first + self.places.len() as u64])
    }
}

/// An element of the accumulator and the products that were added to it.
#[derive(Clone, Debug)]
pub struct Sum {
    /// None where the first instruction overwrote it.
    from: Option<Place>,
    /// Rows of A times columns of B.
    products: Vec<(Rc<Line>, Rc<Line>)>,
}

impl Sum {
    pub fn of(place: Place) -> Sum {
        Sum {
            from: Some(place),
            products: Vec::new(),
        }
    }

    /// Nothing, before products are added.
    pub fn zero() -> Sum {
        Sum {
            from: None,
            products: Vec::new(),
        }
    }

    /// Adds a row of A times a column of B.
    fn add(&mut self, a: &Rc<Line>, b: &Rc<Line>) {
        self.products.push((a.clone(), b.clone()));
    }

    /// Whether the products are those of a row with a column, each once; false also where that takes a closer look.
    fn is_plainly(&self, [row, column]: Place, depth: u64) -> bool {
        let parts = self.products.iter().map(|(a, b)| {
            let [a, b] = [a.of(row)?, b.of(column)?];
            (a == b).then_some(a)
        });
        let Some(mut parts) = parts.collect::<Option<Vec<_>>>() else {
            return false;
        };
        parts.sort_unstable();
        let end = parts
            .into_iter()
            .try_fold(0, |end, [first, behind]| (first == end).then_some(behind));
        end == Some(depth)
    }

    /// Whether it is the element of the matmul at this place; what is wrong where it is not.
    fn check(&self, [row, column]: Place, depth: u64, fresh: bool) -> Result<(), String> {
        let from = (!fresh).then_some([row, column]);
        if self.from == from && self.is_plainly([row, column], depth) {
            return Ok(());
        }
        let pairs = |(a, b): &(Rc<Line>, Rc<Line>)| {
            let pairs = a.places.iter().copied().zip(b.places.iter().copied());
            pairs.collect::<Vec<_>>()
        };
        let mut products: Vec<_> = self.products.iter().flat_map(pairs).collect();
        products.sort_unstable();
        let want = (0..depth).map(|k| ([row, k], [k, column]));
        let mut pairs = products.iter().copied().zip(want);
        if let Some(((a, b), (c, d))) = pairs.find(|(have, want)| have != want) {
            return Err(format!(
                "element ({row}, {column}) has the product A{a:?} · B{b:?} where that of A{c:?} · B{d:?} belongs"
            ));
        }
        match products.len() as u64 == depth && self.from == from {
            true => Ok(()),
            false => Err(format!(
                "element ({row}, {column}) has {} products, not {depth}, and begins with {:?}",
                products.len(),
                self.from
            )),
        }
    }
}

/// What an instruction multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Types {
    pub a: Multiplicand,
    pub b: Multiplicand,
    pub sum: Accumulator,
}

/// Floats that are multiplied with those of the same kind, and whether sums may be f16.
fn floats(kind: &str) -> Vec<Types> {
    let float = |a, b, sum| Types {
        a: Multiplicand::Float(a),
        b: Multiplicand::Float(b),
        sum,
    };
    let (f32, f16) = (Accumulator::F32, Accumulator::F16);
    let (e4m3, e5m2) = (Float::F8E4M3FN, Float::F8E5M2);
    match kind {
        "16" => vec![
            float(Float::F16, Float::F16, f32),
            float(Float::F16, Float::F16, f16),
            float(Float::BF16, Float::BF16, f32),
        ],
        "tf32" => vec![float(Float::TF32, Float::TF32, f32)],
        "8" => {
            let pairs = [(e4m3, e4m3), (e4m3, e5m2), (e5m2, e4m3), (e5m2, e5m2)];
            let all = pairs
                .iter()
                .flat_map(|&(a, b)| [f32, f16].map(|sum| float(a, b, sum)));
            all.collect()
        }
        _ => {
            let int = |signed| Multiplicand::Int { signed };
            let pairs = [(true, true), (false, false), (true, false), (false, true)];
            let of = |(a, b)| Types {
                a: int(a),
                b: int(b),
                sum: Accumulator::I32,
            };
            pairs.map(of).to_vec()
        }
    }
}

/// The types, and of each whether it is the first with elements of so many bits: with it all ways are tried in which
/// operands may lie, with others one.
fn first_of_width(types: Vec<Types>) -> impl Iterator<Item = (Types, bool)> {
    let mut seen = BTreeSet::new();
    types
        .into_iter()
        .map(move |types| (types, seen.insert(types.a.bits())))
}

/// The rows of the table of instructions that are about such instructions.
pub fn names(tables: &Tables) -> BTreeSet<String> {
    let rows = tables.insns.identifiers();
    let rows = rows.filter(|(_, row)| row.unit == Unit::Mma);
    rows.map(|(id, _)| id.trim_start_matches('@').to_owned())
        .collect()
}

/// Proves the instruction in all the cases in which it is used.
pub fn prove(name: &str, tables: &Tables) -> Result<Verdict, Wrong> {
    let count = match name.split('.').collect::<Vec<_>>()[..] {
        ["wgmma", source, kind] => wgmma::prove(source, kind, tables)?,
        ["tcgen05", "ss" | "ts" | "pair", _] => tensor::prove(name, tables)?,
        _ => {
            return Ok(Verdict {
                class: Class::Exempt,
                instances: 0,
                proven: 0,
                why: "where scales lie in tensor memory is tested (src/layout/tensor_scales.rs) and simulated".into(),
            });
        }
    };
    if count.cases == 0 {
        return Err(format!("no case of {name} was found").into());
    }
    Ok(Verdict {
        class: Class::Proven,
        instances: count.cases,
        proven: count.cases,
        why: format!(
            "{} elements, each the sum of its products, in any order and precision",
            count.elements
        ),
    })
}

/// Cases, and elements of results that were compared.
#[derive(Clone, Copy, Default, Debug)]
pub struct Count {
    pub cases: usize,
    pub elements: usize,
}

impl Count {
    /// Takes note of a case, which `what` describes where it is wrong.
    fn case(
        &mut self,
        compared: Result<usize, String>,
        what: impl FnOnce() -> String,
    ) -> Result<(), Wrong> {
        self.cases += 1;
        self.elements += compared.map_err(|why| format!("{}: {why}", what()))?;
        Ok(())
    }
}

/// Registers that hold numbers which all threads agree on: descriptors, addresses.
#[derive(Default)]
struct Numbers(FxHashMap<VReg, u64>);

impl Numbers {
    fn set(&mut self, registers: &[VReg], number: u64) {
        self.0.extend(registers.iter().map(|&r| (r, number)));
    }

    fn of(&self, atom: Atom) -> Option<u64> {
        match atom {
            Atom::Imm(number) => Some(number),
            Atom::Reg(register) => self.0.get(&register).copied(),
            _ => None,
        }
    }

    /// Does what is no matrix instruction; none for one.
    fn step<'i>(&mut self, inst: &'i Inst) -> Result<Option<&'i Op>, String> {
        let op = match inst {
            Inst::Op(op) => op,
            Inst::Copy { dst, src } => {
                let from: Vec<_> = src.iter().map(|&atom| self.of(atom)).collect();
                let known = dst.iter().zip(from).filter_map(|(&r, n)| Some((r, n?)));
                self.0.extend(known);
                return Ok(None);
            }
            _ => return Err("something else than instructions was selected".to_owned()),
        };
        match (&*op.insn.mnemonic, op.operands.as_slice()) {
            ("wgmma.fence.sync.aligned", _) => Ok(None),
            ("mov.b32" | "mov.b64" | "mov.pred", [to, from]) => {
                let atoms = [to, from].map(|operand| operand.atoms.first().copied());
                let [Some(Atom::Reg(to)), Some(Atom::Imm(number))] = atoms else {
                    return Err("a move of what is no number".to_owned());
                };
                self.0.insert(to, number);
                Ok(None)
            }
            ("add.s64", [to, a, b]) => {
                let atoms = [&to.atoms, &a.atoms, &b.atoms].map(|atoms| atoms.first().copied());
                let [Some(Atom::Reg(to)), Some(a), Some(b)] = atoms else {
                    return Err("an addition without operands".to_owned());
                };
                let (Some(a), Some(b)) = (self.of(a), self.of(b)) else {
                    return Err("a sum of what is no number".to_owned());
                };
                self.0.insert(to, a.wrapping_add(b));
                Ok(None)
            }
            _ => Ok(Some(op)),
        }
    }
}
