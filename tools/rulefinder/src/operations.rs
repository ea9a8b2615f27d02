//! The operations that terms are made of, from the rows of `nvvm`: each row on each combination of types and
//! attributes for which it has a meaning.

use std::sync::Arc;

use smallvec::SmallVec;
use tilec::dialect::enums;
use tilec::dialect::meaning::Meaning;
use tilec::dialect::resolve::{Attributes, Given};
use tilec::dialect::{Arity, AttrDef, AttrKind, Dialect, OpDef, OpKind, ResultType, Traits};
use tilec::facts::Leaf;
use tilec::facts::semantics::{self, Attrs, Outcome, Scalar};
use tilec::scalar::{Function, IntBinary};

/// An operation on elements of certain types, with certain attributes.
#[derive(Debug)]
pub struct Operation {
    pub kind: OpKind,
    /// The attributes of the row.
    pub leaves: SmallVec<[Leaf; 4]>,
    pub operands: SmallVec<[Scalar; 3]>,
    pub result: Scalar,
    /// What computes it where the row says so and the result is always defined.
    function: Option<Function>,
}

impl Operation {
    /// The operation of that row; nothing where it has no meaning on these types.
    pub fn new(
        kind: OpKind,
        leaves: SmallVec<[Leaf; 4]>,
        operands: SmallVec<[Scalar; 3]>,
        result: Scalar,
    ) -> Option<Operation> {
        let row = kind.def();
        let leaf = |i: usize| leaves.get(i).copied().unwrap_or(Leaf::Absent);
        let ones: SmallVec<[_; 3]> = operands.iter().map(|&scalar| (1, scalar)).collect();
        if semantics::eval(kind, Attrs(&leaf), &ones, result) == Outcome::Unknown {
            return None;
        }
        let value = |i| Given::from(leaf(i));
        let attributes = Attributes { row, value: &value };
        let function = row.meaning;
        let function = function.and_then(|m| m.function(attributes, &operands, result).ok());
        let open =
            |f: &Function| matches!(f, Function::Int2(IntBinary::Div(..) | IntBinary::Rem(_), _));
        let function = function.filter(|f| !open(f));
        Some(Operation {
            kind,
            leaves,
            operands,
            result,
            function,
        })
    }

    pub fn row(&self) -> &'static OpDef {
        self.kind.def()
    }

    pub fn is_commutative(&self) -> bool {
        self.row().traits.has(Traits::COMMUTATIVE)
    }

    /// Whether only instruction selection introduces it: a fused form, which patterns have no use for.
    pub fn is_fused(&self) -> bool {
        self.row().meaning.is_none()
    }

    /// Whether the result's type is written out.
    pub fn states_type(&self) -> bool {
        let explicit = |r: &tilec::dialect::ResultDef| r.ty == ResultType::Explicit;
        self.row().results.iter().any(explicit)
    }

    /// Whether its signedness makes no difference.
    pub fn is_without_sign(&self) -> bool {
        let case = |of| {
            let is = |a: &AttrDef| matches!(a.kind, AttrKind::Enum(def) if std::ptr::eq(def, of));
            let at = self.row().attrs.iter().position(is)?;
            match self.leaves.get(at) {
                Some(Leaf::Enum(case)) => Some(*case),
                _ => None,
            }
        };
        matches!(self.row().meaning, Some(Meaning::IntCompare))
            && case(&enums::CMP_PREDICATE).is_some_and(|case| case < 2)
    }

    /// The result for one element of each operand; nothing where it is not defined.
    pub fn apply(&self, operands: &[u64]) -> Option<u64> {
        let bits = match self.function {
            Some(function) => function.element(operands)?,
            None => {
                let leaf = |i: usize| self.leaves.get(i).copied().unwrap_or(Leaf::Absent);
                let typed = operands.iter().copied().zip(self.operands.iter().copied());
                let typed: SmallVec<[_; 3]> = typed.collect();
                match semantics::eval(self.kind, Attrs(&leaf), &typed, self.result) {
                    Outcome::Value(bits) => bits,
                    _ => return None,
                }
            }
        };
        Some(canonical(self.result, bits))
    }

    /// The same row and attributes on other types.
    pub fn on(&self, operands: SmallVec<[Scalar; 3]>, result: Scalar) -> Option<Operation> {
        Operation::new(self.kind, self.leaves.clone(), operands, result)
    }
}

/// Every NaN is one.
pub fn canonical(scalar: Scalar, bits: u64) -> u64 {
    match scalar {
        Scalar::Float(format) if format.is_nan(bits) => format.nan(),
        _ => bits,
    }
}

/// Every elementwise operation of the rows that `wanted` names, on these types.
pub fn all(types: &[Scalar], wanted: &dyn Fn(&OpDef) -> bool) -> Vec<Arc<Operation>> {
    let mut list = Vec::new();
    for (index, row) in Dialect::Nvvm.table().iter().enumerate() {
        let kind = OpKind {
            dialect: Dialect::Nvvm,
            index: index as u8,
        };
        if row.traits.has(Traits::ELEMENTWISE) && wanted(row) {
            instances(kind, types, &mut list);
        }
    }
    list
}

/// A row on all combinations of types and attributes.
fn instances(kind: OpKind, types: &[Scalar], list: &mut Vec<Arc<Operation>>) {
    let row = kind.def();
    let one = |arity| arity == Arity::One;
    if !row.operands.iter().all(|o| one(o.arity)) || row.results.len() != 1 {
        return;
    }
    let choices: Option<Vec<Vec<Leaf>>> = row.attrs.iter().map(cases).collect();
    let Some(choices) = choices else { return };
    for operands in product(&vec![types.to_vec(); row.operands.len()]) {
        let results = match row.results[0].ty {
            ResultType::Operand(i) => operands.get(usize::from(i)).copied().into_iter().collect(),
            ResultType::BoolLike(_) => vec![Scalar::Int(1)],
            ResultType::Explicit => types.to_vec(),
            ResultType::Token => Vec::new(),
        };
        for result in results {
            // The same bits of the same type are no operation.
            if matches!(row.meaning, Some(Meaning::Copy)) && operands[..] == [result] {
                continue;
            }
            for leaves in product(&choices) {
                let operation = Operation::new(
                    kind,
                    leaves.into(),
                    operands.iter().copied().collect(),
                    result,
                );
                list.extend(operation.filter(is_canonical).map(Arc::new));
            }
        }
    }
}

/// The cases of an attribute that are enumerated; nothing for one that is not known.
fn cases(attr: &AttrDef) -> Option<Vec<Leaf>> {
    Some(match attr.kind {
        AttrKind::Enum(def) if std::ptr::eq(def, &enums::ROUNDING) => vec![Leaf::Enum(0)],
        AttrKind::Enum(def) => (0..def.cases.len() as u8).map(Leaf::Enum).collect(),
        AttrKind::Unit if attr.name == "ftz" => vec![Leaf::Absent],
        AttrKind::Unit => vec![Leaf::Absent, Leaf::Unit],
        // The table of a function of three bits.
        AttrKind::Int(_) => (0..256).map(Leaf::Int).collect(),
        _ => return None,
    })
}

/// Of equal operations one is enumerated.
fn is_canonical(operation: &Operation) -> bool {
    !operation.is_without_sign() || operation.leaves.iter().skip(1).all(|l| *l == Leaf::Enum(0))
}

/// All ways to pick one of each list.
fn product<T: Copy>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        let longer = |head: &Vec<T>| {
            let head = head.clone();
            list.iter().map(move |&last| {
                let mut row = head.clone();
                row.push(last);
                row
            })
        };
        all.iter().flat_map(longer).collect()
    })
}
