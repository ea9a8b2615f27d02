//! Proofs of rules: what `rules/PROOFS.md` says of each holds; wrong ones have counterexamples, right ones are proven.

use std::collections::BTreeMap;

use rayon::prelude::*;

use tilec::rules::files::{self, Group};
use tilec::rules::prove::solver::{Answer, Solver};
use tilec::rules::prove::{self, Class, Effort, table};
use tilec::rules::{Examples, Rule, RuleSet};

use crate::toolkit;

fn solver() -> Solver {
    Solver::start(&toolkit::z3(), prove::STEPS).unwrap_or_else(|e| panic!("{e}"))
}

fn recorded() -> BTreeMap<table::Key, Class> {
    let path = toolkit::repository_root().join("rules/PROOFS.md");
    let rows = table::read(&std::fs::read_to_string(path).expect("the table"));
    rows.into_iter()
        .map(|(key, row)| (key, row.class))
        .collect()
}

/// The shipped rules, by what they are called in the table.
fn shipped() -> BTreeMap<table::Key, Rule> {
    let load = |group| files::load(group, None, Examples::Kept).unwrap_or_else(|e| panic!("{e}"));
    let rules = Group::ALL.into_iter().flat_map(|group| load(group).rules);
    rules
        .map(|rule| ((rule.file.clone(), rule.name.clone()), rule))
        .collect()
}

#[test]
fn every_rule_is_in_the_table() {
    let (recorded, rules) = (recorded(), shipped());
    let missing: Vec<_> = rules
        .keys()
        .filter(|k| !recorded.contains_key(*k))
        .collect();
    assert!(
        missing.is_empty(),
        "not in rules/PROOFS.md; `tilec rules --prove --update rules/PROOFS.md` adds them: {missing:?}"
    );
    let gone: Vec<_> = recorded
        .keys()
        .filter(|k| !rules.contains_key(*k))
        .collect();
    assert!(gone.is_empty(), "no longer a rule: {gone:?}");
}

/// Rules that are sampled at best cannot fall, and `tests/compiler/rules.rs` samples them.
#[test]
fn no_rule_falls_back() {
    let rules: Vec<(Rule, Class)> = {
        let mut shipped = shipped();
        let classes = recorded().into_iter();
        classes
            .filter_map(|(key, was)| Some((shipped.remove(&key)?, was)))
            .collect()
    };
    let worse: Vec<String> = rules
        .par_iter()
        .filter(|(_, was)| !matches!(was, Class::Sampled | Class::Exempt))
        .filter_map(|(rule, was)| fallen(rule, *was))
        .collect();
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// What a rule is now, where that is less than the table says.
fn fallen(rule: &Rule, was: Class) -> Option<String> {
    match prove::prove(rule, Effort::default(), &mut solver()) {
        Ok(verdict) if verdict.class <= was => None,
        Ok(verdict) => Some(format!("{}: {verdict}; it was {}", rule.name, was.name())),
        Err(error) => Some(format!("{}: {error}", rule.name)),
    }
}

fn parse(text: &str) -> Rule {
    let text = format!("(dialect nvvm) {text}");
    let mut set = RuleSet::parse(&text, "test").unwrap_or_else(|e| panic!("{e}"));
    set.rules.remove(0)
}

fn verdict_of(text: &str) -> Result<Class, String> {
    let verdict = prove::prove(&parse(text), Effort::default(), &mut solver());
    verdict.map(|v| v.class).map_err(|wrong| wrong.to_string())
}

/// Rules that are almost right: the solver has values for which they are not.
#[test]
fn wrong_rules_have_counterexamples() {
    for (rule, value) in [
        // The sum may wrap.
        (
            "(rule r \"\" (icmp less_than signed (add ?x ?y:i32) ?x) => (icmp less_than signed ?y 0))",
            "?x = ",
        ),
        // -0 + 0 is 0.
        (
            "(rule r \"\" (fadd nearest_even none ?x:f32 0.0) => ?x)",
            "?x = -0 (0x80000000: f32)",
        ),
        // A quotient rounds towards zero, a shift down.
        ("(rule r \"\" (div.s ?x:i32 4) => (shr.s ?x 2))", "?x = -"),
        // The one difference of two sums of 64 bits.
        (
            "(rule r \"\" (add ?x ?y:i64) => (select (icmp equal signed ?x 81985529216486895) ?x (add ?x ?y)))",
            "?x = 81985529216486895 (i64)",
        ),
        // The one constant among 2^32.
        (
            "(rule r \"\" (add ?x:i32 ?c:const) => (sub ?x (const (max (- ?c) -2147483640))) (where (< ?c 2147483642)))",
            "with constants",
        ),
        // A fact that is not enough.
        (
            "(rule r \"\" (or ?x:i32 ?c:const) => (add ?x ?c) (where (is-pow2 ?c) (divisible-by ?x ?c)))",
            "with constants",
        ),
    ] {
        let error = verdict_of(rule).expect_err(rule);
        assert!(error.contains("where the pattern gives"), "{rule}: {error}");
        assert!(error.contains(value), "{rule}: {error}");
    }
}

/// What is proven, and for which constants and ranges.
#[test]
fn right_rules_are_proven() {
    for (rule, class) in [
        (
            "(rule r \"\" (sub (add ?x ?y:i64) ?y) => ?x)",
            Class::Proven,
        ),
        (
            "(rule r \"\" (fadd nearest_even none ?x:f64 -0.0) => ?x)",
            Class::Proven,
        ),
        (
            "(rule r \"\" (mul ?x:i8 ?c:const) => (shl ?x (const (log2 (u ?c)))) (where (is-pow2 (u ?c))))",
            Class::Proven,
        ),
        // Constants that are floats are not unknowns of a proof.
        (
            "(rule r \"\" (fadd nearest_even none ?x:f16 ?c:const) => (fsub nearest_even none ?x (fneg ?c)))",
            Class::ProvenByCase,
        ),
        // Two results within a bound are compared on values only.
        (
            "(rule r \"\" (fadd nearest_even none ?x:f16 -0.0) => ?x (check (ulp 1)))",
            Class::Exhausted,
        ),
    ] {
        assert_eq!(verdict_of(rule), Ok(class), "{rule}");
    }
}

/// A rule that needs more than it did falls back, and that is seen.
#[test]
fn a_fall_is_seen() {
    let rule = parse(
        "(rule r \"\" (fadd nearest_even none ?x:f16 ?c:const) => (fsub nearest_even none ?x (fneg ?c)))",
    );
    assert_eq!(fallen(&rule, Class::ProvenByCase), None);
    let fall = fallen(&rule, Class::Proven).unwrap();
    assert!(fall.ends_with("it was proven"), "{fall}");
}

/// SMT-LIB's own facts, by the same way to the solver.
#[test]
fn the_solver_answers() {
    let mut solver = solver();
    let unknowns = ["x0".to_owned()];
    let byte = "(declare-const x0 (_ BitVec 8))";
    let query = format!("{byte}(assert (= (bvadd x0 #x01) #x00))");
    assert_eq!(solver.ask(&query, &unknowns), Ok(Answer::Values(vec![255])));
    let query = format!("{byte}(assert (bvugt x0 #xff))");
    assert_eq!(solver.ask(&query, &unknowns), Ok(Answer::Unsatisfiable));
}
