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
    let shown = "a.rules:2:9: error: there is no operation called `mulli`
  note: (rule r (mulli _ ?x 1) => ?x)
                ^";
    assert_eq!(wrong(text), shown);
    let inner = "(dialect cuda_tile => nvvm) (rule r (muli _ ?x 1) => (let (($y (ad ?x 0))) $y))";
    let place = "a.rules:1:64: error: there is no operation called `ad`";
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

#[test]
fn costs_are_of_operations_that_exist() {
    let text = "(dialect cuda_tile) (costs (muli 5 cheap) (mulli 5))";
    assert!(
        wrong(text).starts_with("a.rules:1:43: error: "),
        "{}",
        wrong(text)
    );
}
