//! Is a rule true? Both sides are evaluated with the interpreter's arithmetic.
//!
//! A trial gives every variable a type that the constraints allow, constants and facts, builds the
//! pattern in an e-graph, asks the engine itself whether the rule applies, builds the replacements,
//! and evaluates both sides: for every operand where those are few, for special and random
//! values otherwise. Trials are drawn from a generator seeded by the rule's name.

use egg::Id;

use super::program::{Input, Program};
use super::trial::{Random, Trial};
use crate::dialect::Dialect;
use crate::egraph::analysis::Graph;
use crate::egraph::guards;
use crate::egraph::node::Node;
use crate::egraph::replace::Build;
use crate::egraph::rule::{Check, Rule, is_nan};
use crate::egraph::{self, matcher};
use crate::facts::semantics::{Outcome, Scalar, element_type};
use crate::ir::Types;
use crate::target::Target;

/// How thoroughly rules are checked.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Trials that are drawn, at most.
    pub attempts: usize,
    /// Trials in which the rule applied, after which it is believed.
    pub trials: usize,
    /// Operands per trial where not all can be tried.
    pub samples: usize,
    /// All operands are tried where they have no more bits together than this.
    pub exhaustive_bits: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Effort {
            attempts: 6000,
            trials: 60,
            samples: 48,
            exhaustive_bits: 8,
        }
    }
}

/// What a check covered.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Covered {
    pub trials: usize,
    pub samples: usize,
    /// Trials in which all operands were tried.
    pub exhaustive: usize,
    /// The largest difference seen, in thousandths of a unit in the last place.
    pub worst: u64,
}

/// Checks one rule of a set. The error says what is wrong with it.
pub fn check(rule: &Rule, effort: Effort) -> Result<Covered, String> {
    let mut random = Random::named(&rule.name);
    let mut covered = Covered::default();
    let mut trouble = None;
    for _ in 0..effort.attempts {
        match attempt(rule, effort, &mut random, &mut covered) {
            Ok(true) if covered.trials >= effort.trials => break,
            Ok(_) => {}
            Err(Failure::Wrong(why)) => return Err(why),
            Err(Failure::NoSemantics(what)) => trouble = Some(what),
        }
    }
    match (covered.trials, trouble) {
        (0, Some(what)) => Err(format!("there is no semantics of {what}")),
        (0, None) => Err("the rule never applied to any operands that were tried".into()),
        _ => Ok(covered),
    }
}

enum Failure {
    Wrong(String),
    NoSemantics(String),
}

/// One trial; whether the rule applied.
fn attempt(
    rule: &Rule,
    effort: Effort,
    random: &mut Random,
    covered: &mut Covered,
) -> Result<bool, Failure> {
    let mut graph = egraph::graph(Types::default(), Dialect::CudaTile);
    // Folding would replace what is to be evaluated.
    graph.analysis.constant = None;
    let mut trial = Trial::new(&mut graph, rule, random);
    let Some(root) = trial.pattern(&rule.pattern, None) else {
        return Ok(false);
    };
    let inputs = trial.inputs();
    let target = random.pick(&Target::all().collect::<Vec<_>>());
    let Some(binds) = applies(&graph, rule, target, root) else {
        return Ok(false);
    };
    let Some(before) = Program::new(&graph, root) else {
        return Ok(false);
    };
    let ty = graph[root].data.ty;
    let mut sides = Vec::new();
    for template in &rule.templates {
        let mut build = Build::new(&mut graph, &binds, &rule.locals, ty);
        match build.root(template) {
            Ok(id) => sides.push(id),
            Err(crate::egraph::replace::BuildError::Constant) => {}
            Err(error) => return Err(Failure::Wrong(error.to_string())),
        }
    }
    let mut programs = Vec::new();
    for id in sides {
        if graph[id].data.ty != ty {
            return Err(Failure::Wrong(
                "the replacement has another type than the pattern".into(),
            ));
        }
        let program = Program::new(&graph, id);
        programs.push(program.ok_or_else(|| Failure::NoSemantics("the replacement".into()))?);
    }
    if programs.is_empty() || !before.known(&first(&inputs)) {
        return Ok(false);
    }
    covered.trials += 1;
    let comparison = Comparison {
        graph: &graph,
        root,
        rule,
        before: &before,
        programs: &programs,
        inputs: &inputs,
    };
    comparison.run(effort, random, covered)?;
    Ok(true)
}

/// The bindings with which the rule applies to a node.
fn applies(graph: &Graph, rule: &Rule, target: Target, root: Id) -> Option<matcher::Binds> {
    let node: Node = graph.id_to_node(root).clone();
    let mut found = None;
    matcher::matches(graph, &rule.pattern, rule.vars.len(), &node, &mut |binds| {
        if found.is_none()
            && rule
                .guards
                .iter()
                .all(|g| guards::holds(graph, target, binds, g))
        {
            found = Some(binds.clone());
        }
    });
    found
}

fn first(inputs: &[Input]) -> Vec<u64> {
    inputs.iter().map(|i| i.clamp(1)).collect()
}

struct Comparison<'a> {
    graph: &'a Graph,
    root: Id,
    rule: &'a Rule,
    before: &'a Program,
    programs: &'a [Program],
    inputs: &'a [Input],
}

impl Comparison<'_> {
    fn run(
        &self,
        effort: Effort,
        random: &mut Random,
        covered: &mut Covered,
    ) -> Result<(), Failure> {
        let bits: u32 = self.inputs.iter().map(|i| i.scalar.bits()).sum();
        if bits <= effort.exhaustive_bits || bits <= 16 && covered.exhaustive < 2 {
            covered.exhaustive += 1;
            for all in 0..1u64 << bits {
                let mut rest = all;
                let values: Vec<u64> = self
                    .inputs
                    .iter()
                    .map(|i| {
                        let value = rest & ((1 << i.scalar.bits()) - 1);
                        rest >>= i.scalar.bits();
                        value
                    })
                    .collect();
                if self.inputs.iter().zip(&values).all(|(i, v)| i.allows(*v)) {
                    self.compare(&values, covered)?;
                }
            }
            return Ok(());
        }
        let approximate = self.rule.check.ulp > 0.0 || self.rule.check.abs > 0.0;
        let samples = if approximate {
            effort.samples * 12
        } else {
            effort.samples
        };
        for _ in 0..samples {
            let values: Vec<u64> = self.inputs.iter().map(|i| i.draw(random)).collect();
            if self.inputs.iter().zip(&values).all(|(i, v)| i.allows(*v)) {
                self.compare(&values, covered)?;
            }
        }
        Ok(())
    }

    fn compare(&self, values: &[u64], covered: &mut Covered) -> Result<(), Failure> {
        let expected = match self.before.run(values) {
            Outcome::Value(bits) => bits,
            Outcome::Undefined => return Ok(()),
            Outcome::Unknown => return Err(Failure::NoSemantics("the pattern".into())),
        };
        covered.samples += 1;
        for (i, program) in self.programs.iter().enumerate() {
            match program.run(values) {
                Outcome::Value(bits) => {
                    let distance = self.distance(expected, bits);
                    covered.worst = covered.worst.max((distance.min(1e12) * 1000.0) as u64);
                    if distance > self.rule.check.ulp && !self.close(expected, bits) {
                        return Err(self.wrong(i, values, expected, &format!("{bits:#x}")));
                    }
                }
                Outcome::Undefined => {
                    return Err(self.wrong(i, values, expected, "nothing defined"));
                }
                Outcome::Unknown => {
                    return Err(Failure::NoSemantics(format!("replacement {}", i + 1)));
                }
            }
        }
        Ok(())
    }

    /// Difference in units in the last place; 0 for equal bits and for any two NaNs.
    fn distance(&self, expected: u64, actual: u64) -> f64 {
        if expected == actual {
            return 0.0;
        }
        let types = &self.graph.analysis.types;
        let Some(ty) = self.graph[self.root].data.ty else {
            return f64::INFINITY;
        };
        let Some(Scalar::Float(float)) = element_type(types, ty) else {
            return f64::INFINITY;
        };
        match (is_nan(types, ty, expected), is_nan(types, ty, actual)) {
            (true, true) => 0.0,
            (false, false) if self.rule.check.ulp > 0.0 => {
                let format = float;
                let key = |bits: u64| {
                    let bits = if self.rule.check.flush && format.is_subnormal(bits) {
                        0
                    } else {
                        bits
                    };
                    // The two zeros are neighbours of one another and of nothing else.
                    let key = format.total_order_key(bits);
                    if key < 0 { key + 1 } else { key }
                };
                (i128::from(key(expected)) - i128::from(key(actual))).unsigned_abs() as f64
            }
            _ => f64::INFINITY,
        }
    }

    /// Whether the absolute difference is allowed.
    fn close(&self, expected: u64, actual: u64) -> bool {
        let types = &self.graph.analysis.types;
        let scalar = self.graph[self.root]
            .data
            .ty
            .and_then(|ty| element_type(types, ty));
        let Some(Scalar::Float(float)) = scalar else {
            return false;
        };
        let format = float;
        self.rule.check.abs > 0.0
            && (format.decode(expected) - format.decode(actual)).abs() <= self.rule.check.abs
    }

    fn wrong(&self, alternative: usize, values: &[u64], expected: u64, got: &str) -> Failure {
        let inputs: Vec<String> = self
            .inputs
            .iter()
            .zip(values)
            .map(|(i, v)| i.show(*v))
            .collect();
        let constants = self.before.constants();
        Failure::Wrong(format!(
            "replacement {} gives {got} where the pattern gives {expected:#x}, for {}{}",
            alternative + 1,
            inputs.join(", "),
            if constants.is_empty() {
                String::new()
            } else {
                format!(" with constants {constants}")
            },
        ))
    }
}

/// Whether a rule is exempt, and why.
pub fn exempt(check: &Check) -> Option<&str> {
    check.skip.as_deref()
}
