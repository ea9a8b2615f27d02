//! Replacements in the e-graph.

use egg::Id;
use smallvec::SmallVec;

use super::guards::{self, Number};
use super::literal::{int_bits, literal_bits};
use super::rule::{AttrExpr, ConstValue, ElemTest, OpTemplate, Template, TypeExpr};
use crate::dialect::{AttrKind, OpDef, OpKind, ResultType, Traits};
use crate::egraph::analysis::{Graph, add_operation};
use crate::egraph::matcher::{Bind, Binds};
use crate::egraph::node::{AttrsId, Head, Leaf, Node, is_effect};
use crate::ir::{Attr, Type, TypeId};
use crate::scalar::{Overflow, Rounding};

/// Why a replacement could not be built: a mistake in the rule, or a constant that does not fit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    #[error("the type of {0} is not known from its place; write it")]
    Type(String),
    #[error("a computed constant has no value or does not fit its type")]
    Constant,
    #[error("an effect below the root")]
    Effect,
    #[error("a variable is used where its binding does not fit")]
    Binding,
}

/// A replacement under construction.
pub struct Build<'a> {
    pub graph: &'a mut Graph,
    pub binds: &'a Binds,
    /// Type of the matched root.
    root: Option<TypeId>,
    /// What the rule's `let`s name.
    locals: &'a [Template],
    /// The locals made so far.
    made: SmallVec<[Option<Id>; 8]>,
}

impl<'a> Build<'a> {
    /// Replacements of a root of type `root`; `locals` are those of the rule.
    pub fn new(
        graph: &'a mut Graph,
        binds: &'a Binds,
        locals: &'a [Template],
        root: Option<TypeId>,
    ) -> Self {
        Build {
            graph,
            binds,
            root,
            locals,
            made: SmallVec::from_elem(None, locals.len()),
        }
    }

    /// Adds `template` as an equal of the matched root.
    pub fn root(&mut self, template: &Template) -> Result<Id, BuildError> {
        self.make(template, self.root, true)
    }

    fn make(
        &mut self,
        template: &Template,
        want: Option<TypeId>,
        root: bool,
    ) -> Result<Id, BuildError> {
        match template {
            Template::Var(slot) => match self.binds.slots.get(*slot as usize) {
                Some(Bind::Class(id)) => Ok(self.graph.find(*id)),
                _ => Err(BuildError::Binding),
            },
            Template::Local(i) => {
                let i = usize::from(*i);
                if let Some(id) = self.made.get(i).copied().flatten() {
                    return Ok(self.graph.find(id));
                }
                let locals = self.locals;
                let id = self.make(locals.get(i).ok_or(BuildError::Binding)?, want, false)?;
                self.made[i] = Some(id);
                Ok(id)
            }
            Template::Absent => Ok(self.graph.add(Node::leaf(Head::Absent))),
            Template::List(items) => {
                let children = items
                    .iter()
                    .map(|i| self.make(i, None, false))
                    .collect::<Result<_, _>>()?;
                Ok(self.graph.add(Node {
                    head: Head::List,
                    attrs: AttrsId::NONE,
                    children,
                }))
            }
            Template::Const { kind, value, ty } => {
                let ty = match ty {
                    Some(expr) => self.type_expr(expr),
                    None => want,
                };
                let ty = ty.ok_or_else(|| BuildError::Type("a constant".into()))?;
                self.constant(*kind, value, ty)
            }
            Template::Op(op) => self.operation(op, want, root),
        }
    }

    fn constant(&mut self, kind: OpKind, value: &ConstValue, ty: TypeId) -> Result<Id, BuildError> {
        let types = &self.graph.analysis.types;
        let bits = match value {
            ConstValue::Literal(literal) => literal_bits(types, literal, ty),
            ConstValue::Computed(expr) => {
                let number =
                    guards::eval(self.graph, self.binds, expr).ok_or(BuildError::Constant)?;
                match (types.get(types.elem(ty)), number) {
                    (Type::Int(bits), Number::Int(i)) => int_bits(i, *bits),
                    (Type::Float(f), Number::Float(v)) => {
                        Some(f.encode(v, Rounding::NearestEven, Overflow::Ieee))
                    }
                    // A float from an integer computation is its bit pattern.
                    (Type::Float(f), Number::Int(i)) => int_bits(i, f.bits()),
                    _ => None,
                }
            }
        };
        let bits = bits.ok_or(BuildError::Constant)?;
        let list = [Leaf::Bits(bits), Leaf::Type(ty)].into_iter().collect();
        let attrs = self.graph.analysis.attrs.intern(list);
        Ok(self.graph.add(Node {
            head: Head::Op(kind),
            attrs,
            children: SmallVec::new(),
        }))
    }

    fn operation(
        &mut self,
        op: &OpTemplate,
        want: Option<TypeId>,
        root: bool,
    ) -> Result<Id, BuildError> {
        let def = self
            .graph
            .analysis
            .def(op.head)
            .ok_or(BuildError::Binding)?;
        let mut attrs: SmallVec<[Leaf; 6]> = SmallVec::new();
        if is_effect(def) {
            let effect = self
                .binds
                .effect
                .filter(|_| root)
                .ok_or(BuildError::Effect)?;
            attrs.push(Leaf::Effect(effect));
        }
        for (i, attr) in op.attrs.iter().enumerate() {
            let kind = def.attrs.get(i).map_or(AttrKind::Type, |a| a.kind);
            attrs.push(self.attribute(attr, kind, want, def)?);
        }
        let children = self.children(op, def, want)?;
        let attrs = self.graph.analysis.attrs.intern(attrs);
        let node = Node {
            head: op.head,
            attrs,
            children,
        };
        Ok(add_operation(self.graph, def, node))
    }

    /// Operands: first those that have a type by themselves, then the others typed like them.
    fn children(
        &mut self,
        op: &OpTemplate,
        def: &OpDef,
        want: Option<TypeId>,
    ) -> Result<SmallVec<[Id; 4]>, BuildError> {
        let mut made: SmallVec<[Option<Id>; 4]> = SmallVec::new();
        made.resize(op.children.len(), None);
        for pass in [true, false] {
            for (i, child) in op.children.iter().enumerate() {
                if (!pass || self.typed(child)) && made[i].is_none() {
                    let ty = self.child_type(def, i, want, &made);
                    made[i] = Some(self.make(child, ty, false)?);
                }
            }
        }
        made.into_iter()
            .map(|id| id.ok_or(BuildError::Binding))
            .collect()
    }

    /// Whether a form has a type by itself.
    fn typed(&self, template: &Template) -> bool {
        match template {
            Template::Const { ty, .. } => ty.is_some(),
            Template::Local(i) => {
                let i = usize::from(*i);
                self.made.get(i).is_some_and(Option::is_some)
                    || self.locals.get(i).is_some_and(|l| self.typed(l))
            }
            Template::Op(op) => {
                let Some(def) = self.graph.analysis.def(op.head) else {
                    return true;
                };
                match def.results.first().map(|r| r.ty) {
                    Some(ResultType::Operand(_)) => {
                        let skip = usize::from(def.name == "select");
                        op.children.iter().skip(skip).any(|c| self.typed(c))
                    }
                    Some(ResultType::Explicit) => !op.attrs.contains(&AttrExpr::Inferred),
                    _ => true,
                }
            }
            _ => true,
        }
    }

    /// The type that operand `i` must have, as far as the row and the other operands tell.
    fn child_type(
        &mut self,
        def: &OpDef,
        i: usize,
        want: Option<TypeId>,
        made: &[Option<Id>],
    ) -> Option<TypeId> {
        let result = def.results.first().map(|r| r.ty);
        let of = |b: &Self, j: usize| b.graph[made.get(j).copied().flatten()?].data.ty;
        match (def.name, i) {
            // The condition of a selection, byte offsets of addresses.
            ("select", 0) => {
                let i1 = self.graph.analysis.types.int(1);
                return want.map(|w| self.graph.analysis.like(w, i1));
            }
            ("ptr_add", 1) => {
                let base = of(self, 0).or(want)?;
                let types = &mut self.graph.analysis.types;
                let bits = if *types.get(types.elem(base)) == Type::SharedPtr {
                    32
                } else {
                    64
                };
                let offset = types.int(bits);
                return Some(self.graph.analysis.like(base, offset));
            }
            ("offset" | "fpowi", 1) => return None,
            _ => {}
        }
        let same = def.traits.has(Traits::ELEMENTWISE);
        match result {
            Some(ResultType::Operand(j)) if same || j as usize == i => {
                // The condition of a selection is no sibling of its values.
                let skip = usize::from(def.name == "select");
                want.or_else(|| self.sibling(i, made, skip))
            }
            Some(ResultType::BoolLike(_)) => self.sibling(i, made, 0),
            _ => None,
        }
    }

    fn sibling(&self, i: usize, made: &[Option<Id>], skip: usize) -> Option<TypeId> {
        let others = made.iter().enumerate().skip(skip).filter(|(j, _)| *j != i);
        others
            .filter_map(|(_, id)| self.graph[(*id)?].data.ty)
            .next()
    }

    fn attribute(
        &mut self,
        attr: &AttrExpr,
        kind: AttrKind,
        want: Option<TypeId>,
        def: &OpDef,
    ) -> Result<Leaf, BuildError> {
        match attr {
            AttrExpr::Is(leaf) => Ok(*leaf),
            AttrExpr::Var(slot) => match self.binds.slots.get(*slot as usize) {
                Some(Bind::Leaf(leaf)) => Ok(*leaf),
                _ => match guards::eval(self.graph, self.binds, &super::rule::Expr::Var(*slot)) {
                    Some(Number::Int(i)) => int_leaf(i),
                    _ => Err(BuildError::Binding),
                },
            },
            AttrExpr::Int(expr) => match guards::eval(self.graph, self.binds, expr) {
                Some(Number::Int(i)) => int_leaf(i),
                _ => Err(BuildError::Constant),
            },
            AttrExpr::Type(expr) => {
                let ty = self.type_expr(expr);
                ty.map(Leaf::Type)
                    .ok_or_else(|| BuildError::Type(def.name.to_string()))
            }
            AttrExpr::Inferred => want
                .map(Leaf::Type)
                .ok_or_else(|| BuildError::Type(def.name.to_string())),
            AttrExpr::AddEach(slot, by) => {
                let list =
                    guards::list(self.graph, self.binds, *slot).ok_or(BuildError::Binding)?;
                let by = match guards::eval(self.graph, self.binds, by) {
                    Some(Number::Int(i)) => i,
                    _ => return Err(BuildError::Constant),
                };
                self.ints(list.into_iter().map(|x| x + by), kind)
            }
            AttrExpr::Ints(exprs) => {
                let numbers = exprs
                    .iter()
                    .map(|e| match guards::eval(self.graph, self.binds, e) {
                        Some(Number::Int(i)) => Ok(i),
                        _ => Err(BuildError::Constant),
                    });
                let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
                self.ints(numbers.into_iter(), kind)
            }
        }
    }

    fn ints(
        &mut self,
        numbers: impl Iterator<Item = i128>,
        kind: AttrKind,
    ) -> Result<Leaf, BuildError> {
        let attr = match kind {
            AttrKind::I32s => {
                let list: Result<_, _> = numbers.map(i32::try_from).collect();
                Attr::I32s(list.map_err(|_| BuildError::Constant)?)
            }
            _ => {
                let list: Result<_, _> = numbers.map(i64::try_from).collect();
                Attr::I64s(list.map_err(|_| BuildError::Constant)?)
            }
        };
        Ok(self.graph.analysis.attrs.data(attr))
    }

    /// A tile of other extents than the variable's, by one of these, which is counted from the last.
    fn dimension(&mut self, slot: u8, dim: u8, reshaped: Reshaped) -> Option<TypeId> {
        let ty = guards::type_of(self.graph, self.binds, slot)?;
        let types = &mut self.graph.analysis.types;
        let Type::Tile { elem, shape } = types.get(ty).clone() else {
            return None;
        };
        let at = shape.len().checked_sub(1 + usize::from(dim))?;
        let shape = reshaped(&shape, at, *shape.get(at)?);
        Some(types.intern(Type::Tile { elem, shape }))
    }

    fn type_expr(&mut self, expr: &TypeExpr) -> Option<TypeId> {
        let scalar = |b: &mut Self, test: &ElemTest| test.scalar(&mut b.graph.analysis.types);
        match expr {
            TypeExpr::Elem(test) => {
                let elem = scalar(self, test)?;
                let shape = self.root?;
                Some(self.graph.analysis.like(shape, elem))
            }
            TypeExpr::Like(slot, test) => {
                let elem = scalar(self, test)?;
                let shape = guards::type_of(self.graph, self.binds, *slot)?;
                Some(self.graph.analysis.like(shape, elem))
            }
            TypeExpr::Of(slot) => guards::type_of(self.graph, self.binds, *slot),
            TypeExpr::ElemOf(slot) => {
                let ty = guards::type_of(self.graph, self.binds, *slot)?;
                Some(self.graph.analysis.types.elem(ty))
            }
            TypeExpr::Only(slot, dim) => self.dimension(*slot, *dim, |shape, at, extent| {
                let extents = (0..shape.len()).map(|d| if d == at { extent } else { 1 });
                extents.collect()
            }),
            TypeExpr::Dimension(slot, dim) => {
                self.dimension(*slot, *dim, |_, _, extent| [extent].into_iter().collect())
            }
            TypeExpr::Root => self.root,
            TypeExpr::Scalar(test) => scalar(self, test),
        }
    }
}

/// Of a tile's extents, with the place of one of them and itself, those of another.
type Reshaped = fn(&[u64], usize, u64) -> SmallVec<[u64; 4]>;

fn int_leaf(i: i128) -> Result<Leaf, BuildError> {
    i64::try_from(i)
        .map(Leaf::Int)
        .map_err(|_| BuildError::Constant)
}
