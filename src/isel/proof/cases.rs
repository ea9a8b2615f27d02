//! What a row of the selection tables may be chosen for: operations with their attributes, types and numbers of elements.

use crate::dialect::nvvm::Op as N;
use crate::dialect::{AttrKind, OpDef, OpKind, ResultType};
use crate::facts::Leaf;
use crate::facts::semantics::Scalar;
use crate::ir::Float;
use crate::isel::choose::Chooser;
use crate::isel::{Elem, Form};

/// Types of elements that computations have.
const ELEMENTS: [Elem; 13] = [
    Elem::Int(1),
    Elem::Int(4),
    Elem::Int(8),
    Elem::Int(16),
    Elem::Int(32),
    Elem::Int(64),
    Elem::Float(Float::F16),
    Elem::Float(Float::BF16),
    Elem::Float(Float::F32),
    Elem::Float(Float::TF32),
    Elem::Float(Float::F64),
    Elem::Float(Float::F8E4M3FN),
    Elem::Float(Float::F8E5M2),
];

/// Tables of `lop3` that are looked at: two that no operand may be left out of or exchanged in.
const TABLES: [i64; 2] = [0x96, 0xca];
/// Places of shifts that are looked at.
const PLACES: [i64; 2] = [3, 9];

/// An operation on operands of given types.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Case {
    pub op: N,
    pub attrs: Vec<Leaf>,
    pub operands: Vec<Elem>,
    pub result: Elem,
}

/// As the interpreter sees a type.
pub fn scalar(elem: Elem) -> Scalar {
    match elem {
        Elem::Int(bits) => Scalar::Int(bits),
        Elem::Float(float) => Scalar::Float(float),
        Elem::Global => Scalar::Int(64),
        Elem::Shared => Scalar::Int(32),
    }
}

/// Every operation that the tables have rows of, with all types and attributes.
pub fn all(chooser: &mut Chooser) -> Vec<Case> {
    let mut cases = Vec::new();
    for &op in N::ALL {
        if !chooser.covers(op.into()) {
            continue;
        }
        for (operands, result) in signatures(op) {
            for attrs in attributes(OpKind::from(op).def()) {
                let operands = operands.clone();
                cases.push(Case {
                    op,
                    attrs,
                    operands,
                    result,
                });
            }
        }
    }
    cases
}

/// The row that is chosen for a case with so many elements.
pub fn row(chooser: &mut Chooser, case: &Case, elements: usize) -> Option<usize> {
    let form = |elem: &Elem| Form::new(*elem, elements);
    let operands: Vec<Form> = case.operands.iter().map(form).collect();
    let result = Form::new(case.result, elements);
    let choice = chooser.choose(case.op.into(), &case.attrs, &operands, result)?;
    Some(choice.candidate.row)
}

/// All combinations of attributes, of numbers only some.
pub fn attributes(def: &OpDef) -> Vec<Vec<Leaf>> {
    let mut lists = vec![Vec::new()];
    for attr in def.attrs {
        let choices: Vec<Leaf> = match attr.kind {
            AttrKind::Enum(names) => (0..names.cases.len())
                .map(|case| Leaf::Enum(case as u8))
                .collect(),
            AttrKind::Unit => vec![Leaf::Absent, Leaf::Unit],
            _ if attr.name == "by" => PLACES.map(Leaf::Int).to_vec(),
            _ => TABLES.map(Leaf::Int).to_vec(),
        };
        let longer = |list: &Vec<Leaf>| {
            let one = |&choice: &Leaf| [&list[..], &[choice]].concat();
            choices.iter().map(one).collect::<Vec<_>>()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

/// All types that an operation may have.
fn signatures(op: N) -> Vec<(Vec<Elem>, Elem)> {
    let def = OpKind::from(op).def();
    let mut found = Vec::new();
    for first in ELEMENTS {
        let mut operands = vec![first; def.operands.len()];
        if let [_, _, last] = operands.as_mut_slice() {
            *last = match op {
                N::MadWideS | N::MadWideU => Elem::Int(64),
                N::ICmpAnd | N::ICmpOr => Elem::Int(1),
                _ => first,
            };
        }
        match def.results.first().map(|r| r.ty) {
            Some(ResultType::Operand(i)) => {
                let result = operands.get(usize::from(i)).copied();
                found.extend(result.map(|result| (operands, result)));
            }
            Some(ResultType::BoolLike(_)) => found.push((operands, Elem::Int(1))),
            _ => found.extend(ELEMENTS.map(|result| (operands.clone(), result))),
        }
    }
    found
}
