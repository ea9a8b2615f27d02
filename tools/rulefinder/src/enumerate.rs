//! Terms by size, in classes of equal values on test vectors. Larger terms are made of one term of each class, the
//! cheapest, so that a term with a part that something cheaper replaces is not made.

use std::hash::Hasher;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use tilec::facts::semantics::Scalar;

use crate::equation::Equation;
use crate::operations::Operation;
use crate::tree::Tree;
use crate::vectors::Variable;

/// What terms are made of.
pub struct Space {
    pub variables: Vec<Variable>,
    pub constants: Vec<(u64, Scalar)>,
    /// Operations with their costs.
    pub operations: Vec<(Arc<Operation>, u64)>,
    /// Values of the variables.
    pub vectors: Vec<Vec<u64>>,
}

/// How far enumeration goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Operations of a term.
    pub size: usize,
    /// Terms that are made.
    pub terms: usize,
}

/// Values of a term; a set bit in the mask says that it is not defined there.
#[derive(Clone, PartialEq, Eq)]
struct Values {
    bits: Box<[u64]>,
    undefined: u128,
}

impl Values {
    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.bits.iter().for_each(|&b| hasher.write_u64(b));
        hasher.write_u128(self.undefined);
        hasher.finish()
    }

    /// The one value that it has everywhere.
    fn constant(&self) -> Option<u64> {
        let first = *self.bits.first()?;
        (self.undefined == 0 && self.bits.iter().all(|&b| b == first)).then_some(first)
    }
}

type ClassId = u32;

enum Form {
    Variable(usize),
    Constant(u64),
    Op(u32, SmallVec<[ClassId; 3]>),
}

/// Terms of equal values, of which one is kept.
struct Class {
    form: Form,
    scalar: Scalar,
    values: Values,
    cost: u64,
    /// Whether larger terms are made of it: not of fused forms.
    grows: bool,
}

/// What became of the enumeration of a space.
#[derive(Clone, Copy, Default, Debug)]
pub struct Made {
    pub terms: usize,
    pub classes: usize,
    /// Whether the limit of terms ended it.
    pub cut: bool,
}

/// The classes of a space, on the way.
pub struct Enumeration<'s> {
    space: &'s Space,
    classes: Vec<Class>,
    found: FxHashMap<(Scalar, u64), Vec<ClassId>>,
    /// Classes by the size of the smallest term.
    levels: Vec<Vec<ClassId>>,
    pub made: Made,
}

impl<'s> Enumeration<'s> {
    /// The leaves of a space.
    pub fn new(space: &'s Space) -> Enumeration<'s> {
        let mut all = Enumeration {
            space,
            classes: Vec::new(),
            found: FxHashMap::default(),
            levels: vec![Vec::new()],
            made: Made::default(),
        };
        for (i, variable) in space.variables.iter().enumerate() {
            let bits = space.vectors.iter().map(|v| v.get(i).copied().unwrap_or(0));
            let values = Values {
                bits: bits.collect(),
                undefined: 0,
            };
            all.insert(
                Form::Variable(i),
                variable.scalar,
                values,
                (0, true),
                0,
                &mut |_| (),
            );
        }
        for &(bits, scalar) in &space.constants {
            all.constant(bits, scalar);
        }
        all
    }

    fn constant(&mut self, bits: u64, scalar: Scalar) -> ClassId {
        let values = Values {
            bits: vec![bits; self.space.vectors.len()].into(),
            undefined: 0,
        };
        self.insert(
            Form::Constant(bits),
            scalar,
            values,
            (0, true),
            0,
            &mut |_| (),
        )
    }

    /// Makes all terms up to a size. Each one that equals a cheaper term, or is cheaper than an equal one, is an
    /// equation.
    pub fn run(&mut self, limits: Limits, equation: &mut dyn FnMut(Equation)) {
        for size in 1..=limits.size {
            self.levels.push(Vec::new());
            for number in 0..self.space.operations.len() {
                let arity = self.space.operations[number].0.operands.len();
                for sizes in partitions(size - 1, arity) {
                    if !self.combine(number, &sizes, limits, equation) {
                        self.made.cut = true;
                        return;
                    }
                }
            }
        }
    }

    /// All terms of an operation with operands of these sizes; whether the limit leaves room for more.
    fn combine(
        &mut self,
        number: usize,
        sizes: &[usize],
        limits: Limits,
        equation: &mut dyn FnMut(Equation),
    ) -> bool {
        let operation = self.space.operations[number].0.clone();
        let lists: Vec<Vec<ClassId>> = sizes
            .iter()
            .zip(&operation.operands)
            .map(|(&size, &scalar)| self.of(size, scalar))
            .collect();
        if operation.is_fused() && sizes.iter().any(|&s| s > 0) || lists.iter().any(Vec::is_empty) {
            return true;
        }
        let mut at = vec![0; lists.len()];
        loop {
            let args: SmallVec<[ClassId; 3]> =
                lists.iter().zip(&at).map(|(list, &i)| list[i]).collect();
            if self.is_wanted(&operation, &args) {
                if self.made.terms >= limits.terms {
                    return false;
                }
                self.term(number, args, sizes.iter().sum::<usize>() + 1, equation);
            }
            let next = (0..at.len()).rev().find(|&i| at[i] + 1 < lists[i].len());
            let Some(next) = next else { return true };
            at[next] += 1;
            at[next + 1..].fill(0);
        }
    }

    /// The classes of a size and type that terms are made of.
    fn of(&self, size: usize, scalar: Scalar) -> Vec<ClassId> {
        let level = self.levels.get(size).map_or(&[][..], |l| l);
        let fits = |&&id: &&ClassId| {
            let class = &self.classes[id as usize];
            class.scalar == scalar && class.grows
        };
        level.iter().filter(fits).copied().collect()
    }

    /// Whether a term is made: not one of constants alone, and of two orders of operands one.
    fn is_wanted(&self, operation: &Operation, args: &[ClassId]) -> bool {
        let constant = |id: &ClassId| {
            let class = &self.classes[*id as usize];
            matches!(class.form, Form::Constant(_))
        };
        if args.iter().all(constant) {
            return false;
        }
        match args {
            [a, b, ..] if operation.is_commutative() => a >= b,
            _ => true,
        }
    }

    fn term(
        &mut self,
        number: usize,
        args: SmallVec<[ClassId; 3]>,
        size: usize,
        equation: &mut dyn FnMut(Equation),
    ) {
        let (operation, own) = &self.space.operations[number];
        self.made.terms += 1;
        let classes = &self.classes;
        let parts = args.iter().map(|&a| &classes[a as usize].values);
        let mut undefined = parts.clone().fold(0, |u, v| u | v.undefined);
        let lists: SmallVec<[&[u64]; 3]> = parts.map(|v| &v.bits[..]).collect();
        let mut bits = Vec::with_capacity(self.space.vectors.len());
        let mut operands = [0; 3];
        for i in 0..self.space.vectors.len() {
            for (operand, list) in operands.iter_mut().zip(&lists) {
                *operand = list[i];
            }
            let value = match undefined >> i & 1 {
                0 => operation.apply(&operands[..lists.len()]),
                _ => None,
            };
            if value.is_none() {
                undefined |= 1 << i;
            }
            bits.push(value.unwrap_or(0));
        }
        drop(lists);
        let values = Values {
            bits: bits.into(),
            undefined,
        };
        let mut parts: SmallVec<[ClassId; 3]> = args.clone();
        parts.sort_unstable();
        parts.dedup();
        let cost = own + parts.iter().map(|&a| classes[a as usize].cost).sum::<u64>();
        let (grows, scalar) = (!operation.is_fused(), operation.result);
        if let Some(bits) = values.constant() {
            self.constant(bits, scalar);
        }
        let form = Form::Op(number as u32, args);
        self.insert(form, scalar, values, (cost, grows), size, equation);
    }

    /// Adds a term to the class of its values, a new one where there is none.
    fn insert(
        &mut self,
        form: Form,
        scalar: Scalar,
        values: Values,
        (cost, grows): (u64, bool),
        size: usize,
        equation: &mut dyn FnMut(Equation),
    ) -> ClassId {
        let same = self.found.entry((scalar, values.hash())).or_default();
        let known = same.iter().copied();
        let known = known
            .filter(|&id| self.classes[id as usize].values == values)
            .min();
        let Some(id) = known else {
            let id = self.classes.len() as ClassId;
            same.push(id);
            self.classes.push(Class {
                form,
                scalar,
                values,
                cost,
                grows,
            });
            self.levels[size].push(id);
            self.made.classes += 1;
            return id;
        };
        let (old, mine) = (&self.classes[id as usize], self.tree(&form, scalar));
        let theirs = self.tree(&old.form, old.scalar);
        let (lhs, rhs) = match cost.cmp(&old.cost) {
            std::cmp::Ordering::Greater => (mine, theirs),
            std::cmp::Ordering::Less => (theirs, mine),
            std::cmp::Ordering::Equal => return id,
        };
        let fused = |tree: &Tree| matches!(tree, Tree::Op(operation, _) if operation.is_fused());
        if !fused(&lhs) {
            equation(Equation {
                variables: self.space.variables.clone(),
                lhs,
                rhs,
            });
        }
        let old = &mut self.classes[id as usize];
        // A fused form is the cheapest, and nothing is made of it.
        if cost < old.cost && grows {
            (old.form, old.cost, old.grows) = (form, cost, grows);
        }
        id
    }

    fn tree(&self, form: &Form, scalar: Scalar) -> Tree {
        match form {
            Form::Variable(i) => Tree::Variable(*i, scalar),
            Form::Constant(bits) => Tree::Constant(*bits, scalar),
            Form::Op(number, args) => {
                let part = |&id: &ClassId| {
                    let class = &self.classes[id as usize];
                    self.tree(&class.form, class.scalar)
                };
                let operation = self.space.operations[*number as usize].0.clone();
                Tree::Op(operation, args.iter().map(part).collect())
            }
        }
    }

    /// The cheapest term with these values on all vectors, and its cost.
    pub fn equal(&self, goal: &Tree) -> Option<(Tree, u64)> {
        let mut undefined = 0;
        let value = |(i, vector): (usize, &Vec<u64>)| {
            let value = goal.value(vector);
            undefined |= u128::from(value.is_none()) << i;
            value.unwrap_or(0)
        };
        let bits = self.space.vectors.iter().enumerate().map(value).collect();
        let values = Values { bits, undefined };
        let ids = self.found.get(&(goal.scalar(), values.hash()))?.iter();
        let id = ids
            .copied()
            .find(|&id| self.classes[id as usize].values == values)?;
        let class = &self.classes[id as usize];
        Some((self.tree(&class.form, class.scalar), class.cost))
    }
}

/// All ways in which `n` operations are so many operands'.
fn partitions(n: usize, operands: usize) -> Vec<Vec<usize>> {
    match operands {
        0 => Vec::new(),
        1 => vec![vec![n]],
        _ => (0..=n)
            .flat_map(|first| {
                partitions(n - first, operands - 1)
                    .into_iter()
                    .map(move |rest| [vec![first], rest].concat())
            })
            .collect(),
    }
}
