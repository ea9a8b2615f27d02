//! Every elementwise operation with every attribute on every element type.

use tilec::dialect::cuda_tile::Op;
use tilec::dialect::{AttrKind, OpDef, OpKind, ResultType, Traits};
use tilec::facts::Leaf;
use tilec::facts::semantics::Scalar;
use tilec::ir::Float;

/// One operation with its attributes and element types.
#[derive(Clone)]
pub struct Case {
    pub op: Op,
    pub attrs: Vec<Leaf>,
    pub operands: Vec<Scalar>,
    pub result: Scalar,
}

impl Case {
    pub fn def(&self) -> &'static OpDef {
        OpKind::from(self.op).def()
    }

    /// The attributes as one reads them.
    pub fn attributes(&self) -> Vec<&'static str> {
        let named = self.def().attrs.iter().zip(&self.attrs);
        named
            .filter_map(|(def, leaf)| match (def.kind, leaf) {
                (AttrKind::Enum(cases), Leaf::Enum(case)) => {
                    cases.cases.get(*case as usize).copied()
                }
                (_, Leaf::Unit) => Some(def.name),
                _ => None,
            })
            .collect()
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let operands: Vec<_> = self.operands.iter().map(|&s| name(s)).collect();
        let (attributes, result) = (self.attributes().join(" "), name(self.result));
        let op = self.def().name;
        write!(f, "{op} {attributes}: {} -> {result}", operands.join(", "))
    }
}

fn name(scalar: Scalar) -> String {
    match scalar {
        Scalar::Int(bits) => format!("i{bits}"),
        Scalar::Float(float) => float.name().to_owned(),
        other => format!("{other:?}"),
    }
}

fn elements() -> Vec<Scalar> {
    let ints = [1, 4, 8, 16, 32, 64].map(Scalar::Int);
    let floats = Float::NAMES.iter().map(|&(f, _)| Scalar::Float(f));
    ints.into_iter().chain(floats).collect()
}

/// All combinations, whether the dialect has them or not.
pub fn candidates(op: Op) -> Vec<Case> {
    let def = OpKind::from(op).def();
    let mut all = Vec::new();
    for attrs in attributes(def) {
        for (operands, result) in types(op) {
            all.push(Case {
                op,
                attrs: attrs.clone(),
                operands,
                result,
            });
        }
    }
    all
}

/// Elementwise operations on numbers.
pub fn operations() -> Vec<Op> {
    let pointers = [Op::Offset, Op::IntToPtr, Op::PtrToInt, Op::PtrToPtr];
    let is_elementwise = |op: &Op| OpKind::from(*op).def().traits.has(Traits::ELEMENTWISE);
    let all = Op::ALL.iter().copied().filter(is_elementwise);
    all.filter(|op| !pointers.contains(op)).collect()
}

fn attributes(def: &OpDef) -> Vec<Vec<Leaf>> {
    let mut all = vec![Vec::new()];
    for attr in def.attrs {
        let values: Vec<Leaf> = match attr.kind {
            // A promise about operands: it changes no instruction.
            AttrKind::Enum(e) if e.name == "overflow" => vec![Leaf::Enum(0)],
            AttrKind::Enum(e) => (0..e.cases.len() as u8).map(Leaf::Enum).collect(),
            AttrKind::Unit => vec![Leaf::Absent, Leaf::Unit],
            other => panic!("{}: {other:?}", def.name),
        };
        let longer = |begin: &Vec<Leaf>| {
            let with = |v: &Leaf| [begin.as_slice(), &[*v]].concat();
            values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn types(op: Op) -> Vec<(Vec<Scalar>, Scalar)> {
    let def = OpKind::from(op).def();
    let (each, arity) = (elements(), def.operands.len());
    let pairs = || each.iter().flat_map(|&a| each.iter().map(move |&b| (a, b)));
    match def.results[0].ty {
        _ if def.traits.has(Traits::SAME_TYPE) => {
            each.iter().map(|&t| (vec![t; arity], t)).collect()
        }
        ResultType::BoolLike(_) => {
            let like = |&t: &Scalar| (vec![t; arity], Scalar::Int(1));
            each.iter().map(like).collect()
        }
        ResultType::Explicit if arity == 1 => pairs().map(|(a, b)| (vec![a], b)).collect(),
        _ if op == Op::Select => {
            let choice = |&t: &Scalar| (vec![Scalar::Int(1), t, t], t);
            each.iter().map(choice).collect()
        }
        ResultType::Operand(0) if arity == 2 => pairs().map(|(a, b)| (vec![a, b], a)).collect(),
        other => panic!("{}: {other:?}", def.name),
    }
}
