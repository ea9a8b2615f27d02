//! Optimization hints. A hint that makes no sense is ignored, with a warning.

use crate::dialect::cuda_tile::Op;
use crate::ir::{Attr, Diagnostic, Module, Name, OpId, Severity};
use crate::verify::{Check, diagnostic, ensure, fail};

/// Architectures that hints may be given for.
const ARCHITECTURES: &[&str] = &[
    "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120",
    "sm_121", "default",
];

/// Which hints an operation knows.
fn known(op: Op) -> &'static [&'static str] {
    match op {
        Op::Entry => &["num_cta_in_cga", "num_worker_warps_per_cta", "occupancy"],
        Op::LoadView | Op::StoreView => &["latency", "allow_tma"],
        _ => &["latency"],
    }
}

/// Hints of a module that have no effect: whose they are, and why.
pub fn warnings(module: &Module) -> Vec<(OpId, Diagnostic)> {
    let mut out = Vec::new();
    module.walk(module.body, &mut |id| {
        let op = module.op(id);
        if let (Some(kind), Some(Attr::Hints(hints))) =
            (Op::of(op.kind), op.attr_named("optimization_hints"))
        {
            for (arch, hint) in hints {
                warn(module, id, kind, module.str(*arch), hint, &mut out);
            }
        }
    });
    out
}

fn warn(
    module: &Module,
    id: OpId,
    kind: Op,
    arch: &str,
    hints: &Attr,
    out: &mut Vec<(OpId, Diagnostic)>,
) {
    let mut push = |message: String| {
        let mut warning = diagnostic(module, id, message);
        warning.severity = Severity::Warning;
        out.push((id, warning));
    };
    if !ARCHITECTURES.contains(&arch) {
        return push(format!("unknown hint key {arch}"));
    }
    let Attr::Dict(entries) = hints else {
        return;
    };
    for (name, value) in entries {
        if let Err(message) = hint(module, kind, arch, *name, value) {
            push(message);
        }
    }
}

fn hint(module: &Module, kind: Op, arch: &str, name: Name, value: &Attr) -> Check {
    let key = module.str(name);
    ensure(known(kind).contains(&key), || {
        format!("{key} is not known hint for current Operation")
    })?;
    if key == "allow_tma" {
        return ensure(matches!(value, Attr::Bool(_)), || {
            format!("boolean value expected for {arch}.{key}")
        });
    }
    let Attr::Int { value, .. } = *value else {
        return fail(format!("integer value expected for {arch}.{key}"));
    };
    let power = |most: i64| (1..=most).contains(&value) && value.count_ones() == 1;
    match key {
        "num_cta_in_cga" if arch.starts_with("sm_8") => {
            ensure(value == 1, || format!("expected 1 for {arch}.{key}"))
        }
        "num_cta_in_cga" => ensure(power(16), || {
            format!("expected power-of-two ≤ 16 for {arch}.{key}")
        }),
        "num_worker_warps_per_cta" => ensure(power(32), || {
            format!("expected power-of-two ≤ 32 for {arch}.{key}")
        }),
        "latency" => ensure((1..=10).contains(&value), || {
            format!("integer value in the range [1, 10] is expected for {arch}.{key}")
        }),
        _ => ensure((1..=32).contains(&value), || {
            format!("integer value in the range [1, 32] is expected for {arch}.{key}")
        }),
    }
}
