//! Terms as trees.

use std::sync::Arc;

use smallvec::SmallVec;
use tilec::facts::semantics::Scalar;

use crate::operations::Operation;

/// A term over numbered variables.
#[derive(Clone, Debug)]
pub enum Tree {
    Variable(usize, Scalar),
    Constant(u64, Scalar),
    Op(Arc<Operation>, Vec<Tree>),
}

impl Tree {
    pub fn scalar(&self) -> Scalar {
        match self {
            Tree::Variable(_, scalar) | Tree::Constant(_, scalar) => *scalar,
            Tree::Op(operation, _) => operation.result,
        }
    }

    /// How many operations it has.
    pub fn size(&self) -> usize {
        match self {
            Tree::Op(_, args) => 1 + args.iter().map(Tree::size).sum::<usize>(),
            _ => 0,
        }
    }

    /// The value for values of the variables and of the constants, which stand in order of appearance; nothing where
    /// it is not defined.
    pub fn value(&self, variables: &[u64]) -> Option<u64> {
        match self {
            Tree::Variable(i, _) => variables.get(*i).copied(),
            Tree::Constant(bits, _) => Some(*bits),
            Tree::Op(operation, args) => {
                let args: Option<SmallVec<[u64; 3]>> =
                    args.iter().map(|a| a.value(variables)).collect();
                operation.apply(&args?)
            }
        }
    }

    /// The variables in order of appearance.
    pub fn variables(&self) -> Vec<usize> {
        let mut list = Vec::new();
        self.each(&mut |tree| {
            if let Tree::Variable(i, _) = tree
                && !list.contains(i)
            {
                list.push(*i);
            }
        });
        list
    }

    /// The constants in order of appearance, each as often as it stands there.
    pub fn constants(&self) -> Vec<(u64, Scalar)> {
        let mut list = Vec::new();
        self.each(&mut |tree| {
            if let Tree::Constant(bits, scalar) = tree {
                list.push((*bits, *scalar));
            }
        });
        list
    }

    /// Calls `with` with each part, the whole first.
    pub fn each(&self, with: &mut dyn FnMut(&Tree)) {
        with(self);
        if let Tree::Op(_, args) = self {
            args.iter().for_each(|a| a.each(with));
        }
    }

    /// The tree with operands of commutative operations in the order in which rules are written: terms, variables,
    /// constants.
    pub fn ordered(&self) -> Tree {
        let Tree::Op(operation, args) = self else {
            return self.clone();
        };
        let mut args: Vec<Tree> = args.iter().map(Tree::ordered).collect();
        if operation.is_commutative() {
            args.sort_by_key(|arg| match arg {
                Tree::Op(..) => 0,
                Tree::Variable(i, _) => 1 + i,
                Tree::Constant(..) => usize::MAX,
            });
        }
        Tree::Op(operation.clone(), args)
    }

    /// The tree with other leaves, asked for in order of appearance.
    pub fn map(&self, leaf: &mut dyn FnMut(&Tree) -> Tree) -> Tree {
        match self {
            Tree::Op(operation, args) => {
                let args = args.iter().map(|a| a.map(leaf)).collect();
                Tree::Op(operation.clone(), args)
            }
            other => leaf(other),
        }
    }

    /// The same operations on other types, as far as they have a meaning there.
    pub fn retyped(&self, to: &dyn Fn(Scalar) -> Scalar) -> Option<Tree> {
        Some(match self {
            Tree::Variable(i, scalar) => Tree::Variable(*i, to(*scalar)),
            Tree::Constant(bits, scalar) => {
                let (from, to) = (*scalar, to(*scalar));
                Tree::Constant(resized(*bits, from, to)?, to)
            }
            Tree::Op(operation, args) => {
                let args: Option<Vec<Tree>> = args.iter().map(|a| a.retyped(to)).collect();
                let args = args?;
                let operands = args.iter().map(Tree::scalar).collect();
                let operation = operation.on(operands, to(operation.result))?;
                Tree::Op(Arc::new(operation), args)
            }
        })
    }
}

/// An integer that is the same number in another type.
fn resized(bits: u64, from: Scalar, to: Scalar) -> Option<u64> {
    if from == to {
        return Some(bits);
    }
    let (Scalar::Int(from), Scalar::Int(to)) = (from, to) else {
        return None;
    };
    let value = tilec::facts::sign_extend(bits, from);
    let bits = tilec::facts::truncate(value as u64, to);
    (tilec::facts::sign_extend(bits, to) == value).then_some(bits)
}
