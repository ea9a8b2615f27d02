//! Random instances of a rule's pattern.

use egg::Id;
use smallvec::SmallVec;

use super::program::Input;
use super::random::Random;
use crate::dialect::{AttrKind, Dialect, OpDef, OpKind, ResultType, Traits, cuda_tile, nvvm};
use crate::egraph::analysis::Graph;
use crate::egraph::literal::literal_bits;
use crate::egraph::node::{AttrsId, Head, Leaf, Node, explicit_results};
use crate::egraph::rule::{AttrPattern, Constraint, ElemTest, Literal, OpPattern, Pattern, Rule};
use crate::facts::semantics::{Scalar, element_type};
use crate::facts::{Facts, int_range};
use crate::ir::{Attr, Float, Type, TypeId};

const INTS: [u32; 6] = [1, 4, 8, 16, 32, 64];
const FLOATS: [Float; 4] = [Float::F32, Float::F16, Float::BF16, Float::F64];

/// One instance of a pattern.
pub struct Trial<'a> {
    graph: &'a mut Graph,
    rule: &'a Rule,
    random: &'a mut Random,
    slots: Vec<Slot>,
    inputs: Vec<Input>,
}

#[derive(Clone, Copy)]
enum Slot {
    Open,
    Class(Id),
    Leaf(Leaf),
}

impl<'a> Trial<'a> {
    pub fn new(graph: &'a mut Graph, rule: &'a Rule, random: &'a mut Random) -> Trial<'a> {
        Trial {
            graph,
            rule,
            random,
            slots: vec![Slot::Open; rule.vars.len()],
            inputs: Vec::new(),
        }
    }

    /// The free variables of what was built.
    pub fn inputs(self) -> Vec<Input> {
        self.inputs
    }

    /// An instance of `pattern`; `None` where this draw leads nowhere.
    pub fn pattern(&mut self, pattern: &Pattern, want: Option<TypeId>) -> Option<Id> {
        match pattern {
            Pattern::Any => {
                let ty = want.or_else(|| self.any_type(&[]))?;
                Some(self.input("_", None, ty, &[]))
            }
            Pattern::Var { slot, constraints } => self.variable(*slot, constraints, want),
            Pattern::Literal(literal) => {
                let truth =
                    matches!(literal, Literal::Bool(_)).then(|| self.graph.analysis.types.int(1));
                let ty = want.or(truth)?;
                let bits = match literal {
                    Literal::Nan => self
                        .random
                        .value(element_type(&self.graph.analysis.types, ty)?),
                    other => literal_bits(&self.graph.analysis.types, other, ty)?,
                };
                Some(self.constant(bits, ty))
            }
            Pattern::Absent => Some(self.graph.add(Node::leaf(Head::Absent))),
            Pattern::List(items) => {
                let children = items
                    .iter()
                    .map(|i| self.pattern(i, None))
                    .collect::<Option<_>>()?;
                Some(self.graph.add(Node {
                    head: Head::List,
                    attrs: AttrsId::NONE,
                    children,
                }))
            }
            Pattern::Op(op) => self.operation(op, want),
        }
    }

    fn operation(&mut self, op: &OpPattern, want: Option<TypeId>) -> Option<Id> {
        let def = self.graph.analysis.def(op.head)?;
        if !def.is_pure() {
            return None;
        }
        let mut children: SmallVec<[Option<Id>; 4]> = SmallVec::new();
        children.resize(op.children.len(), None);
        for literals in [false, true] {
            for (i, child) in op.children.iter().enumerate() {
                if matches!(child, Pattern::Literal(_)) == literals {
                    let want = self.child_type(def, i, want, &children);
                    children[i] = Some(self.pattern(child, want)?);
                }
            }
        }
        // What is taken or repeated has the type of what it is taken from.
        let source = children
            .first()
            .copied()
            .flatten()
            .filter(|_| matches!(def.name, "take" | "splat"));
        let source = source.and_then(|id| self.graph[id].data.ty);
        let want = source.or(want);
        let mut attrs: SmallVec<[Leaf; 6]> = SmallVec::new();
        for (i, pattern) in op.attrs.iter().enumerate() {
            let kind = def.attrs.get(i).map_or(AttrKind::Type, |a| a.kind);
            let optional = def.attrs.get(i).is_some_and(|a| a.optional);
            attrs.push(self.attribute(pattern, kind, optional, want)?);
        }
        let typed = |leaf: &Leaf| !matches!(leaf, Leaf::Type(ty) if source != Some(*ty));
        if source.is_some() && !attrs.iter().all(typed) {
            return None;
        }
        debug_assert_eq!(op.attrs.len(), def.attrs.len() + explicit_results(def));
        let attrs = self.graph.analysis.attrs.intern(attrs);
        let children = children.into_iter().collect::<Option<_>>()?;
        Some(self.graph.add(Node {
            head: op.head,
            attrs,
            children,
        }))
    }

    /// The type that an operand must have, by the row and the operands drawn before.
    fn child_type(
        &mut self,
        def: &OpDef,
        i: usize,
        want: Option<TypeId>,
        made: &[Option<Id>],
    ) -> Option<TypeId> {
        let types = &mut self.graph.analysis.types;
        match (def.name, i) {
            ("select", 0) => return Some(types.int(1)),
            ("take" | "splat", 0) => return want,
            ("ptr_add", 1) => return Some(types.int(64)),
            ("offset" | "fpowi", 1) => return None,
            ("ptr_add" | "offset", 0) => {
                let pointee = types.float(Float::F32);
                return Some(types.intern(Type::Ptr { pointee, attr: 0 }));
            }
            _ => {}
        }
        let skip = usize::from(def.name == "select");
        let sibling = made.iter().enumerate().skip(skip).filter(|(j, _)| *j != i);
        let sibling = sibling
            .filter_map(|(_, id)| self.graph[(*id)?].data.ty)
            .next();
        let same = def.traits.has(Traits::ELEMENTWISE);
        match def.results.first().map(|r| r.ty) {
            Some(ResultType::Operand(_)) if same => sibling.or(want),
            Some(ResultType::BoolLike(_)) => sibling,
            _ => None,
        }
    }

    fn variable(
        &mut self,
        slot: u8,
        constraints: &[Constraint],
        want: Option<TypeId>,
    ) -> Option<Id> {
        match self.slots[slot as usize] {
            Slot::Class(id) => return Some(id),
            Slot::Leaf(_) => return None,
            Slot::Open => {}
        }
        let tests: Vec<ElemTest> = constraints
            .iter()
            .filter_map(|c| match c {
                Constraint::Elem(tests) => Some(&**tests),
                _ => None,
            })
            .flatten()
            .copied()
            .collect();
        let limit = self
            .rule
            .check
            .types
            .iter()
            .find(|(s, _)| *s == slot)
            .map(|(_, t)| t.clone());
        let ty = match want {
            Some(ty) => ty,
            None => self.any_type(limit.as_deref().unwrap_or(&tests))?,
        };
        let fits = |tests: &[ElemTest], b: &Self| {
            tests.is_empty()
                || tests
                    .iter()
                    .any(|t| crate::egraph::matcher::elem_is(&b.graph.analysis.types, *t, ty))
        };
        if !fits(&tests, self) || !limit.is_none_or(|l| fits(&l, self)) {
            return None;
        }
        // Each element of an array of numbers is one for itself.
        let number = |c: &Constraint| matches!(c, Constraint::Const | Constraint::Numbers);
        let constant = constraints.iter().any(number);
        let id = if constant {
            let scalar = element_type(&self.graph.analysis.types, ty)?;
            let bits = self.random.value(scalar);
            self.constant(bits, ty)
        } else {
            let name = self.rule.vars[slot as usize].clone();
            self.input(&name, Some(slot), ty, constraints)
        };
        self.slots[slot as usize] = Slot::Class(id);
        Some(id)
    }

    fn constant(&mut self, bits: u64, ty: TypeId) -> Id {
        let op: OpKind = match self.rule.dialects.0 {
            Dialect::CudaTile => cuda_tile::Op::Constant.into(),
            _ => nvvm::Op::Const.into(),
        };
        let attrs = self
            .graph
            .analysis
            .attrs
            .intern([Leaf::Bits(bits), Leaf::Type(ty)].into_iter().collect());
        self.graph.add(Node {
            head: Head::Op(op),
            attrs,
            children: SmallVec::new(),
        })
    }

    fn input(
        &mut self,
        name: &str,
        slot: Option<u8>,
        ty: TypeId,
        constraints: &[Constraint],
    ) -> Id {
        let types = &self.graph.analysis.types;
        let mut facts = Facts::top(types, ty);
        let scalar = element_type(types, ty).unwrap_or(Scalar::Ptr(8));
        if let Scalar::Int(bits) = scalar {
            self.facts(bits, constraints, &mut facts);
        }
        let check = &self.rule.check;
        let range = slot.and_then(|slot| check.ranges.iter().find(|r| r.0 == slot));
        let number = self.inputs.len() as u32;
        self.inputs.push(Input {
            name: name.to_string(),
            scalar,
            facts: facts.clone(),
            range: range.map(|r| (r.1, r.2)),
        });
        self.graph.analysis.values.push((ty, facts));
        // Operands are in different loops, the first one outside of all.
        self.graph.analysis.here = number as usize;
        self.graph.add(Node::leaf(Head::Value(number)))
    }

    /// Facts about an integer: often none, sometimes bounds and divisors.
    fn facts(&mut self, bits: u32, constraints: &[Constraint], facts: &mut Facts) {
        let (min, max) = int_range(bits);
        let choice = match constraints.contains(&Constraint::Nonneg) {
            true => 1 + self.random.below(7),
            false => self.random.below(14),
        };
        let small = (1 + self.random.below(200) as i64).min(max.max(0));
        (facts.lo, facts.hi) = match choice {
            1 => (0, max.max(0)),
            2 => (0, small),
            3 => (1.min(max.max(0)), max.max(0)),
            4 => (0, max.max(0) / 2),
            5 => (small / 2, small),
            6 => (0, 1.min(max.max(0))),
            7 => (1.min(max.max(0)), small),
            8 => (min, -1),
            9 => (-small.min(-(min + 1)), small),
            _ => (min, max),
        };
        if self.random.below(3) == 0 && bits > 2 {
            facts.divisor = self.random.pick(&[2, 4, 8, 16, 3, 6]).min(max as u64);
        }
        // Bounds without a multiple in between say nothing.
        let d = facts.divisor as i64;
        if facts.hi.div_euclid(d) * d < facts.lo {
            facts.divisor = 1;
        }
    }

    fn attribute(
        &mut self,
        pattern: &AttrPattern,
        kind: AttrKind,
        optional: bool,
        want: Option<TypeId>,
    ) -> Option<Leaf> {
        match pattern {
            AttrPattern::Is(leaf) => Some(*leaf),
            AttrPattern::OneOf(list) => Some(self.random.pick(list)),
            AttrPattern::Elem(tests) => want.or_else(|| self.any_type(tests)).map(Leaf::Type),
            AttrPattern::Any => self.any_attribute(kind, optional, &[], want),
            AttrPattern::Var { slot, tests } => match self.slots[*slot as usize] {
                Slot::Leaf(leaf) => Some(leaf),
                Slot::Class(_) => None,
                Slot::Open => {
                    let leaf = self.any_attribute(kind, optional, tests, want)?;
                    self.slots[*slot as usize] = Slot::Leaf(leaf);
                    Some(leaf)
                }
            },
        }
    }

    fn any_attribute(
        &mut self,
        kind: AttrKind,
        optional: bool,
        tests: &[ElemTest],
        want: Option<TypeId>,
    ) -> Option<Leaf> {
        Some(match kind {
            AttrKind::Unit => self.random.pick(&[Leaf::Absent, Leaf::Unit]),
            AttrKind::Bool => Leaf::Bool(self.random.below(2) == 1),
            AttrKind::Enum(def) => Leaf::Enum(self.random.below(def.cases.len()) as u8),
            AttrKind::Type => match want {
                Some(ty) => Leaf::Type(ty),
                None => Leaf::Type(self.any_type(tests)?),
            },
            AttrKind::Int(_) => Leaf::Int(self.random.below(64) as i64),
            // Of arrays of one register.
            AttrKind::I32s if !optional => {
                let graph = &mut self.graph.analysis;
                graph
                    .attrs
                    .leaf_of(&graph.types, Some(&Attr::I32s(vec![0])))
            }
            _ if optional => Leaf::Absent,
            _ => return None,
        })
    }

    /// A scalar type that one of the tests admits; any number type where there are none.
    fn any_type(&mut self, tests: &[ElemTest]) -> Option<TypeId> {
        let test = match tests {
            [] => self
                .random
                .pick(&[ElemTest::Int, ElemTest::Int, ElemTest::Float]),
            _ => self.random.pick(tests),
        };
        let concrete = match test {
            ElemTest::Int => ElemTest::IntOf(self.random.pick(&INTS)),
            ElemTest::Float => ElemTest::FloatOf(self.random.pick(&FLOATS)),
            other => other,
        };
        let types = &mut self.graph.analysis.types;
        match concrete {
            ElemTest::Ptr => {
                let pointee = types.float(Float::F32);
                Some(types.intern(Type::Ptr { pointee, attr: 0 }))
            }
            other => other.scalar(types),
        }
    }
}
