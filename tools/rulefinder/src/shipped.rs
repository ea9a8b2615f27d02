//! Which shipped rules the others make superfluous.

use tilec::dialect::Dialect;
use tilec::egraph::Limits;
use tilec::rules::RuleSet;
use tilec::rules::derive::{Derived, derived};

use crate::engine::Engine;

/// What is known of a shipped rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The others do not do what it does.
    Needed(Derived),
    /// In all instances that were drawn they do, as soon as it does.
    Redundant(Derived),
    /// They do, but only in more iterations than the one that it takes.
    ShortCut(Derived),
    /// It has no instances: matrices and memory.
    Unknown,
}

/// A rule's instances that are drawn.
const INSTANCES: usize = 40;

/// What the other rules do of each rule whose name `wanted` accepts. A rule that follows from the others counts as gone
/// for those behind it, so that all that are redundant can go together.
pub fn standings(
    engine: &Engine,
    rules: &RuleSet,
    constants: Dialect,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, Standing)>, String> {
    let mut list = Vec::new();
    let mut gone: Vec<&str> = Vec::new();
    for rule in rules.rules.iter().filter(|r| wanted(&r.name)) {
        let others = engine.with_commutation(
            &rules.filtered(|other| other.name != rule.name && !gone.contains(&&*other.name)),
        );
        let found = derived(rule, &others, constants, engine.limits, INSTANCES);
        let standing = match found.map_err(|wrong| format!("{}: {wrong}", rule.name))? {
            None => Standing::Unknown,
            Some(all) if all.is_redundant() => {
                let at_once = Limits {
                    iterations: 1,
                    ..engine.limits
                };
                let found = derived(rule, &others, constants, at_once, INSTANCES);
                match found.map_err(|wrong| format!("{}: {wrong}", rule.name))? {
                    Some(once) if once.is_redundant() => {
                        gone.push(&rule.name);
                        Standing::Redundant(all)
                    }
                    _ => Standing::ShortCut(all),
                }
            }
            Some(derived) => Standing::Needed(derived),
        };
        list.push((rule.name.to_string(), standing));
    }
    Ok(list)
}
