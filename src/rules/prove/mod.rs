//! Is a rule true for all operands? Instances of it go to a solver, each with the sides as terms over bit vectors
//! and floats; where it gives up, all operands are tried if they are few, else the sampled check has to do.

mod answer;
mod drawn;
mod floats;
mod numbers;
pub mod query;
pub mod record;
pub mod solver;
pub mod steps;
mod symbols;
pub mod table;
pub mod terms;

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

use rustc_hash::FxHashMap;

use self::drawn::Drawn;
use self::query::Query;
use self::solver::{Answer, Solver};
use self::symbols::Refused;
use super::instance::{Failure, Instance};
use super::random::Random;
use super::soundness;
use super::wrong::Wrong;
use crate::egraph::rule::Rule;

/// How well a rule is known to be true; the first is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// For all operands, constants and known ranges of all types.
    Proven,
    /// For all operands, for each of the constants and known ranges that were drawn.
    ProvenByCase,
    /// All operands were tried where the solver gave up.
    Exhausted,
    /// Special and random operands were tried.
    Sampled,
    /// There is no semantics to check it by.
    Exempt,
}

impl Class {
    pub const ALL: [Class; 5] = [
        Class::Proven,
        Class::ProvenByCase,
        Class::Exhausted,
        Class::Sampled,
        Class::Exempt,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Class::Proven => "proven",
            Class::ProvenByCase => "proven by case",
            Class::Exhausted => "exhausted",
            Class::Sampled => "sampled",
            Class::Exempt => "exempt",
        }
    }

    /// Whether all operands are accounted for.
    pub fn is_proof(self) -> bool {
        !matches!(self, Class::Sampled | Class::Exempt)
    }

    pub fn parse(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|c| c.name() == name)
    }
}

/// What is known of a rule, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    pub class: Class,
    /// Instances that differ in types, attributes, or what was drawn.
    pub instances: usize,
    /// Those of them that were proven.
    pub proven: usize,
    pub why: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.name())?;
        if self.class != Class::Exempt {
            let (proven, all) = (self.proven, self.instances);
            write!(f, ", {proven} of {all} instances proven")?;
        }
        match self.why.as_str() {
            "" => Ok(()),
            why => write!(f, ": {why}"),
        }
    }
}

/// How much is done for a rule.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// All operands are tried where the solver gives up and they have so many bits together.
    pub exhaust: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { exhaust: 16 }
    }
}

/// Steps that the solver may take for one query, in its own unit.
pub const STEPS: u64 = 500_000;
/// The solver is asked no more about a rule when it has given up so often.
pub const PATIENCE: usize = 6;
/// Instances that are drawn, at most.
const ATTEMPTS: usize = 40_000;
/// Instances are drawn until none was new in so many, and in so many times the number of those that differ.
const QUIET: (usize, usize) = (100, 10);
/// Different constants and ranges that are looked at, at most, where they cannot be unknowns of a proof.
const DRAWN: usize = 24;
/// Constants of so many bits together are all drawn, not only some of them.
const FEW_BITS: u32 = 2;
/// The solver is not asked where more has to be rounded than this: eight bits of a significand count as one.
pub const HARD: usize = 32;

/// Proves one rule, as far as that goes. The error says for which values it is wrong.
pub fn prove(rule: &Rule, effort: Effort, solver: &mut Solver) -> Result<Verdict, Wrong> {
    if let Some(why) = soundness::exempt(&rule.check) {
        return Ok(Verdict {
            class: Class::Exempt,
            instances: 0,
            proven: 0,
            why: why.to_owned(),
        });
    }
    let mut proof = Proof {
        rule,
        effort,
        drawn: Drawn::of(rule),
        solver,
        approximate: rule.check.ulp > 0.0 || rule.check.abs > 0.0,
        general: HashMap::new(),
        seen: HashSet::new(),
        count: Count::default(),
    };
    let mut random = Random::named(&rule.name);
    let mut quiet = 0;
    for _ in 0..ATTEMPTS {
        if quiet > QUIET.0 + QUIET.1 * (proof.general.len() + proof.seen.len()) {
            break;
        }
        match Instance::draw(rule, &mut random) {
            Ok(Some(instance)) if instance.is_meaningful() => {
                quiet = if proof.look(&instance)? { 0 } else { quiet + 1 };
            }
            Ok(Some(_)) => quiet += 1,
            Ok(None) => {}
            Err(failure) => return Err(failure.wrong()),
        }
    }
    if proof.count.instances == 0 {
        let message = "the rule never applied to any operands that were tried";
        return Err(message.to_owned().into());
    }
    if proof.count.sampled > 0 {
        // What the solver leaves open is checked as every rule is.
        soundness::check(rule, soundness::Effort::default())?;
    }
    Ok(proof.verdict())
}

/// What was found of the instances of a rule.
#[derive(Default)]
struct Count {
    instances: usize,
    proven: usize,
    exhausted: usize,
    sampled: usize,
    /// Queries that the solver did not answer.
    given_up: usize,
    /// Instances for which there is no term.
    without_term: usize,
    /// Instances with constants or ranges that stand for no others.
    by_case: usize,
}

/// The proof of a rule, on its way.
struct Proof<'a> {
    rule: &'a Rule,
    effort: Effort,
    drawn: Drawn,
    solver: &'a mut Solver,
    approximate: bool,
    /// Questions about all constants at once, and whether the answer was that there is no difference.
    general: HashMap<String, bool>,
    /// Instances that were looked at.
    seen: HashSet<String>,
    count: Count,
}

impl Proof<'_> {
    /// Looks at an instance; whether it was a new one.
    fn look(&mut self, instance: &Instance) -> Result<bool, Wrong> {
        let mut few = false;
        if self.drawn.anything() && !self.approximate {
            match self.generally(instance)? {
                General::Known => return Ok(false),
                General::Proven => return Ok(true),
                General::Open => {}
                General::Coincidence => {
                    few = self.constant_bits(instance) <= FEW_BITS;
                    if !few {
                        return Ok(false);
                    }
                }
            }
        }
        let by_case = self.drawn.anything() && !few;
        if by_case && self.count.by_case == DRAWN || !self.seen.insert(self.key(instance)) {
            return Ok(false);
        }
        self.count.instances += 1;
        self.count.by_case += usize::from(by_case);
        self.one(instance)?;
        Ok(true)
    }

    /// Asks about all constants and ranges at once.
    fn generally(&mut self, instance: &Instance) -> Result<General, Wrong> {
        let mut queries = Vec::new();
        for side in 0..instance.after.len() {
            match query::general(self.rule, instance, side, &self.drawn) {
                Ok(query) => queries.push(query),
                Err(Refused::Coincidence) => return Ok(General::Coincidence),
                Err(Refused::Never) => return Ok(General::Open),
            }
        }
        let key = queries.iter().map(|q| q.text.as_str()).collect::<String>();
        let key = types(instance) + &key;
        match self.general.get(&key) {
            Some(true) => return Ok(General::Known),
            Some(false) => return Ok(General::Open),
            None => {}
        }
        let mut proven = true;
        for query in &queries {
            proven = proven && self.ask(instance, query)?;
        }
        self.general.insert(key, proven);
        if !proven {
            return Ok(General::Open);
        }
        self.count.instances += 1;
        self.count.proven += 1;
        Ok(General::Proven)
    }

    /// Whether the solver finds no difference. The error is a difference that the interpreter finds, too: it need not,
    /// because a NaN may be other bits there, and because a guard may say less than is assumed of it.
    fn ask(&mut self, instance: &Instance, query: &Query) -> Result<bool, Wrong> {
        if query.hard > HARD || self.count.given_up >= PATIENCE {
            return Ok(false);
        }
        let values = match self.solver.ask(&query.text, &query.unknowns(instance))? {
            Answer::Unsatisfiable => return Ok(true),
            Answer::Unknown => {
                self.count.given_up += 1;
                return Ok(false);
            }
            Answer::Values(values) => values,
        };
        let (inputs, constants) = values.split_at(instance.inputs.len().min(values.len()));
        if constants.is_empty() && !self.drawn.facts {
            soundness::compare(self.rule, instance, inputs)?;
            return Ok(false);
        }
        let classes = query.symbols.constants.iter().map(|c| c.1);
        let constants: FxHashMap<_, _> = classes.zip(constants.iter().copied()).collect();
        let repeated = instance.repeat(self.rule, &constants, inputs);
        if let Some(other) = repeated.map_err(Failure::wrong)? {
            soundness::compare(self.rule, &other, inputs)?;
        }
        Ok(false)
    }

    /// Proves an instance, or tries all its operands, or leaves it to samples.
    fn one(&mut self, instance: &Instance) -> Result<(), Wrong> {
        let mut open = self.approximate;
        for side in 0..instance.after.len() {
            if self.approximate {
                break;
            }
            match query::drawn(self.rule, instance, side, &self.drawn) {
                None => {
                    self.count.without_term += 1;
                    open = true;
                }
                Some(query) => open |= !self.ask(instance, &query)?,
            }
        }
        if !open {
            self.count.proven += 1;
            return Ok(());
        }
        let bits: u32 = instance.inputs.iter().map(|i| i.scalar.bits()).sum();
        if bits > self.effort.exhaust.min(48) {
            self.count.sampled += 1;
            return Ok(());
        }
        self.count.exhausted += 1;
        exhaust(self.rule, instance, bits)
    }

    /// What tells instances apart.
    fn key(&self, instance: &Instance) -> String {
        let mut key = types(instance);
        if self.approximate {
            return key + &instance.before.constants();
        }
        for side in 0..instance.after.len() {
            match query::drawn(self.rule, instance, side, &self.drawn) {
                Some(query) => key += &query.text,
                None => {
                    let _ = write!(key, "{:?}", instance.before);
                }
            }
        }
        key
    }

    fn constant_bits(&self, instance: &Instance) -> u32 {
        let width = |&slot: &u8| instance.width(slot).unwrap_or(64);
        self.drawn.constants.iter().map(width).sum()
    }

    fn verdict(&self) -> Verdict {
        let count = &self.count;
        let class = match (count.sampled, count.exhausted, count.by_case) {
            (0, 0, 0) => Class::Proven,
            (0, 0, _) => Class::ProvenByCase,
            (0, ..) => Class::Exhausted,
            _ => Class::Sampled,
        };
        let mut why = match class {
            Class::Proven => String::new(),
            Class::ProvenByCase => self.drawn.text(),
            _ if self.approximate => "the results may differ by a bound".into(),
            _ if count.given_up > 0 => "the solver gave up".into(),
            _ => "an operation or format that the solver has no theory of".into(),
        };
        if !self.rule.check.ranges.is_empty() {
            let separator = if why.is_empty() { "" } else { "; " };
            let _ = write!(why, "{separator}operands in the range of the rule's check");
        }
        Verdict {
            class,
            instances: count.instances,
            proven: count.proven,
            why,
        }
    }
}

/// What is known of all constants and ranges.
enum General {
    /// Proven before.
    Known,
    /// Proven now.
    Proven,
    Open,
    /// These constants stand for no others.
    Coincidence,
}

/// The types of an instance's inputs and result.
fn types(instance: &Instance) -> String {
    let mut text = format!("{:?}:", instance.result());
    for input in &instance.inputs {
        let _ = write!(text, "{:?};", input.scalar);
    }
    text
}

/// Compares the sides for all operands.
fn exhaust(rule: &Rule, instance: &Instance, bits: u32) -> Result<(), Wrong> {
    let inputs = &instance.inputs;
    let mut values = vec![0; inputs.len()];
    for all in 0..1u64 << bits {
        let mut rest = all;
        for (input, value) in inputs.iter().zip(&mut values) {
            *value = rest & ((1 << input.scalar.bits()) - 1);
            rest >>= input.scalar.bits();
        }
        if inputs.iter().zip(&values).all(|(i, v)| i.allows(*v)) {
            soundness::compare(rule, instance, &values)?;
        }
    }
    Ok(())
}
