//! The compiled-in rules as the build script read them: constants of the program.

use std::borrow::Cow;

use super::group::Group;
use crate::dialect::{Dialect, OpKind};
use crate::egraph::head::Head;
use crate::egraph::rule::*;
use crate::facts::Leaf;
use crate::scalar::FloatFormat;
use crate::sexpr::Pos;
use crate::target::Feature;

/// The rules of a group.
struct Builtin {
    rules: &'static [Rule],
    /// Rules by the head of their pattern.
    heads: &'static [(Head, &'static [u32])],
    costs: &'static [(Head, OpCost)],
    depth: usize,
}

include!(concat!(env!("OUT_DIR"), "/rule_sets.rs"));

/// The compiled-in rules of a group, without examples.
pub(super) fn set(group: Group) -> RuleSet {
    let Builtin {
        rules,
        heads,
        costs,
        depth,
    } = &BUILTIN[group as usize];
    let by_head = heads.iter().map(|(head, of)| (*head, Cow::Borrowed(*of)));
    RuleSet {
        rules: Cow::Borrowed(rules),
        costs: costs.iter().copied().collect(),
        by_head: by_head.collect(),
        depth: *depth,
        keeps: Examples::Dropped,
    }
}

#[cfg(test)]
mod tests {
    use super::super::files;
    use super::*;

    #[test]
    fn the_compiled_in_rules_are_those_of_the_files() {
        for group in Group::ALL {
            let (read, found) = (
                files::load(group, None, Examples::Kept).unwrap(),
                set(group),
            );
            assert_eq!(read.rules.len(), found.rules.len());
            for (a, b) in read.rules.iter().zip(found.rules.iter()) {
                let without = Rule {
                    examples: Items::default(),
                    ..a.clone()
                };
                assert_eq!(format!("{without:?}"), format!("{b:?}"));
            }
            assert_eq!(read.costs, found.costs);
            assert_eq!((read.by_head, read.depth), (found.by_head, found.depth));
        }
    }
}
