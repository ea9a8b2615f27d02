//! What the search finds, drops and refutes. Expectations are identities of arithmetic, and rules that tilec ships.

use std::sync::Arc;

use rulefinder::engine::{Engine, Verdict};
use rulefinder::enumerate::{Enumeration, Limits};
use rulefinder::equation::Equation;
use rulefinder::find::{self, Finder};
use rulefinder::generalise::{self, Written};
use rulefinder::operations::{self, Operation};
use rulefinder::shipped::{self, Standing};
use rulefinder::text;
use rulefinder::themes::Theme;
use rulefinder::tree::Tree;
use rulefinder::vectors::{Variable, vectors};
use tilec::dialect::Dialect;
use tilec::facts::semantics::Scalar;
use tilec::rules::files::{self, Group};
use tilec::rules::prove::Class;
use tilec::rules::prove::solver::Solver;
use tilec::rules::{Examples, RuleSet, examples, prove};

#[path = "../../../tests/common/toolkit.rs"]
mod toolkit;

const I32: Scalar = Scalar::Int(32);

fn solver() -> Solver {
    Solver::start(&toolkit::z3(), prove::STEPS).unwrap_or_else(|e| panic!("{e}"))
}

fn engine(without: &[&str]) -> Engine {
    let shipped = files::load(Group::Isel, None, Examples::Kept).unwrap_or_else(|e| panic!("{e}"));
    let rules = shipped.filtered(|rule| !without.contains(&&*rule.name));
    Engine::new(rules, "sm_90a".parse().expect("a target")).unwrap_or_else(|e| panic!("{e}"))
}

fn theme(types: &[Scalar], rows: &[&str], size: usize, constants: &[i64]) -> Theme {
    Theme {
        name: "test".into(),
        variables: types.to_vec(),
        others: Vec::new(),
        rows: rows.iter().map(|r| (*r).to_owned()).collect(),
        size,
        constants: constants.to_vec(),
        nonneg: false,
    }
}

fn search(without: &[&str], theme: &Theme) -> Finder {
    let mut finder = Finder::new(
        engine(without),
        find::Limits::default(),
        Some(toolkit::z3()),
    );
    finder.theme(theme).unwrap_or_else(|e| panic!("{e}"));
    finder
}

/// What was found, as a file of rules.
fn file(finder: &Finder) -> RuleSet {
    let rules: Vec<&str> = finder.found.iter().map(|f| f.text.as_str()).collect();
    let text = format!("(dialect nvvm)\n{}", rules.join("\n"));
    RuleSet::parse(&text, "found.rules").unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn operation(name: &str, scalar: Scalar) -> Arc<Operation> {
    let all = operations::all(&[scalar], &|row| row.name == name);
    all.into_iter()
        .next()
        .unwrap_or_else(|| panic!("no {name} of {scalar}"))
}

fn equation(lhs: Tree, rhs: Tree) -> Equation {
    let names = ["x", "y"].map(|name| Variable::new(name, I32, false));
    let used = lhs.variables().len();
    Equation {
        variables: names[..used].to_vec(),
        lhs,
        rhs,
    }
}

fn x() -> Tree {
    Tree::Variable(0, I32)
}

fn constant(value: u64) -> Tree {
    Tree::Constant(value, I32)
}

fn binary(name: &str, a: Tree, b: Tree) -> Tree {
    Tree::Op(operation(name, I32), vec![a, b])
}

#[test]
fn a_rule_that_is_taken_away_is_found_again() {
    let bits = theme(&[I32], &["not", "xor", "and"], 2, &[0, -1]);
    let usual = search(&[], &bits);
    for (name, rule) in [
        ("not-not", "(not (not ?x:i8|i16|i32|i64)) => ?x"),
        ("and-self", "(and ?x:i8|i16|i32|i64 ?x) => ?x"),
        ("xor-self", "(xor ?x:i8|i16|i32|i64 ?x) => 0"),
    ] {
        let has = |finder: &Finder| finder.found.iter().any(|f| f.text.contains(rule));
        let found = search(&[name], &bits);
        let texts: Vec<&str> = found.found.iter().map(|f| f.text.as_str()).collect();
        // Where the complement is spelt as an exclusive or, that is as good.
        let spelt = rule.replace(
            "(not (not ?x:i8|i16|i32|i64))",
            "(not (xor ?x:i8|i16|i32|i64 -1))",
        );
        assert!(
            has(&found) || texts.iter().any(|t| t.contains(&spelt)),
            "{name}: {texts:?}"
        );
        assert!(!has(&usual), "{name} is there");
    }
}

#[test]
fn what_is_found_is_a_rule_file_that_is_proven() {
    let away = [
        "or-self",
        "sub-self",
        "mul-one",
        "mul-power-of-two",
        "shift-zero",
    ];
    let found = search(
        &away,
        &theme(
            &[I32],
            &["and", "or", "sub", "mul", "shl"],
            1,
            &[0, 1, 2, 8],
        ),
    );
    let set = file(&found);
    assert!(set.rules.len() >= 4, "{:?}", found.found);
    let mut solver = solver();
    for rule in set.rules.iter() {
        assert!(examples::run(&set, rule).is_ok(), "{}", rule.name);
        let verdict = prove::prove(rule, prove::Effort::default(), &mut solver)
            .unwrap_or_else(|e| panic!("{e}"));
        assert!(
            verdict.class <= Class::Exhausted,
            "{}: {verdict}",
            rule.name
        );
    }
    // One rule for all powers of two, not one for each.
    let shifts = found.found.iter().filter(|f| {
        f.text
            .contains("(mul ?x:i32 ?c:i32:const) => (shl ?x (const (log2 (u ?c))))")
    });
    assert_eq!(shifts.count(), 1, "{:?}", found.found);
}

#[test]
fn a_wrong_equation_is_thrown_away_and_its_counterexample_kept() {
    // True but for one operand in 2^32, which no test vector is.
    let odd = 0x1234_5677;
    let compare = operations::all(&[I32], &|row| row.name == "icmp");
    let equal = compare
        .iter()
        .find(|o| o.is_without_sign())
        .expect("a comparison");
    let rare = Tree::Op(equal.clone(), vec![x(), constant(odd)]);
    let wide = operations::all(&[Scalar::Int(1), I32], &|row| row.name == "zext");
    let wide = wide
        .iter()
        .find(|o| o.operands[..] == [Scalar::Int(1)] && o.result == I32);
    let rare = Tree::Op(wide.expect("a widening").clone(), vec![rare]);
    let wrong = equation(binary("add", x(), rare), x());
    let mut finder = Finder::new(engine(&[]), find::Limits::default(), Some(toolkit::z3()));
    finder.consider(vec![wrong.clone()]).expect("judged");
    assert_eq!((finder.counts.refuted, finder.counts.rules), (1, 0));
    let (_, why) = finder.refuted.last().expect("what refuted it");
    assert!(why.contains("?x = 305419895 (i32)"), "{why}");
    // The same mistake once more is seen without the solver.
    finder.solver = None;
    let shorter = equation(binary("xor", x(), wrong_part(&wrong)), x());
    finder.consider(vec![shorter]).expect("judged");
    assert_eq!((finder.counts.refuted, finder.counts.rules), (2, 0));
}

/// The second operand.
fn wrong_part(equation: &Equation) -> Tree {
    match &equation.lhs {
        Tree::Op(_, args) => args[1].clone(),
        other => other.clone(),
    }
}

#[test]
fn a_rule_that_follows_from_others_is_reported() {
    let text = "(dialect nvvm)
        (rule twice-not \"\" (not (not ?x)) => ?x)
        (rule thrice-not \"\" (not (not (not ?x))) => (not ?x))
        (rule add-zero \"\" (add ?x 0) => ?x)";
    let rules = RuleSet::parse(text, "test.rules").unwrap_or_else(|e| panic!("{e}"));
    let standings =
        shipped::standings(&engine(&[]), &rules, Dialect::Nvvm, &|_| true).expect("drawn");
    let redundant: Vec<&str> = (standings.iter())
        .filter(|(_, s)| matches!(s, Standing::Redundant(_)))
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(redundant, ["thrice-not"]);
    assert_eq!(standings.len(), 3);
}

/// What others do one iteration later is no redundant rule.
#[test]
fn a_rule_that_saves_an_iteration_is_a_short_cut() {
    let text = "(dialect nvvm)
        (rule sub-zero \"\" (sub ?x 0) => ?x)
        (rule sub-constant \"\" (sub ?x ?c:const) => (add ?x (const (- ?c))))
        (rule add-zero \"\" (add ?x 0) => ?x)";
    let rules = RuleSet::parse(text, "test.rules").unwrap_or_else(|e| panic!("{e}"));
    let standings =
        shipped::standings(&engine(&[]), &rules, Dialect::Nvvm, &|_| true).expect("drawn");
    let short = |(name, standing): &(String, Standing)| {
        matches!(standing, Standing::ShortCut(_)).then(|| name.clone())
    };
    let short: Vec<String> = standings.iter().filter_map(short).collect();
    assert_eq!(short, ["sub-zero"]);
}

#[test]
fn no_shipped_rule_is_redundant() {
    for group in Group::ALL {
        let rules = files::load(group, None, Examples::Dropped).expect("the built-in rules");
        let constants = match group {
            Group::Tile | Group::TileAaToTileAs => Dialect::CudaTile,
            Group::TileAsToNvvm | Group::Isel => Dialect::Nvvm,
        };
        let standings = shipped::standings(&engine(&[]), &rules, constants, &|_| true);
        let standings = standings.unwrap_or_else(|e| panic!("{e}"));
        let redundant = standings
            .iter()
            .filter(|(_, s)| matches!(s, Standing::Redundant(_)));
        let redundant: Vec<&String> = redundant.map(|(name, _)| name).collect();
        assert!(redundant.is_empty(), "{redundant:?}");
    }
}

#[test]
fn constants_become_variables_with_the_condition_that_they_need() {
    // (x << 3) >> 3 keeps the low 29 bits; two shifts become one where they fit.
    let general = |lhs, rhs| {
        let equation = equation(lhs, rhs);
        let first = generalise::generalisations(&equation, &[], 1);
        first
            .into_iter()
            .next()
            .expect("at least the equation itself")
    };
    let masked = general(
        binary("shr.u", binary("shl", x(), constant(3)), constant(3)),
        binary("and", x(), constant(0x1fff_ffff)),
    );
    // Different amounts would be another rule: one of the two stays, or they are equal.
    let written = text::rule("r", "", &masked);
    assert!(
        written.contains("(where (== ?c ?d))") || masked.lhs.contains(&Written::Literal),
        "{written}"
    );
    let folded = general(
        binary("shl", binary("shl", x(), constant(2)), constant(3)),
        binary("shl", x(), constant(5)),
    );
    assert_eq!(folded.lhs, [Written::Named(0), Written::Named(1)]);
    let written = text::rule("r", "", &folded);
    assert!(written.contains("(shl ?x (const (+ "), "{written}");
    // Amounts beyond the width shift everything out, so that their sum needs no bound.
    assert!(folded.conditions.is_empty(), "{written}");
}

#[test]
fn classes_hold_what_is_equal_and_say_which_is_cheaper() {
    let engine = engine(&[]);
    let space = theme(&[I32, I32], &["add", "sub", "mul"], 2, &[0, 2]).space(&engine, 96, &[]);
    let mut equations = Vec::new();
    let mut enumeration = Enumeration::new(&space);
    let limits = Limits {
        size: 2,
        terms: 100_000,
    };
    enumeration.run(limits, &mut |e| equations.push(e));
    assert!(!enumeration.made.cut);
    let tidied: Vec<(String, String)> = (equations.iter().cloned())
        .filter_map(Equation::tidy)
        .map(|e| {
            (
                text::term(&e.lhs, &e.variables),
                text::term(&e.rhs, &e.variables),
            )
        })
        .collect();
    for (before, after) in [
        ("(sub (add ?x:i32 ?y:i32) ?x)", "?y:i32"),
        ("(add (sub ?x:i32 ?y:i32) ?y)", "?x:i32"),
    ] {
        let is = |(b, a): &(String, String)| b == before && a == after;
        assert!(tidied.iter().any(is), "{before}");
    }
    for equation in &equations {
        let values = vectors(&equation.variables, 100, &[]);
        assert!(values.iter().all(|v| equation.holds_for(v)));
    }
}

#[test]
fn what_the_rules_do_already_is_no_candidate() {
    let engine = engine(&[]);
    let derived = equation(binary("add", x(), constant(0)), x());
    // A product by five is not one shift.
    let open = equation(
        binary("mul", x(), constant(5)),
        binary("shl", x(), constant(3)),
    );
    let verdicts = engine.judge(&[derived, open]).expect("judged");
    assert_eq!(verdicts[0], Verdict::Derived);
    assert!(
        matches!(verdicts[1], Verdict::Costs(a, b) if a > b),
        "{verdicts:?}"
    );
}

#[test]
fn the_same_search_says_the_same() {
    let theme = theme(&[I32, I32], &["and", "or", "xor"], 2, &[0, -1]);
    let (a, b) = (search(&["or-zero"], &theme), search(&["or-zero"], &theme));
    let texts = |f: &Finder| f.found.iter().map(|f| f.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&a), texts(&b));
    assert!(!a.found.is_empty());
}
