use super::files::{self, Group};
use super::{Examples, RuleSet};

#[test]
fn all_rule_files_are_read() {
    for group in Group::ALL {
        files::load(group, None, Examples::Kept).unwrap_or_else(|e| panic!("{e}"));
    }
}

fn wrong(text: &str) -> String {
    match RuleSet::parse(text, "a.rules") {
        Ok(_) => panic!("nothing is wrong with {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_misspelt_operation_is_shown_in_its_line() {
    let text = "(dialect cuda_tile => nvvm)\n(rule r (mulli _ ?x 1) => ?x)\n";
    let shown =
        "a.rules:2:9: error: there is no operation called `mulli` in cuda_tile: expected `muli`?
  note: (rule r (mulli _ ?x 1) => ?x)
                ^";
    assert_eq!(wrong(text), shown);
    let inner = "(dialect cuda_tile => nvvm) (rule r (muli _ ?x 1) => (let (($y (ad ?x 0))) $y))";
    let place = "a.rules:1:64: error: there is no operation called `ad` in nvvm: expected `add`?";
    assert!(wrong(inner).starts_with(place), "{}", wrong(inner));
}

#[test]
fn what_is_no_form_is_shown_too() {
    let text = "(dialect cuda_tile)\n(rule r";
    let shown = "a.rules:2:1: error: this `(` is never closed\n  note: (rule r\n        ^";
    assert_eq!(wrong(text), shown);
}

#[test]
fn a_part_too_few_is_an_error() {
    let text = "(dialect cuda_tile) (rule r (muli ?x 1) => ?x)";
    let error = wrong(text);
    assert!(
        error.starts_with("a.rules:1:29: error: `muli` takes 1 attributes"),
        "{error}"
    );
    assert!(error.contains("3 items, not 2"), "{error}");
}

/// What is wrong, with a `^` in front of where it is, and what is said of it.
const WRONG: &[(&str, &str)] = &[
    ("(dialect nvvm) ^)", "unmatched `)`"),
    ("(dialect ^\"nvvm)", "this string is never closed"),
    (
        "^(dialect moon)",
        "expected (dialect NAME) or (dialect NAME => NAME) of cuda_tile, ",
    ),
    (
        "^(ruel r (add ?x 0) => ?x)",
        "expected (dialect …), (rule …), (for …), (abbreviate …) or (costs …)",
    ),
    (
        "^(rule r (add ?x 0) => ?x)",
        "a (dialect …) header must come first",
    ),
    ("(dialect nvvm) ^(rule)", "expected (rule NAME …)"),
    (
        "(dialect nvvm) ^(rule r \"doc\")",
        "the rule has no pattern",
    ),
    (
        "(dialect nvvm) ^(rule r ?x => ?x)",
        "a pattern's root must be an operation",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) ^=>)",
        "nothing follows `=>`",
    ),
    (
        "(dialect nvvm) ^(rule r (add ?x 0))",
        "the rule has no replacement",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x) ^(rule r (sub ?x 0) => ?x)",
        "there is another rule called r",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x ^(when))",
        "expected `=>`, (where …), (cost …), (example …) or (check …)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x ^(cost x))",
        "expected (cost NUMBER) or (cost NUMBER each)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x ^(cost 1 all))",
        "expected (cost NUMBER) or (cost NUMBER each)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x ^(example ?x))",
        "expected (example BEFORE => AFTER)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (check ^(ulps 1)))",
        "expected (ulp N), (abs X), ",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (check ^(range ?y 0 1)))",
        "expected (range ?VAR LO HI)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (check ^(types ?x i65)))",
        "expected (types ?VAR TYPE …)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (check ^(skip)))",
        "expected (skip \"REASON\")",
    ),
    (
        "(dialect nvvm) (costs ^(add))",
        "expected (OPERATION COST [cheap])",
    ),
    (
        "(dialect nvvm) (costs ^(add x))",
        "expected an operation and its cost in tenths of an instruction",
    ),
    (
        "(dialect nvvm) (costs ^(add 1 dear))",
        "after the cost only `cheap` may follow",
    ),
    (
        "^(abbreviate add x)",
        "expected (abbreviate $NAME (ITEM …))",
    ),
    ("^(for ($a))", "expected (for (NAMES) (ROWS) FORMS …)"),
    ("^(for (a) ((b)))", "the names of a `for` start with `$`"),
    ("(for ($a $b) (^(c)))", "expected 2 entries"),
    // Operations.
    (
        "(dialect nvvm) (rule r (add ?x 0) => ^(plus ?x))",
        "there is no operation called `plus` in nvvm",
    ),
    (
        "(dialect nvvm) (rule r (add ?x ^(ad ?x 0)) => ?x)",
        "there is no operation called `ad` in nvvm: expected `add`?",
    ),
    (
        "(dialect nvvm) (rule r (add ?x ^(?x)) => ?x)",
        "there is no operation called `?x` in nvvm",
    ),
    (
        "(dialect nvvm) (rule r ^(add ?x) => ?x)",
        "`add` takes 0 attributes (), 0 types, 2 operands (lhs rhs): 2 items, not 1",
    ),
    (
        "(dialect nvvm) (rule r (add ?x ^()) => ?x)",
        "expected (OPERATION …)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x ^zero) => ?x)",
        "`zero` is neither a variable nor a literal",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ^zero)",
        "`zero` is neither a variable nor a literal",
    ),
    (
        "(dialect cuda_tile) (rule r (muli ^nsw ?x 1) => ?x)",
        "`nsw` is no case of overflow: none, no_signed_wrap, ",
    ),
    (
        "(dialect cuda_tile) (rule r (muli ^() ?x 1) => ?x)",
        "expected an attribute",
    ),
    // Variables, names, types.
    (
        "(dialect nvvm) (rule r (add ^? 0) => 0)",
        "a variable needs a name",
    ),
    (
        "(dialect nvvm) (rule r (add ^?x:i99 0) => 0)",
        "`i99` is no element type: expected i32, f16, int, float, ",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ^?y)",
        "expected a variable that the pattern binds",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ^$y)",
        "no `let` names $y",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ^(let ?x))",
        "expected (let (($NAME FORM) …) BODY)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => (let (^($y)) $y))",
        "expected ($NAME FORM)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => (let (^(y ?x)) ?x))",
        "the names of a `let` start with `$`",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ^(horner ?x))",
        "expected (horner X COEFFICIENT …), highest first",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ^(const))",
        "expected (const VALUE [TYPE])",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => (const 1 ^int))",
        "expected an element type such as i32 or f16",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => (const 1 ^(of ?x)))",
        "expected a type: i32, (like ?x i32), ",
    ),
    // Guards.
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (where ^(is-odd ?x)))",
        "there is no such guard, or its arguments are wrong: expected (is-pow2 E), ",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (where (fits-signed ?x ^65)))",
        "expected a width from 1 to 64",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (where (feature ^warp)))",
        "there is no such feature: expected cp-async, ",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (where (sm ^a..b)))",
        "expected 80, 80.., ..89 or 80..89",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (where (is-pow2 ^two)))",
        "expected a number",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (where (is-pow2 ^())))",
        "expected a number or (FUNCTION …)",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (where (is-pow2 ^(twice ?x))))",
        "there is no function called `twice`: expected +, ",
    ),
    (
        "(dialect nvvm) (rule r (add ?x 0) => ?x (where (is-pow2 ^(hi))))",
        "`hi` has 0 arguments: expected 1 to 1",
    ),
];

/// The second line of a file is wrong: all that is said of it points there.
#[test]
fn every_mistake_is_shown_where_it_is() {
    for (marked, why) in WRONG {
        let at = marked
            .find('^')
            .unwrap_or_else(|| panic!("no mark: {marked}"));
        let line = marked.replacen('^', "", 1);
        let column = marked[..at].chars().count() + 1;
        let error = wrong(&format!("; rules\n{line}\n"));
        let place = format!("a.rules:2:{column}: error: {why}");
        assert!(error.starts_with(&place), "{marked}: {error}");
        let caret = format!("  note: {line}\n        {:>column$}", '^');
        assert!(error.ends_with(&caret), "{marked}: {error}");
    }
}

#[test]
fn costs_are_of_operations_that_exist() {
    let text = "(dialect cuda_tile) (costs (muli 5 cheap) (mulli 5))";
    assert!(
        wrong(text).starts_with("a.rules:1:43: error: "),
        "{}",
        wrong(text)
    );
}
