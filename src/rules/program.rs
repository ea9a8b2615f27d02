//! An expression of the e-graph as a list of steps, to be run on many operands.

use egg::Id;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::random::Random;
use crate::dialect::Traits;
use crate::dialect::resolve::{Attributes, Given};
use crate::egraph::analysis::Graph;
use crate::egraph::node::{Head, Node};
use crate::facts::semantics::{self, Attrs, Element, Outcome, Scalar, element_type};
use crate::facts::{Facts, Leaf, sign_extend, truncate};

/// A free variable.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: String,
    pub scalar: Scalar,
    pub facts: Facts,
    /// Only values in this range are tried.
    pub range: Option<(f64, f64)>,
}

impl Input {
    /// Whether the facts and the range admit a value.
    pub fn allows(&self, bits: u64) -> bool {
        let number = match self.scalar {
            Scalar::Int(width) => {
                let value = sign_extend(bits, width);
                let divisor = self.facts.divisor;
                let divides = if divisor == 0 {
                    value == 0
                } else {
                    value.unsigned_abs().is_multiple_of(divisor)
                };
                if !(self.facts.lo..=self.facts.hi).contains(&value) || !divides {
                    return false;
                }
                value as f64
            }
            Scalar::Float(float) => float.decode(bits),
            _ => return true,
        };
        self.range
            .is_none_or(|(lo, hi)| number >= lo && number <= hi)
    }

    /// A value near `bits` that the facts admit.
    pub fn clamp(&self, bits: u64) -> u64 {
        let Scalar::Int(width) = self.scalar else {
            return truncate(bits, self.scalar.bits());
        };
        let (lo, hi) = (i128::from(self.facts.lo), i128::from(self.facts.hi));
        let span = (hi - lo + 1).max(1);
        let mut value = i128::from(sign_extend(bits, width));
        if value < lo || value > hi {
            value = lo + value.rem_euclid(span);
        }
        let divisor = i128::from(self.facts.divisor.max(1));
        value -= value.rem_euclid(divisor);
        if value < lo {
            value += divisor;
        }
        truncate(value as u64, width)
    }

    /// A random value.
    pub fn draw(&self, random: &mut Random) -> u64 {
        if let (Scalar::Float(float), Some((lo, hi))) = (self.scalar, self.range) {
            let at = lo + (hi - lo) * (random.bits() as f64 / u64::MAX as f64);
            return float.encode(
                at,
                crate::scalar::Rounding::NearestEven,
                crate::scalar::Overflow::Ieee,
            );
        }
        self.clamp(random.value(self.scalar))
    }

    /// For messages.
    pub fn show(&self, bits: u64) -> String {
        match self.scalar {
            Scalar::Float(float) => format!(
                "?{} = {} ({bits:#x}: {})",
                self.name,
                float.decode(bits),
                float.name()
            ),
            Scalar::Int(width) => {
                format!("?{} = {} (i{width})", self.name, sign_extend(bits, width))
            }
            _ => format!("?{} = {bits:#x}", self.name),
        }
    }
}

/// A step; operands are numbers of earlier steps.
#[derive(Debug)]
pub(super) enum Step {
    Input(usize),
    Constant {
        bits: u64,
        scalar: Scalar,
        /// The class that it is in the graph.
        class: Id,
    },
    Op {
        head: Head,
        leaves: SmallVec<[Leaf; 4]>,
        args: SmallVec<[(usize, Scalar); 3]>,
        result: Scalar,
    },
    /// Only the operand that is chosen need be defined.
    Select([usize; 3]),
    /// The same, but the second operand is equal to the third where that is chosen.
    Rarely([usize; 3], Scalar),
}

/// A straight line of scalar operations.
#[derive(Debug)]
pub struct Program {
    pub(super) steps: Vec<Step>,
}

impl Program {
    /// The expression at `root`; `None` if it contains what has no elements.
    pub fn new(graph: &Graph, root: Id) -> Option<Program> {
        let mut program = Program { steps: Vec::new() };
        let mut made = FxHashMap::default();
        program.add(graph, root, &mut made)?;
        Some(program)
    }

    fn add(&mut self, graph: &Graph, id: Id, made: &mut FxHashMap<Id, usize>) -> Option<usize> {
        if let Some(&at) = made.get(&id) {
            return Some(at);
        }
        let node: Node = graph.id_to_node(id).clone();
        let step = match node.head {
            Head::Value(i) => Step::Input(i as usize),
            Head::Op(kind) if kind.def().traits.has(Traits::CONSTANT) => Step::Constant {
                bits: graph[id].data.facts.constant?,
                scalar: element_type(&graph.analysis.types, graph[id].data.ty?)?,
                class: id,
            },
            Head::Op(_) => {
                let types = &graph.analysis.types;
                let mut args = SmallVec::new();
                for &child in &node.children {
                    let scalar = element_type(types, graph[child].data.ty?)?;
                    args.push((self.add(graph, child, made)?, scalar));
                }
                let name = graph.analysis.def(node.head)?.name;
                match (name, args.as_slice()) {
                    ("select", [(c, Scalar::Int(1)), (a, s), (b, t)]) if s == t => {
                        Step::Select([*c, *a, *b])
                    }
                    ("rarely", [(c, Scalar::Int(1)), (a, s), (b, t)]) if s == t => {
                        Step::Rarely([*c, *a, *b], *s)
                    }
                    _ => Step::Op {
                        head: node.head,
                        leaves: graph.analysis.attrs_of(&node).into(),
                        args,
                        result: element_type(types, graph[id].data.ty?)?,
                    },
                }
            }
            _ => return None,
        };
        self.steps.push(step);
        made.insert(id, self.steps.len() - 1);
        Some(self.steps.len() - 1)
    }

    /// The value for these inputs.
    pub fn run(&self, inputs: &[u64]) -> Outcome {
        let mut values: SmallVec<[Outcome; 32]> = SmallVec::new();
        for step in &self.steps {
            let outcome = match step {
                Step::Input(i) => inputs.get(*i).copied().into(),
                Step::Constant { bits, .. } => Outcome::Value(*bits),
                Step::Select([c, a, b]) => match values[*c] {
                    Outcome::Value(c) => values[if c & 1 == 1 { *a } else { *b }],
                    other => other,
                },
                Step::Rarely([c, always, mostly], scalar) => match values[*c] {
                    Outcome::Value(0) => equal(values[*always], values[*mostly], *scalar),
                    Outcome::Value(_) => values[*always],
                    other => other,
                },
                Step::Op {
                    head,
                    leaves,
                    args,
                    result,
                } => self.op(*head, leaves, args, *result, &values),
            };
            values.push(outcome);
        }
        values.last().copied().unwrap_or(Outcome::Unknown)
    }

    fn op(
        &self,
        head: Head,
        leaves: &[Leaf],
        args: &[(usize, Scalar)],
        result: Scalar,
        values: &[Outcome],
    ) -> Outcome {
        let mut elements: SmallVec<[Element; 3]> = SmallVec::new();
        for &(at, scalar) in args {
            match values[at] {
                Outcome::Value(bits) => elements.push((bits, scalar)),
                other => return other,
            }
        }
        let leaf = |i: usize| leaves.get(i).copied().unwrap_or(Leaf::Absent);
        match head {
            Head::Op(kind) => semantics::eval(kind, Attrs(&leaf), &elements, result),
            _ => Outcome::Unknown,
        }
    }

    /// Whether every operation is one of its row, on types that it has.
    pub(super) fn is_meaningful(&self) -> bool {
        self.steps.iter().all(|step| match step {
            Step::Op {
                head: Head::Op(kind),
                leaves,
                args,
                result,
            } => kind.def().meaning.is_none_or(|meaning| {
                let leaf = |i: usize| leaves.get(i).copied().unwrap_or(Leaf::Absent);
                let value = |i| Given::from(leaf(i));
                let row = kind.def();
                let scalars: SmallVec<[Scalar; 3]> = args.iter().map(|a| a.1).collect();
                let attributes = Attributes { row, value: &value };
                meaning.function(attributes, &scalars, *result).is_ok()
            }),
            _ => true,
        })
    }

    /// Whether every operation has a semantics on these types.
    pub fn known(&self, inputs: &[u64]) -> bool {
        self.run(inputs) != Outcome::Unknown
    }

    /// The constants, for messages.
    pub fn constants(&self) -> String {
        let constants = self.steps.iter().filter_map(|s| match s {
            Step::Constant { bits, .. } => Some(format!("{bits:#x}")),
            _ => None,
        });
        constants.collect::<Vec<_>>().join(", ")
    }
}

/// What two steps have alike, any two NaNs among it; undefined where they differ.
fn equal(a: Outcome, b: Outcome, scalar: Scalar) -> Outcome {
    let is_nan = |v| match (scalar, v) {
        (Scalar::Float(float), Outcome::Value(bits)) => float.decode(bits).is_nan(),
        _ => false,
    };
    match a == b || is_nan(a) && is_nan(b) {
        true => b,
        false => Outcome::Undefined,
    }
}
