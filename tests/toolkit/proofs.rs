//! Proofs of rules and of the rows of the selection tables: what `rules/PROOFS.md` says of each holds; wrong ones have
//! counterexamples, right ones are proven.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use rayon::prelude::*;

use tilec::isel::Tables;
use tilec::isel::proof::subjects::{self, Prover, Subject};
use tilec::rules::files::{self, Group};
use tilec::rules::prove::solver::{Answer, Solver};
use tilec::rules::prove::table::{self, Row};
use tilec::rules::prove::{self, Class, Effort, Verdict};
use tilec::rules::{Examples, Rule, RuleSet};

use crate::toolkit;

fn solver() -> Solver {
    Solver::start(&toolkit::z3(), prove::STEPS).unwrap_or_else(|e| panic!("{e}"))
}

fn recorded() -> BTreeMap<table::Key, Row> {
    let path = toolkit::repository_root().join("rules/PROOFS.md");
    table::read(&std::fs::read_to_string(path).expect("the table"))
}

/// The shipped rules, rows of the selection tables and matrix instructions of loops.
fn shipped(tables: &Tables) -> Vec<Subject> {
    let load = |group| files::load(group, None, Examples::Kept).unwrap_or_else(|e| panic!("{e}"));
    let rules = Group::ALL
        .into_iter()
        .flat_map(|group| load(group).rules.into_owned());
    let rules = rules.map(Subject::rule);
    let tables = subjects::rows(tables)
        .into_iter()
        .chain(subjects::units(tables));
    let tables = tables.chain(subjects::llvm());
    rules.chain(tables).collect()
}

fn tables() -> Tables {
    Tables::load(None).expect("the built-in tables")
}

#[test]
fn every_rule_and_row_is_in_the_table() {
    let (recorded, subjects) = (recorded(), shipped(&tables()));
    let keys: BTreeSet<&table::Key> = subjects.iter().map(|s| &s.key).collect();
    assert_eq!(keys.len(), subjects.len(), "two have one name");
    let missing: Vec<_> = keys
        .iter()
        .filter(|k| !recorded.contains_key(**k))
        .collect();
    assert!(
        missing.is_empty(),
        "not in rules/PROOFS.md; `tilec rules --prove --update rules/PROOFS.md` adds them: {missing:?}"
    );
    let gone: Vec<_> = recorded.keys().filter(|k| !keys.contains(k)).collect();
    assert!(gone.is_empty(), "no longer a rule or a row: {gone:?}");
}

/// Those that are sampled at best cannot fall: `tests/compiler/rules.rs` and `tests/compiler/selection.rs` sample them.
///
/// What the solver answers to a query is taken from the table. All queries are made anew: where one is not, to the letter,
/// what was asked when the table was written, or the solver is another, it is asked.
#[test]
fn nothing_falls_back() {
    let version = solver().version().to_owned();
    let worse = all_fallen(|prover, subject, row| {
        let replayed = row.record.as_ref().and_then(|record| {
            Solver::replay(record, &version, prove::STEPS, |solver| {
                fallen(prover, subject, row.class, solver)
            })
        });
        replayed.unwrap_or_else(|| fallen_or_stale(prover, subject, row))
    });
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// The same, and the solver is asked everything.
#[test]
#[ignore = "minutes of the solver; `nothing_falls_back` takes its answers from the table"]
fn nothing_falls_back_without_the_table() {
    let worse = all_fallen(fallen_or_stale);
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// What is wrong with a row of the table, by a solver that is asked everything.
fn fallen_or_stale(prover: &Prover, subject: &Subject, row: &Row) -> Option<String> {
    let mut solver = solver();
    let fallen = fallen(prover, subject, row.class, &mut solver);
    fallen.or_else(|| stale(subject, row, &solver))
}

/// What `look` says of the shipped rules and rows that are proven.
fn all_fallen(look: impl Fn(&Prover, &Subject, &Row) -> Option<String> + Sync) -> Vec<String> {
    let (tables, recorded) = (tables(), recorded());
    let prover = Prover::new(&tables, Effort::default());
    shipped(&tables)
        .par_iter()
        .filter_map(|subject| Some((subject, recorded.get(&subject.key)?)))
        .filter(|(_, row)| row.class.is_proof())
        .filter_map(|(subject, row)| look(&prover, subject, row))
        .collect()
}

/// That the solver was asked something else than the table has answers to.
fn stale(subject: &Subject, row: &Row, solver: &Solver) -> Option<String> {
    (solver.record() != row.record.as_ref()).then(|| {
        format!(
            "{} holds, but rules/PROOFS.md is of other queries: \
             `tilec rules --prove --update rules/PROOFS.md` asks the new ones",
            subject.name()
        )
    })
}

/// With a file named, the rows of other files stay.
#[test]
fn the_table_keeps_what_is_not_looked_at() {
    let root = toolkit::repository_root();
    let shipped = std::fs::read_to_string(root.join("rules/PROOFS.md")).expect("the table");
    let copy = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("PROOFS.md");
    std::fs::write(&copy, &shipped).expect("a file");
    let status = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .current_dir(root)
        .args(["rules", "--prove", "--update"])
        .arg(&copy)
        .args(["isel/peephole/address.rules", "rules/tile/pointers.rules"])
        .arg("--solver")
        .arg(toolkit::z3())
        .status();
    assert!(status.expect("tilec runs").success());
    let updated = std::fs::read_to_string(copy).expect("the table");
    assert_eq!(updated, shipped);
}

/// What a rule is now, where that is less than the table says.
fn fallen(prover: &Prover, subject: &Subject, was: Class, solver: &mut Solver) -> Option<String> {
    match prover.prove(subject, solver) {
        Ok(verdict) if verdict.class <= was => None,
        Ok(verdict) => Some(format!(
            "{}: {verdict}; it was {}",
            subject.name(),
            was.name()
        )),
        Err(error) => Some(format!("{}: {error}", subject.name())),
    }
}

/// The verdicts on the rows of a table.
fn rows_of(text: &str) -> Vec<Result<Verdict, String>> {
    let mut tables = Tables::spelling();
    tables.patterns.add(text, "test.sel").expect("rows");
    let prover = Prover::new(&tables, Effort::default());
    let prove = |subject: &Subject| prover.prove(subject, &mut solver());
    let proofs = subjects::rows(&tables)
        .iter()
        .map(prove)
        .collect::<Vec<_>>();
    proofs
        .into_iter()
        .map(|p| p.map_err(|wrong| wrong.to_string()))
        .collect()
}

/// Rows that are almost right: the error has operands for which they are not.
#[test]
fn wrong_rows_have_counterexamples() {
    for (row, what) in [
        // What lies above a byte in its register is anything.
        ("div.u i8 : div.u16(a, b)", "div.u [] of 1 x i8, i8 to i8"),
        (
            "max.s i32 : max.u32(a, b)",
            "max.s [] of 1 x i32, i32 to i32",
        ),
        ("sub i64 : sub.s64(b, a)", "sub [] of 1 x i64, i64 to i64"),
        // The first source of the conversion is the upper half.
        (
            "ftof[!satfinite] f32 -> f16x2 : cvt.{rounding}.f16x2.f32(a.0/2, a.1/2)",
            "to f16",
        ),
        // Bit 8 of a word is in the second byte.
        (
            "zext i8x4 -> i32 : interleave(and.b32(a, 0xff), bfe.u32(a, 9, 8), bfe.u32(a, 16, 8), shr.u32(a, 24))",
            "to i32",
        ),
        // A maximum of two that are no numbers is none; of one, it is the other.
        (
            "fmax f32 : max{ftz}.NaN.f32(a, b)",
            "fmax [] of 1 x f32, f32 to f32",
        ),
        ("shl i16 : shl.b16(a, 1)", "shl [] of 1 x i16, i16 to i16"),
    ] {
        let proofs = rows_of(row);
        let [Err(error)] = proofs.as_slice() else {
            panic!("{row}: {proofs:?}");
        };
        assert!(error.contains("the instructions give"), "{row}: {error}");
        assert!(error.contains(what), "{row}: {error}");
    }
}

#[test]
fn right_rows_are_proven() {
    for row in [
        "div.u i8 : div.u16(cvt.u16.u8(a), cvt.u16.u8(b))",
        "shl i64 : shl.b64(a, cvt.sat.u32.u64(b))",
        "zext i8x4 -> i32 : interleave(and.b32(a, 0xff), bfe.u32(a, 8, 8), bfe.u32(a, 16, 8), shr.u32(a, 24))",
        "ftof[!satfinite] bf16 -> f32 : @pack.hh(0, a)",
    ] {
        let proofs = rows_of(row);
        let [Ok(verdict)] = proofs.as_slice() else {
            panic!("{row}: {proofs:?}");
        };
        assert_eq!(verdict.class, Class::Proven, "{row}: {verdict}");
    }
}

/// Matmul rules: the instruction's fragments are not those of another shape.
#[test]
fn matmuls_are_proven_and_wrong_ones_are_not() {
    let tables = tables();
    let prover = Prover::new(&tables, Effort::default());
    let verdict = |text: &str| {
        let text = format!("(dialect cuda_tile => nv_tileas) {text}");
        let mut set = RuleSet::parse(&text, "test").unwrap_or_else(|e| panic!("{e}"));
        prover.prove(&Subject::rule(set.rules.to_mut().remove(0)), &mut solver())
    };
    let right = "(rule r \"\" (mmaf _ ?a:f16 ?b:f16 ?c:f32) => (dot m16n8k16 false false none none none none none none ?a ?b ?c) \
                 (check (skip \"a matmul\")))";
    let proof = verdict(right).expect("a right rule");
    assert_eq!(proof.class, Class::Proven);
    // 16 rows of 8 columns of one instruction; of 2 x 2 in each of four warps; of four in each of two.
    let elements = 128 * (1 + 4 * 4 + 2 * 4);
    assert!(
        proof.why.starts_with(&format!("{elements} elements")),
        "{}",
        proof.why
    );
    let wrong = right.replace("f16 ?c", "bf16 ?c");
    let error = verdict(&wrong).expect_err("no instruction multiplies f16 by bf16");
    assert!(
        error.to_string().contains("no target has an instruction"),
        "{error}"
    );
}

fn parse(text: &str) -> Rule {
    let text = format!("(dialect nvvm) {text}");
    let mut set = RuleSet::parse(&text, "test").unwrap_or_else(|e| panic!("{e}"));
    set.rules.to_mut().remove(0)
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
    let rule = Subject::rule(parse(
        "(rule r \"\" (fadd nearest_even none ?x:f16 ?c:const) => (fsub nearest_even none ?x (fneg ?c)))",
    ));
    let tables = tables();
    let prover = Prover::new(&tables, Effort::default());
    let fallen = |was| fallen(&prover, &rule, was, &mut solver());
    assert_eq!(fallen(Class::ProvenByCase), None);
    let fall = fallen(Class::Proven).unwrap();
    assert!(fall.ends_with("it was proven"), "{fall}");
}

/// A proof by recorded answers is the solver's own; of another rule it is none.
#[test]
fn records_are_of_one_rule() {
    let text = "(rule r \"\" (sub (add ?x ?y:i64) ?y) => ?x)";
    let mut running = solver();
    let verdict = prove::prove(&parse(text), Effort::default(), &mut running);
    let record = running.record().expect("no values");
    let replay = |text: &str| {
        Solver::replay(record, running.version(), prove::STEPS, |solver| {
            prove::prove(&parse(text), Effort::default(), solver)
        })
    };
    assert!(verdict.is_ok());
    assert_eq!(replay(text), Some(verdict));
    // Wrong, and as many queries.
    assert_eq!(replay(&text.replace("?y) =>", "?x) =>")), None);
    assert_eq!(replay(&text.replace("i64", "i32")), None);
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
