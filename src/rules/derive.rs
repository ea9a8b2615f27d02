//! Does a rule follow from others? Its instances are rewritten by those, and have to become what it says.

use super::instance::Instance;
use super::random::Random;
use super::soundness;
use super::wrong::Wrong;
use crate::dialect::Dialect;
use crate::egraph;
use crate::egraph::rule::{Rule, RuleSet};
use crate::egraph::saturate::{Limits, saturate};

/// How much of a rule others do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Derived {
    /// Instances that were drawn: types, attributes, constants and facts.
    pub instances: usize,
    /// Those whose sides the others make equal.
    pub reached: usize,
}

impl Derived {
    /// Whether the rule says nothing that the others do not.
    pub fn is_redundant(self) -> bool {
        self.instances > 0 && self.reached == self.instances
    }
}

/// Draws that are made, at most, for so many instances.
const ATTEMPTS: usize = 4_000;

/// Draws up to `most` instances of `rule`, and rewrites each by `others`. Nothing for a rule whose operations have no
/// elements to draw. Drawing stops at the first instance that the others do not rewrite so: the rule is needed for it.
///
/// # Errors
/// What is wrong with one of the rules.
pub fn derived(
    rule: &Rule,
    others: &RuleSet,
    constants: Dialect,
    limits: Limits,
    most: usize,
) -> Result<Option<Derived>, Wrong> {
    if soundness::exempt(&rule.check).is_some() {
        return Ok(None);
    }
    let mut random = Random::named(&rule.name);
    let mut derived = Derived::default();
    for _ in 0..ATTEMPTS {
        if derived.instances == most || derived.reached < derived.instances {
            break;
        }
        match Instance::draw(rule, &mut random) {
            Ok(Some(instance)) if instance.is_meaningful() => {
                derived.instances += 1;
                derived.reached += usize::from(reached(instance, others, constants, limits)?);
            }
            Ok(_) => {}
            Err(failure) => return Err(failure.wrong()),
        }
    }
    Ok((derived.instances > 0).then_some(derived))
}

/// Whether `others` make the sides of an instance equal.
fn reached(
    instance: Instance,
    others: &RuleSet,
    constants: Dialect,
    limits: Limits,
) -> Result<bool, Wrong> {
    let Instance {
        mut graph,
        root,
        target,
        after,
        ..
    } = instance;
    graph.analysis.constant = Some(egraph::constant(constants));
    let run = saturate(&mut graph, others, target, limits);
    run.map_err(|error| Wrong::from(error.to_string()))?;
    let same = |id| graph.find(id) == graph.find(root);
    Ok(after.iter().all(|(_, id, _)| same(*id)))
}
