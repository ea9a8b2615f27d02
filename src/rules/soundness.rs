//! Is a rule true? Both sides are evaluated with the interpreter's arithmetic.
//!
//! A trial gives every variable a type that the constraints allow, constants and facts, builds the
//! pattern in an e-graph, asks the engine itself whether the rule applies, builds the replacements,
//! and evaluates both sides: for every operand where those are few, for special and random
//! values otherwise. Trials are drawn from a generator seeded by the rule's name.

use super::instance::{Failure, Instance};
use super::random::Random;
use super::registers;
use super::wrong::Wrong;
use crate::egraph::literal::is_nan;
use crate::egraph::rule::{Check, Rule};
use crate::facts::semantics::{Outcome, Scalar, element_type};

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
pub fn check(rule: &Rule, effort: Effort) -> Result<Covered, Wrong> {
    if let Some(variable) = registers::mixed(rule) {
        return Err(format!(
            "`{variable}` is read by different indices: elements do not show what that does"
        )
        .into());
    }
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
        (0, Some(what)) => Err(format!("there is no semantics of {what}").into()),
        (0, None) => {
            Err(String::from("the rule never applied to any operands that were tried").into())
        }
        _ => Ok(covered),
    }
}

/// One trial; whether the rule applied.
fn attempt(
    rule: &Rule,
    effort: Effort,
    random: &mut Random,
    covered: &mut Covered,
) -> Result<bool, Failure> {
    let Some(instance) = Instance::draw(rule, random)? else {
        return Ok(false);
    };
    covered.trials += 1;
    let comparison = Comparison {
        instance: &instance,
        rule,
    };
    comparison.run(effort, random, covered)?;
    Ok(true)
}

/// Compares both sides on values of the inputs; the error says how they differ.
pub(super) fn compare(rule: &Rule, instance: &Instance, values: &[u64]) -> Result<(), Wrong> {
    let comparison = Comparison { instance, rule };
    comparison
        .compare(values, &mut Covered::default())
        .map_err(Failure::wrong)
}

struct Comparison<'a> {
    instance: &'a Instance,
    rule: &'a Rule,
}

impl Comparison<'_> {
    fn run(
        &self,
        effort: Effort,
        random: &mut Random,
        covered: &mut Covered,
    ) -> Result<(), Failure> {
        let bits: u32 = self.instance.inputs.iter().map(|i| i.scalar.bits()).sum();
        if bits <= effort.exhaustive_bits || bits <= 16 && covered.exhaustive < 2 {
            covered.exhaustive += 1;
            for all in 0..1u64 << bits {
                let mut rest = all;
                let values: Vec<u64> = self
                    .instance
                    .inputs
                    .iter()
                    .map(|i| {
                        let value = rest & ((1 << i.scalar.bits()) - 1);
                        rest >>= i.scalar.bits();
                        value
                    })
                    .collect();
                self.compare_allowed(&values, covered)?;
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
            let values: Vec<u64> = self
                .instance
                .inputs
                .iter()
                .map(|i| i.draw(random))
                .collect();
            self.compare_allowed(&values, covered)?;
        }
        Ok(())
    }

    /// Compares where the inputs may have these values.
    fn compare_allowed(&self, values: &[u64], covered: &mut Covered) -> Result<(), Failure> {
        let mut pairs = self.instance.inputs.iter().zip(values);
        match pairs.all(|(input, value)| input.allows(*value)) {
            true => self.compare(values, covered),
            false => Ok(()),
        }
    }

    /// Compares the two sides for these values.
    fn compare(&self, values: &[u64], covered: &mut Covered) -> Result<(), Failure> {
        let expected = match self.instance.before.run(values) {
            Outcome::Value(bits) => bits,
            Outcome::Undefined => return Ok(()),
            Outcome::Unknown => return Err(Failure::NoSemantics("the pattern".into())),
        };
        covered.samples += 1;
        for (i, (program, ..)) in self.instance.after.iter().enumerate() {
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
        let types = &self.instance.graph.analysis.types;
        let Some(ty) = self.instance.graph[self.instance.root].data.ty else {
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
        let types = &self.instance.graph.analysis.types;
        let scalar = self.instance.graph[self.instance.root]
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
            .instance
            .inputs
            .iter()
            .zip(values)
            .map(|(i, v)| i.show(*v))
            .collect();
        let constants = self.instance.before.constants();
        let operands = self.instance.inputs.iter().zip(values);
        let operands = operands
            .map(|(input, &value)| (input.name.clone(), value))
            .collect();
        let message = format!(
            "replacement {} gives {got} where the pattern gives {expected:#x}, for {}{}",
            alternative + 1,
            inputs.join(", "),
            if constants.is_empty() {
                String::new()
            } else {
                format!(" with constants {constants}")
            },
        );
        Failure::Wrong(Wrong { message, operands })
    }
}

/// Whether a rule is exempt, and why.
pub fn exempt(check: &Check) -> Option<&str> {
    check.skip.as_deref()
}
