//! Every rewrite rule: its examples through the engine, and its soundness by arithmetic.

use rayon::prelude::*;

use tilec::rules::files::{self, Group};
use tilec::rules::soundness::{self, Effort};
use tilec::rules::{Examples, Pattern, Rule, RuleSet, examples};

fn check(set: &RuleSet, rule: &Rule) -> Result<(), String> {
    let name = |e: String| format!("{}:{}: rule {}: {e}", rule.file, rule.pos.line, rule.name);
    examples::run(set, rule).map_err(name)?;
    if soundness::exempt(&rule.check).is_none() {
        soundness::check(rule, Effort::default()).map_err(|wrong| name(wrong.message))?;
    }
    Ok(())
}

fn all_hold(set: &RuleSet) {
    assert!(!set.rules.is_empty(), "no rules");
    let wrong: Vec<String> = set
        .rules
        .par_iter()
        .filter_map(|rule| check(set, rule).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn group_holds(group: Group) {
    all_hold(&files::load(group, None, Examples::Kept).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn tile_rules_hold() {
    group_holds(Group::Tile);
}

#[test]
fn atom_rules_hold() {
    group_holds(Group::TileAaToTileAs);
}

#[test]
fn lowering_rules_hold() {
    group_holds(Group::TileAsToNvvm);
}

#[test]
fn peepholes_hold() {
    group_holds(Group::Isel);
}

/// The harness itself: each of these is wrong somewhere, and must be found out.
#[test]
fn wrong_rules_are_caught() {
    let wrong = [
        // -7 / 4 is -1 rounded to zero, but -2 by a shift.
        "(rule r (divi signed zero ?x ?c:const) => (shri signed ?x (const (log2 ?c))) (where (is-pow2 ?c)))",
        // +0 + +0 is +0, but -0 + 0 is +0, too.
        "(rule r (addf nearest_even none ?x 0.0) => ?x)",
        // NaN and infinity.
        "(rule r (mulf nearest_even none ?x 0.0) => 0.0 (check (types ?x f32)))",
        "(rule r (subf nearest_even none ?x ?x) => 0.0)",
        // Wraps.
        "(rule r (divi signed zero (muli none ?x ?y) ?y) => ?x)",
        "(rule r (cmpi less_than signed (addi none ?x 1) ?x) => false)",
        // Rounded once, not twice.
        "(rule r (addf ?r ?z (mulf ?r ?z ?x ?y) ?w) => (fma ?r ?z ?x ?y ?w))",
        // 1/3 is not exact.
        "(rule r (divf nearest_even ?z ?x ?c:const) => (mulf nearest_even ?z ?x (const (/ 1.0 ?c))))",
        // There is no product that rounds as a fast quotient does.
        "(rule r (divf ?r ?z ?x:f32 ?c:const) => (mulf ?r ?z ?x (const (/ 1.0 ?c))) (where (exact-reciprocal ?c)))",
        // Signs.
        "(rule r (remi signed ?x ?c:const) => (andi ?x (const (- ?c 1))) (where (is-pow2 ?c)))",
        "(rule r (select (cmpi less_than ?s ?x ?y) ?x ?y) => (maxi ?s ?x ?y))",
        // Bounds that do not suffice.
        "(rule r (andi ?x ?c:const) => ?x (where (nonneg ?x) (is-pow2 (+ ?c 1))))",
        // The flag does not hold any more.
        "(rule r (addi none (subi none ?x ?y) ?z) => (addi no_signed_wrap ?x (subi none ?z ?y)))",
        // A bound on the error that is too good.
        "(rule r (exp full ?x:f32) => (exp2 none (mulf nearest_even none ?x #x3fb8aa3b)) (check (ulp 2)))",
    ];
    for text in wrong {
        let set = RuleSet::parse(&format!("(dialect cuda_tile) {text}"), "wrong.rules")
            .unwrap_or_else(|e| panic!("{e}"));
        let found = soundness::check(&set.rules[0], Effort::default());
        assert!(found.is_err(), "not caught: {text}");
    }
}

/// A thread takes the result for rare operands for all of its registers.
#[test]
fn what_is_chosen_for_rare_operands_is_right_for_others() {
    let check = |rare: &str| {
        let rule = format!(
            "(rule r (max.s ?x:i32 100) => (rarely (icmp less_than signed ?x 100) {rare} ?x))"
        );
        let set = RuleSet::parse(&format!("(dialect nvvm) {rule}"), "rare.rules")
            .unwrap_or_else(|e| panic!("{e}"));
        soundness::check(&set.rules[0], Effort::default())
    };
    assert!(check("(max.s ?x 100)").is_ok());
    assert!(check("100").is_err(), "100 is no maximum of 200 and 100");
}

/// Elements do not show in which order registers are.
#[test]
fn a_variable_is_read_by_the_same_indices_on_both_sides() {
    let refused = [
        "(rule r (add (take ?i ?t:i32 ?x:i32) ?y) => (add ?x ?y))",
        "(rule r (sub (take _ ?t:i32 ?x:i32) (take _ ?t ?x)) => 0)",
        "(rule r (add (take ?i ?t:i32 ?x:i32) (take ?j ?t ?y:i32)) => (take ?i ?t (add ?x ?y)))",
    ];
    for text in refused {
        let set = RuleSet::parse(&format!("(dialect nvvm) {text}"), "taken.rules")
            .unwrap_or_else(|e| panic!("{e}"));
        let error = soundness::check(&set.rules[0], Effort::default()).expect_err("other indices");
        assert!(error.message.contains("different indices"), "{error}");
    }
    let text = "(dialect nvvm) (rule r (add (take ?i ?t:i32 ?x:i32) (take ?i ?t ?y)) => (take ?i ?t (add ?x ?y)))";
    let set = RuleSet::parse(text, "taken.rules").unwrap_or_else(|e| panic!("{e}"));
    soundness::check(&set.rules[0], Effort::default()).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_rule_that_never_applies_is_reported() {
    let text = "(dialect cuda_tile) (rule r (addi none ?x ?y) => ?x (where (< (hi ?y) (lo ?y))))";
    let set = RuleSet::parse(text, "never.rules").unwrap_or_else(|e| panic!("{e}"));
    let error = soundness::check(&set.rules[0], Effort::default()).expect_err("it cannot apply");
    assert!(error.message.contains("never applied"), "{error}");
}

#[test]
fn wrong_examples_are_reported() {
    let cases = [
        (
            "(rule r (addi _ ?x 0) => ?x (example (addi none ?x:i32 1) => ?x:i32))",
            "does not apply",
        ),
        (
            "(rule r (addi _ ?x 0) => ?x (example (addi none ?x:i32 0) => 0))",
            "does not yield",
        ),
        (
            "(rule r (addi _ ?x 0) => ?x (example (addi none ?x 0) => ?x))",
            "needs a type",
        ),
    ];
    for (text, expected) in cases {
        let set = RuleSet::parse(&format!("(dialect cuda_tile) {text}"), "examples.rules")
            .unwrap_or_else(|e| panic!("{e}"));
        let error = examples::run(&set, &set.rules[0]).expect_err(text);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_set_without_a_rule_has_the_others_where_they_are_looked_for() {
    let text = "(dialect nvvm)
        (rule a (add ?x 0) => ?x)
        (rule b (sub ?x 0) => ?x)
        (rule c (add ?x ?x) => (shl ?x 1))";
    let set = RuleSet::parse(text, "test.rules").unwrap_or_else(|e| panic!("{e}"));
    let rest = set.filtered(|rule| rule.name != "a");
    let names: Vec<&str> = rest.rules.iter().map(|r| &*r.name).collect();
    assert_eq!(names, ["b", "c"]);
    for (number, rule) in rest.rules.iter().enumerate() {
        let Pattern::Op(op) = &rule.pattern else {
            panic!("a pattern's root is an operation")
        };
        assert_eq!(*rest.by_head[&op.head], [number as u32], "{}", rule.name);
    }
}
