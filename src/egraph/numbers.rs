//! Register arrays of different numbers: sums, differences, products and shifts of them are such arrays.
//!
//! What is widened or taken of numbers stays an operation: a product with a widened number is one instruction of half the width.

use egg::Id;
use smallvec::SmallVec;

use super::analysis::Graph;
use super::node::{Head, Leaf, Node};
use crate::dialect::OpKind;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nvvm::Op as N;
use crate::facts::elements;
use crate::facts::semantics::{Attrs, Outcome, element_type, eval};
use crate::ir::{Attr, Dense, Type, TypeId};

/// Most registers of an array that is computed.
const MOST: usize = 256;
/// Most operations behind each other that widen or take numbers.
const DEEPEST: usize = 4;

/// A class that computes integers of different numbers gets a constant node.
pub fn fold(graph: &mut Graph, id: Id) {
    if let Some(node) = constant(graph, id) {
        let constant = graph.add(node);
        graph.union(id, constant);
    }
}

/// The constant that the class is, unless it is of equal numbers.
fn constant(graph: &mut Graph, id: Id) -> Option<Node> {
    let class = &graph[id];
    let [node] = class.nodes.as_slice() else {
        return None;
    };
    let Head::Op(kind) = node.head else {
        return None;
    };
    let folds = matches!(N::of(kind)?, N::Add | N::Sub | N::Mul | N::Shl);
    if !folds || class.data.facts.constant.is_some() {
        return None;
    }
    let ty = class.data.ty?;
    let bytes = graph.analysis.types.bits(ty)?.div_ceil(8) as usize;
    let numbers = computed(graph, node, kind, ty, DEEPEST)?;
    let mut data = Vec::with_capacity(numbers.len() * bytes);
    for bits in numbers {
        data.extend_from_slice(bits.to_le_bytes().get(..bytes)?);
    }
    let data = Dense::Bytes(data);
    let attrs = &mut graph.analysis.attrs;
    let value = attrs.leaf_of(&graph.analysis.types, Some(&Attr::Dense { data, ty }));
    Some(Node {
        head: Head::Op(graph.analysis.constant?),
        attrs: attrs.intern([value, Leaf::Type(ty)].into_iter().collect()),
        children: SmallVec::new(),
    })
}

/// Whether a class is a constant, of equal elements or of different ones, as it is, widened or taken.
pub fn are(graph: &Graph, id: Id) -> bool {
    are_within(graph, id, DEEPEST)
}

fn are_within(graph: &Graph, id: Id, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    graph[id].nodes.iter().any(|node| {
        let Head::Op(kind) = node.head else {
            return false;
        };
        let first = || node.children.first().copied();
        match N::of(kind) {
            Some(N::ZExt | N::SExt | N::Take) => {
                first().is_some_and(|c| are_within(graph, c, depth))
            }
            known => known == Some(N::Const) || C::of(kind) == Some(C::Constant),
        }
    })
}

/// What an operation makes of numbers.
fn computed(
    graph: &Graph,
    node: &Node,
    kind: OpKind,
    ty: TypeId,
    depth: usize,
) -> Option<Vec<u64>> {
    let types = &graph.analysis.types;
    let Type::Regs { n, .. } = types.get(ty) else {
        return None;
    };
    let count = Some(*n as usize).filter(|&n| n <= MOST)?;
    let operands = node.children.iter().map(|&c| Numbers::of(graph, c, depth));
    let operands = operands.collect::<Option<SmallVec<[Numbers; 2]>>>()?;
    let leaves = graph.analysis.attrs.get(node.attrs);
    if N::of(kind) == Some(N::Take) {
        let Some(Attr::I32s(indices)) = graph.analysis.attrs.structured(*leaves.first()?) else {
            return None;
        };
        let taken = indices.iter();
        let taken = taken.map(|&i| operands.first()?.at(usize::try_from(i).ok()?));
        return taken.collect();
    }
    let leaf = |i: usize| leaves.get(i).copied().unwrap_or(Leaf::Absent);
    let scalars = node.children.iter();
    let scalars = scalars.map(|&c| element_type(types, graph[c].data.ty?));
    let scalars = scalars.collect::<Option<SmallVec<[_; 2]>>>()?;
    let result = element_type(types, ty)?;
    let of = |i: usize| {
        let elements = operands.iter().zip(&scalars);
        let elements = elements.map(|(numbers, &scalar)| Some((numbers.at(i)?, scalar)));
        let elements = elements.collect::<Option<SmallVec<[_; 2]>>>()?;
        match eval(kind, Attrs(&leaf), &elements, result) {
            Outcome::Value(bits) => Some(bits),
            _ => None,
        }
    };
    (0..count).map(of).collect()
}

/// The known elements of a class.
enum Numbers {
    Equal(u64),
    Each(Vec<u64>),
}

impl Numbers {
    fn of(graph: &Graph, id: Id, depth: usize) -> Option<Numbers> {
        let depth = depth.checked_sub(1)?;
        let class = &graph[id];
        if let Some(bits) = class.data.facts.constant {
            return Some(Numbers::Equal(bits));
        }
        let found = class.nodes.iter().find_map(|node| {
            let Head::Op(kind) = node.head else {
                return None;
            };
            match N::of(kind)? {
                N::Const => written(graph, node),
                N::ZExt | N::SExt | N::Take => computed(graph, node, kind, class.data.ty?, depth),
                _ => None,
            }
        });
        found.map(Numbers::Each)
    }

    fn at(&self, i: usize) -> Option<u64> {
        match self {
            Numbers::Equal(bits) => Some(*bits),
            Numbers::Each(all) => all.get(i).copied(),
        }
    }
}

/// The numbers of a constant.
fn written(graph: &Graph, node: &Node) -> Option<Vec<u64>> {
    let attrs = &graph.analysis.attrs;
    let Some(Attr::Dense {
        data: Dense::Bytes(bytes),
        ty,
    }) = attrs.structured(*attrs.get(node.attrs).first()?)
    else {
        return None;
    };
    Some(elements(bytes, graph.analysis.types.bits(*ty)?).collect())
}
