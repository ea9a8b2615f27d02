//! Memory orderings and scopes of loads and stores.

use super::Ctx;
use crate::dialect::enums::{ORDERING, ordering as o};
use crate::verify::{Check, ensure};

/// The memory model's rule for a load or store: orderings, and a scope unless weak.
fn model(c: &Ctx, allowed: &[u8], list: &str, what: &str) -> Check {
    let ordering = c.case("memory_ordering_semantics").unwrap_or(0);
    let name = ORDERING
        .cases
        .get(usize::from(ordering))
        .copied()
        .unwrap_or("?");
    ensure(allowed.contains(&ordering), || {
        format!("expect one of: {list}, but got: {name}")
    })?;
    let scope = c.op.attr_named("memory_scope").is_some();
    ensure(ordering != o::WEAK || !scope, || {
        format!("weak {what} must not have memory scope")
    })?;
    ensure(ordering == o::WEAK || scope, || {
        format!("memory scope is required for {name} {what}")
    })
}

pub fn load(c: &Ctx) -> Check {
    model(
        c,
        &[o::WEAK, o::RELAXED, o::ACQUIRE],
        "weak, relaxed, or acquire",
        "load",
    )
}

pub fn store(c: &Ctx) -> Check {
    model(
        c,
        &[o::WEAK, o::RELAXED, o::RELEASE],
        "weak, relaxed, or release",
        "store",
    )
}
