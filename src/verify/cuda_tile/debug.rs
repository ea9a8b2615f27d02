//! Scopes of source locations.
//!
//! An entry with a scope has a subprogram's, under the entry's own name; operations then have
//! the same one, and none without it; globals have none.

use crate::asm::debug_info;
use crate::dialect::cuda_tile::Op;
use crate::ir::{Attr, DebugAttr, Diagnostic, LocId, Module, OpId};
use crate::verify::located;

pub fn check(module: &Module) -> Vec<(OpId, Diagnostic)> {
    let mut errors = Vec::new();
    for &id in &module.block(module.body).ops {
        match Op::of(module.op(id).kind) {
            Some(Op::Entry) => {
                errors.extend(entry(module, id));
                errors.extend(body(module, id));
            }
            // A later stage's kernels carry the scopes of the entries that they were.
            Some(_) => {
                let scope = scoped(module, module.op(id).loc);
                errors.extend(scope.map(|scope| {
                    let text = format!(
                        "invalid operation debug info scope: {}. Global variables must not have scope.",
                        debug_info(module, scope)
                    );
                    located(module, id, text)
                }));
            }
            None => {}
        }
    }
    errors
}

/// The scope of a location, that of the caller for an inlined one.
fn scoped(module: &Module, loc: LocId) -> Option<LocId> {
    let mut at = loc;
    while let DebugAttr::CallSite { caller, .. } = module.locs.get(at) {
        at = *caller;
    }
    match module.locs.get(at) {
        DebugAttr::Loc { scope, .. } if *scope != LocId::UNKNOWN => Some(*scope),
        _ => None,
    }
}

/// The subprogram that a scope lies in.
fn subprogram(module: &Module, scope: LocId) -> Option<LocId> {
    let mut at = scope;
    while let DebugAttr::LexicalBlock { scope, .. } = module.locs.get(at) {
        at = *scope;
    }
    matches!(module.locs.get(at), DebugAttr::Subprogram { .. }).then_some(at)
}

fn entry(module: &Module, id: OpId) -> Option<(OpId, Diagnostic)> {
    let op = module.op(id);
    if matches!(module.locs.get(op.loc), DebugAttr::CallSite { .. }) {
        let text = format!(
            "invalid function debug info location: {}. Function location must not be a CallSiteLoc.",
            debug_info(module, op.loc)
        );
        return Some(located(module, id, text));
    }
    let scope = scoped(module, op.loc)?;
    let DebugAttr::Subprogram { linkage_name, .. } = module.locs.get(scope) else {
        let text = format!(
            "invalid function debug info scope: {}. Function location must have cuda_tile.di_subprogram debug info scope.",
            debug_info(module, scope)
        );
        return Some(located(module, id, text));
    };
    let Some(Attr::Str(name)) = op.attr_named("sym_name") else {
        return None;
    };
    (name != linkage_name).then(|| {
        let text = format!(
            "invalid function debug info scope: {}. Function name \"{}\" does not match subprogram scope linkage name \"{}\".",
            debug_info(module, scope),
            module.str(*name),
            module.str(*linkage_name)
        );
        located(module, id, text)
    })
}

/// The first operation of an entry whose scope is wrong.
fn body(module: &Module, id: OpId) -> Option<(OpId, Diagnostic)> {
    let own = scoped(module, module.op(id).loc).and_then(|s| subprogram(module, s));
    let mut error = None;
    for &region in &module.op(id).regions {
        for &block in &module.region(region).blocks {
            module.walk(block, &mut |inner| {
                let scope = scoped(module, module.op(inner).loc).and_then(|s| subprogram(module, s));
                let Some(scope) = scope.filter(|_| error.is_none()) else {
                    return;
                };
                let text = match own {
                    None => format!(
                        "invalid operation debug info scope: {}. Operation has debug info scope, but function debug info scope is undefined.",
                        debug_info(module, scope)
                    ),
                    Some(own) if own != scope => format!(
                        "invalid operation debug info scope: {}. Operation debug info scope does not match function debug info scope: {}.",
                        debug_info(module, scope),
                        debug_info(module, own)
                    ),
                    Some(_) => return,
                };
                error = Some(located(module, inner, text));
            });
        }
    }
    error
}
