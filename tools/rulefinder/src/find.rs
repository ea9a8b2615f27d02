//! From equations to rules: what the rules do already is dropped, the rest is generalised and proven, one rule after
//! the other, so that each counts on those before it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rustc_hash::FxHashSet;
use tilec::facts::semantics::Scalar;
use tilec::rules::prove::solver::Solver;
use tilec::rules::prove::{self, Class};
use tilec::rules::{Rule, RuleSet, Wrong, soundness};

use crate::engine::{Engine, Verdict};
use crate::enumerate::{self, Enumeration, Space};
use crate::equation::Equation;
use crate::generalise::{self, General};
use crate::mine::{self, Terms};
use crate::operations;
use crate::text;
use crate::themes::{self, Theme};
use crate::vectors::{Variable, vectors};

/// What was counted on the way.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub terms: usize,
    pub classes: usize,
    /// Spaces whose enumeration a limit ended.
    pub cut: usize,
    /// Equations of which one side is cheaper by itself.
    pub candidates: usize,
    /// Of these: no kernel has such operations.
    pub absent: usize,
    /// The rules make both sides equal.
    pub derived: usize,
    /// The rules make the side to be replaced as cheap in another way, or no side has instructions.
    pub as_cheap: usize,
    /// Wrong, as test vectors show that were found later, or the prover.
    pub refuted: usize,
    /// Neither proven nor refuted, or no rule can say it.
    pub open: usize,
    pub rules: usize,
}

/// A rule that was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub rule: Rule,
    pub text: String,
    /// What it saves where it was found, in tenths of an instruction.
    pub saves: u64,
    /// How it was shown to be true.
    pub class: Class,
}

/// How far the search goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Terms of one theme.
    pub terms: usize,
    /// Terms that are tried as replacements of kernels' terms.
    pub search: usize,
    /// Kernels' terms that are looked at.
    pub mined: usize,
    /// Values that a term is tried on.
    pub vectors: usize,
    /// Enumerations of a theme: each after the first one with the counterexamples of the one before.
    pub rounds: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            terms: 400_000,
            search: 40_000,
            mined: 4_000,
            vectors: 112,
            rounds: 3,
        }
    }
}

/// The search.
pub struct Finder {
    pub engine: Engine,
    pub limits: Limits,
    /// The program that proves rules; without, they are sampled. Each rule has a process of its own, as one that was
    /// left in the middle of an answer would give it for the next question.
    pub solver: Option<PathBuf>,
    /// Operations that kernels have; without, all equations are looked at.
    pub shapes: Option<BTreeSet<String>>,
    pub counts: Counts,
    pub found: Vec<Found>,
    /// What was refuted: the rule, and what shows it.
    pub refuted: Vec<(String, String)>,
    /// Values of variables of these types that refuted something.
    against: BTreeMap<String, Vec<Vec<u64>>>,
    /// Equations that were looked at.
    seen: FxHashSet<String>,
}

/// Equations that are looked at in one graph.
const TOGETHER: usize = 200;
/// Rules that are tried for an equation.
const TRIED: usize = 4;

impl Finder {
    pub fn new(engine: Engine, limits: Limits, solver: Option<PathBuf>) -> Finder {
        Finder {
            engine,
            limits,
            solver,
            shapes: None,
            counts: Counts::default(),
            found: Vec::new(),
            refuted: Vec::new(),
            against: BTreeMap::new(),
            seen: FxHashSet::default(),
        }
    }

    /// The rules of a theme.
    pub fn theme(&mut self, theme: &Theme) -> Result<(), String> {
        for _ in 0..self.limits.rounds {
            let more = self
                .against
                .get(&signature(&theme.variables))
                .cloned()
                .unwrap_or_default();
            let space = theme.space(&self.engine, self.limits.vectors, &more);
            let mut enumeration = Enumeration::new(&space);
            let mut equations = Vec::new();
            let limits = enumerate::Limits {
                size: theme.size,
                terms: self.limits.terms,
            };
            enumeration.run(limits, &mut |e| equations.push(e));
            self.note(enumeration.made);
            let refuted = self.counts.refuted;
            self.consider(equations)?;
            if refuted == self.counts.refuted {
                break;
            }
        }
        Ok(())
    }

    fn note(&mut self, made: enumerate::Made) {
        self.counts.terms += made.terms;
        self.counts.classes += made.classes;
        self.counts.cut += usize::from(made.cut);
    }

    /// Cheaper forms of kernels' terms: of each, the terms over its variables and constants that are equal.
    pub fn mined(&mut self, terms: &Terms) -> Result<(), String> {
        let mut list: Vec<_> = terms.values().filter(|t| t.tree.size() > 1).collect();
        list.sort_by_key(|t| std::cmp::Reverse(t.count * t.tree.size() as u64));
        list.truncate(self.limits.mined);
        list.sort_by_key(|t| t.tree.size());
        // Terms over the same variables and constants share an enumeration.
        let mut groups: BTreeMap<(usize, String), Vec<&mine::Term>> = BTreeMap::new();
        for term in list {
            let mut constants = term.tree.constants();
            constants.sort_by_key(|c| (c.1.bits(), c.0));
            constants.dedup();
            let key = format!("{:?} {constants:?} {:?}", term.variables, types(&term.tree));
            groups
                .entry((term.tree.size(), key))
                .or_default()
                .push(term);
        }
        for group in groups.values() {
            let Some(first) = group.first() else { continue };
            let signature =
                signature(&first.variables.iter().map(|v| v.scalar).collect::<Vec<_>>());
            let more = self.against.get(&signature).cloned().unwrap_or_default();
            let space = self.around(first, &more);
            let mut enumeration = Enumeration::new(&space);
            let limits = enumerate::Limits {
                size: (first.tree.size() - 1).min(2),
                terms: self.limits.search,
            };
            enumeration.run(limits, &mut |_| ());
            self.note(enumeration.made);
            let equation = |term: &&mine::Term| {
                let (rhs, _) = enumeration.equal(&term.tree)?;
                Some(Equation {
                    variables: term.variables.clone(),
                    lhs: term.tree.clone(),
                    rhs,
                })
            };
            let equations: Vec<Equation> = group.iter().filter_map(equation).collect();
            self.consider(equations)?;
        }
        Ok(())
    }

    /// The space in which cheaper forms of a term are looked for.
    fn around(&self, term: &mine::Term, more: &[Vec<u64>]) -> Space {
        let types = types(&term.tree);
        let mut constants: Vec<(u64, Scalar)> = Vec::new();
        for &scalar in &types {
            constants.extend(themes::constants(scalar, &[0, 1, -1]));
            let of: Vec<u64> = term
                .tree
                .constants()
                .iter()
                .filter(|c| c.1 == scalar)
                .map(|c| c.0)
                .collect();
            constants.extend(near(&of, scalar));
        }
        constants.sort_by_key(|c| (c.1.bits(), c.0));
        constants.dedup();
        let fused = |row: &tilec::dialect::OpDef| row.meaning.is_none() && row.attrs.is_empty();
        let operations = operations::all(&types, &|row| themes::is_plain(row) || fused(row));
        let costs = self.engine.costs(&operations);
        let known = operations
            .into_iter()
            .zip(costs)
            .filter_map(|(o, cost)| Some((o, cost?)));
        Space {
            operations: known.collect(),
            constants,
            vectors: vectors(&term.variables, self.limits.vectors, more),
            variables: term.variables.clone(),
        }
    }

    /// Looks at equations: the small ones first.
    pub fn consider(&mut self, equations: Vec<Equation>) -> Result<(), String> {
        let mut groups: BTreeMap<(usize, usize), Vec<(String, Equation)>> = BTreeMap::new();
        for equation in equations.into_iter().filter_map(Equation::tidy) {
            let key = format!(
                "{} => {}",
                text::term(&equation.lhs, &equation.variables),
                text::term(&equation.rhs, &equation.variables)
            );
            if !self.seen.insert(key.clone()) {
                continue;
            }
            self.counts.candidates += 1;
            if self
                .shapes
                .as_ref()
                .is_some_and(|s| !s.contains(&mine::shape(&equation.lhs)))
            {
                self.counts.absent += 1;
                continue;
            }
            let order = (equation.lhs.size(), equation.rhs.size());
            groups.entry(order).or_default().push((key, equation));
        }
        for mut group in groups.into_values() {
            group.sort_by(|(a, x), (b, y)| {
                let order = |key: &str, e: &Equation| {
                    let constants = e.lhs.constants().len() + e.rhs.constants().len();
                    (constants, e.variables.len(), key.to_owned())
                };
                order(a, x).cmp(&order(b, y))
            });
            let mut together: BTreeMap<String, Vec<Equation>> = BTreeMap::new();
            for (_, equation) in group {
                together
                    .entry(format!("{:?}", equation.variables))
                    .or_default()
                    .push(equation);
            }
            for equations in together.into_values() {
                for some in equations.chunks(TOGETHER) {
                    self.chunk(some)?;
                }
            }
        }
        Ok(())
    }

    fn chunk(&mut self, equations: &[Equation]) -> Result<(), String> {
        let verdicts = self.engine.judge(equations)?;
        let known = self.found.len();
        for (equation, verdict) in equations.iter().zip(verdicts) {
            // A rule that was found since may do it.
            let verdict = match verdict {
                Verdict::Costs(a, b) if a > b && self.found.len() > known => self
                    .engine
                    .judge(std::slice::from_ref(equation))?
                    .first()
                    .copied()
                    .unwrap_or(verdict),
                other => other,
            };
            match verdict {
                Verdict::Derived => self.counts.derived += 1,
                Verdict::Costs(a, b) if a > b => self.one(equation, a - b)?,
                _ => self.counts.as_cheap += 1,
            }
        }
        Ok(())
    }

    /// Makes a rule of an equation, if one can be proven.
    fn one(&mut self, equation: &Equation, saves: u64) -> Result<(), String> {
        let scalars: Vec<Scalar> = equation.variables.iter().map(|v| v.scalar).collect();
        let extra = self
            .against
            .get(&signature(&scalars))
            .cloned()
            .unwrap_or_default();
        let admitted = |values: &Vec<u64>| {
            (values.iter().zip(&equation.variables)).all(|(&v, of)| of.admitted(v) == v)
        };
        if extra
            .iter()
            .filter(|v| admitted(v))
            .any(|v| !equation.holds_for(v))
        {
            self.counts.refuted += 1;
            return Ok(());
        }
        let mut generals = generalise::generalisations(equation, &extra, TRIED);
        // What is known of operands may not matter.
        let unknown = equation.without_facts();
        let tried = vectors(&unknown.variables, self.limits.vectors, &extra);
        if unknown.variables != equation.variables && tried.iter().all(|v| unknown.holds_for(v)) {
            generals.splice(0..0, generalise::generalisations(&unknown, &extra, TRIED));
        }
        // An equation that is true in more types is first tried in all of them.
        if let Some(last) = generals.last().filter(|g| !g.types.is_empty()) {
            let plain = General {
                types: Vec::new(),
                ..last.clone()
            };
            generals.push(plain);
        }
        let mut refuted = None;
        for general in &generals {
            match self.prove(general, saves)? {
                Ok(found) => {
                    self.engine.learn(found.rule.clone());
                    self.found.push(found);
                    self.counts.rules += 1;
                    return Ok(());
                }
                // What refutes the last one, which is the equation itself, is about its operands alone.
                Err(wrong) => refuted = wrong,
            }
        }
        match refuted {
            Some(wrong) => {
                self.counts.refuted += 1;
                self.feed(&scalars, equation, &wrong);
            }
            None => self.counts.open += 1,
        }
        Ok(())
    }

    fn title(&self) -> String {
        format!("found-{}", self.found.len() + 1)
    }

    /// Adds a counterexample to the values that all further terms are tried on.
    fn feed(&mut self, scalars: &[Scalar], equation: &Equation, wrong: &Wrong) {
        let value = |v: &Variable| {
            let known = wrong.operands.iter().find(|(name, _)| *name == v.name);
            known.map(|(_, bits)| *bits)
        };
        let values: Option<Vec<u64>> = equation.variables.iter().map(value).collect();
        if let Some(values) = values {
            self.against
                .entry(signature(scalars))
                .or_default()
                .push(values);
        }
    }

    /// Proves a rule. Otherwise: what is wrong with it, if something is.
    fn prove(
        &mut self,
        general: &General,
        saves: u64,
    ) -> Result<Result<Found, Option<Wrong>>, String> {
        let name = self.title();
        let written = text::rule(&name, &doc(general), general);
        let set = RuleSet::parse(&format!("(dialect nvvm)\n{written}"), "found.rules");
        let set = set.map_err(|e| format!("{e}: {written}"))?;
        let Some(rule) = set.rules.first() else {
            return Err(format!("no rule: {written}"));
        };
        if tilec::rules::examples::run(&set, rule).is_err() {
            return Ok(Err(None));
        }
        let sampled = soundness::check(rule, soundness::Effort::default());
        let class = match (&self.solver, sampled) {
            (_, Err(wrong)) => Err(wrong),
            (None, Ok(_)) => Ok(Class::Sampled),
            (Some(path), Ok(_)) => {
                let mut solver = Solver::start(path, prove::STEPS)?;
                prove::prove(rule, prove::Effort::default(), &mut solver).map(|v| v.class)
            }
        };
        match class {
            Ok(Class::Sampled) if self.solver.is_some() => Ok(Err(None)),
            Ok(class) => Ok(Ok(Found {
                rule: rule.clone(),
                text: written,
                saves,
                class,
            })),
            Err(wrong) if wrong.operands.is_empty() => Ok(Err(None)),
            Err(wrong) => {
                self.refuted.push((written, wrong.to_string()));
                Ok(Err(Some(wrong)))
            }
        }
    }
}

/// What a rule says of itself.
fn doc(general: &General) -> String {
    let (before, after) = (general.equation.lhs.size(), general.equation.rhs.size());
    let word = |n: usize| match n {
        0 => "none".to_owned(),
        n => n.to_string(),
    };
    format!("{} operations become {}.", word(before), word(after))
}

/// What vectors of values are filed under.
fn signature(scalars: &[Scalar]) -> String {
    scalars.iter().map(|s| format!("{s} ")).collect()
}

/// The types in a term.
fn types(tree: &crate::tree::Tree) -> Vec<Scalar> {
    let mut list = Vec::new();
    tree.each(&mut |part| list.push(part.scalar()));
    list.sort_by_key(|s| (s.bits(), s.to_string()));
    list.dedup();
    list
}

/// Constants that may take the place of these: they, what is next to them, and what two of them make.
fn near(of: &[u64], scalar: Scalar) -> Vec<(u64, Scalar)> {
    let width = scalar.bits();
    let mut list = Vec::new();
    let mut note = |bits: u64| list.push((tilec::facts::truncate(bits, width), scalar));
    for (i, &a) in of.iter().enumerate() {
        [
            a,
            a.wrapping_add(1),
            a.wrapping_sub(1),
            a.wrapping_neg(),
            !a,
        ]
        .into_iter()
        .for_each(&mut note);
        if a < u64::from(width) {
            [1 << a, (1 << a) - 1, u64::MAX << a, u64::from(width) - a]
                .into_iter()
                .for_each(&mut note);
        }
        for &b in of.iter().skip(i + 1) {
            [
                a.wrapping_add(b),
                a.wrapping_sub(b),
                b.wrapping_sub(a),
                a & b,
                a | b,
                a ^ b,
                a.wrapping_mul(b),
            ]
            .into_iter()
            .for_each(&mut note);
            if b < 64 {
                [a << b, a >> b].into_iter().for_each(&mut note);
            }
            if a < 64 {
                [b << a, b >> a].into_iter().for_each(&mut note);
            }
        }
    }
    list
}
