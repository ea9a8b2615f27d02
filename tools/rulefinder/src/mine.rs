//! Terms that kernels have: the operations around each other in functions of the `nvvm` stage.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tilec::dialect::{Dialect, OpKind, Traits};
use tilec::facts::semantics::{Scalar, element_type};
use tilec::facts::{self, FactMap, Leaf};
use tilec::ir::{Module, OpId, ValueId};

use crate::equation::Equation;
use crate::operations::Operation;
use crate::text;
use crate::tree::Tree;
use crate::vectors::Variable;

/// A term of kernels.
#[derive(Clone, Debug)]
pub struct Term {
    pub variables: Vec<Variable>,
    pub tree: Tree,
    /// Elements that are computed so.
    pub count: u64,
}

/// Operations of a term, at most.
pub const SIZE: usize = 4;
/// Variables of a term, at most.
const VARIABLES: usize = 3;
/// Terms that end with one operation, at most.
const CONES: usize = 48;

/// Terms by their text.
pub type Terms = BTreeMap<String, Term>;

/// Adds the terms of a module's kernels.
pub fn mine(module: &Module, terms: &mut Terms) {
    for func in module.block(module.body).ops.clone() {
        if let Some(body) = module.body_of(func, 0) {
            let facts = facts::of(module, func);
            let mut miner = Miner {
                module,
                facts: &facts,
                made: FxHashMap::default(),
            };
            let inside = module.ops_under(body).into_iter();
            inside.for_each(|op| miner.cones_of(op, terms));
        }
    }
}

/// The operations of a tree alone: what a pattern needs to match.
pub fn shape(tree: &Tree) -> String {
    match tree {
        Tree::Variable(_, scalar) => scalar.to_string(),
        Tree::Constant(_, scalar) => format!("{scalar}c"),
        Tree::Op(operation, args) => {
            let mut args: Vec<String> = args.iter().map(shape).collect();
            if operation.is_commutative() {
                args.sort();
            }
            let leaves: Vec<String> = match operation.is_without_sign() {
                true => operation
                    .leaves
                    .iter()
                    .take(1)
                    .map(|l| format!("{l:?}"))
                    .collect(),
                false => operation.leaves.iter().map(|l| format!("{l:?}")).collect(),
            };
            format!(
                "({} {} {})",
                operation.row().name,
                leaves.join(" "),
                args.join(" ")
            )
        }
    }
}

struct Miner<'m> {
    module: &'m Module,
    facts: &'m FactMap,
    made: FxHashMap<OpId, Option<Arc<Operation>>>,
}

/// A term whose variables are numbered by the values they are.
struct Cone {
    tree: Tree,
    leaves: Vec<ValueId>,
}

impl Miner<'_> {
    fn cones_of(&mut self, op: OpId, terms: &mut Terms) {
        let Some(&result) = self.module.op(op).results.first() else {
            return;
        };
        let count = u64::from(self.module.types.reg_count(self.module.ty(result)));
        for cone in self.cones(result, SIZE) {
            if cone.leaves.len() > VARIABLES || cone.tree.size() == 0 || cone.leaves.is_empty() {
                continue;
            }
            let variable = |&value: &ValueId| {
                let nonneg = self.facts.get(value).is_some_and(|f| f.nonneg());
                let scalar = self.scalar(value)?;
                Some(Variable::new(
                    "v",
                    scalar,
                    nonneg && scalar != Scalar::Int(1),
                ))
            };
            let Some(variables) = cone.leaves.iter().map(variable).collect() else {
                continue;
            };
            let same = Equation {
                variables,
                lhs: cone.tree.clone(),
                rhs: cone.tree,
            };
            let Some(Equation { variables, lhs, .. }) = same.tidy() else {
                continue;
            };
            let key = text::term(&lhs, &variables);
            let term = terms.entry(key).or_insert_with(|| Term {
                variables,
                tree: lhs,
                count: 0,
            });
            term.count += count;
        }
    }

    fn scalar(&self, value: ValueId) -> Option<Scalar> {
        let scalar = element_type(&self.module.types, self.module.ty(value))?;
        matches!(scalar, Scalar::Int(_)).then_some(scalar)
    }

    /// All terms of at most so many operations that compute a value, the value itself first.
    fn cones(&mut self, value: ValueId, size: usize) -> Vec<Cone> {
        let Some(scalar) = self.scalar(value) else {
            return Vec::new();
        };
        if let Some(bits) = self.facts.get(value).and_then(|f| f.constant) {
            return vec![Cone {
                tree: Tree::Constant(bits, scalar),
                leaves: Vec::new(),
            }];
        }
        let mut list = vec![Cone {
            tree: Tree::Variable(0, scalar),
            leaves: vec![value],
        }];
        let (Some(op), true) = (self.module.def_op(value), size > 0) else {
            return list;
        };
        let Some(operation) = self.operation(op) else {
            return list;
        };
        let operands: Vec<ValueId> = self.module.op(op).operands.to_vec();
        let mut partial: Vec<(Vec<Tree>, Vec<ValueId>, usize)> =
            vec![(Vec::new(), Vec::new(), size - 1)];
        for operand in operands {
            let mut next = Vec::new();
            for (args, leaves, left) in &partial {
                for cone in self.cones(operand, *left) {
                    let mut leaves = leaves.clone();
                    let place: Vec<usize> = cone
                        .leaves
                        .iter()
                        .map(|&l| number(&mut leaves, l))
                        .collect();
                    let tree = cone.tree.map(&mut |leaf| match leaf {
                        Tree::Variable(i, scalar) => Tree::Variable(place[*i], *scalar),
                        other => other.clone(),
                    });
                    let left = left - tree.size().min(*left);
                    next.push(([args.clone(), vec![tree]].concat(), leaves, left));
                    if next.len() >= CONES {
                        break;
                    }
                }
            }
            next.truncate(CONES);
            partial = next;
        }
        list.extend(partial.into_iter().map(|(args, leaves, _)| Cone {
            tree: Tree::Op(operation.clone(), args),
            leaves,
        }));
        list
    }

    /// The operation on elements that an operation of the module is.
    fn operation(&mut self, op: OpId) -> Option<Arc<Operation>> {
        if let Some(known) = self.made.get(&op) {
            return known.clone();
        }
        let made = self.elementwise(op).map(Arc::new);
        self.made.insert(op, made.clone());
        made
    }

    fn elementwise(&self, op: OpId) -> Option<Operation> {
        let data = self.module.op(op);
        let row = data.def();
        let is = data.kind.dialect == Dialect::Nvvm && row.traits.has(Traits::ELEMENTWISE);
        if !is || row.meaning.is_none() {
            return None;
        }
        let operands: Option<SmallVec<[Scalar; 3]>> =
            data.operands.iter().map(|&v| self.scalar(v)).collect();
        let kind: OpKind = data.kind;
        let leaves: SmallVec<[Leaf; 4]> = (0..row.attrs.len())
            .map(|i| Leaf::from(data.attr(i)))
            .collect();
        Operation::new(
            kind,
            leaves,
            operands?,
            self.scalar(*data.results.first()?)?,
        )
    }
}

/// The number of a value among the leaves, a new one where it is new.
fn number(leaves: &mut Vec<ValueId>, value: ValueId) -> usize {
    leaves.iter().position(|&l| l == value).unwrap_or_else(|| {
        leaves.push(value);
        leaves.len() - 1
    })
}
