//! Names: unique, and referred to correctly.

use rustc_hash::FxHashMap;

use super::{Ctx, shape};
use crate::asm::type_text;
use crate::dialect::cuda_tile::{Op, view};
use crate::ir::{self, Attr, Diagnostic, Module, Name, OpId, Type};
use crate::verify::{Check, ensure, fail, located};

pub fn global(c: &Ctx, v: &view::Global<ir::Op>) -> Check {
    let Attr::Dense { data, ty } = v.value() else {
        // Another attribute does not pass the check of the structure.
        return Ok(());
    };
    crate::verify::types::check(c.module, *ty)?;
    if let Some((_, dims)) = c.module.types.as_tile(*ty) {
        ensure(dims.len() == 1, || "type must have rank 1".into())?;
    }
    let alignment = v.alignment();
    ensure(alignment >= 0 && alignment.count_ones() <= 1, || {
        format!("alignment ({alignment}) must be 0 or a power of two")
    })?;
    shape::data_fits(c, data, *ty)
}

/// Unique names, and references to globals.
pub fn check(module: &Module) -> Vec<(OpId, Diagnostic)> {
    let mut errors = Vec::new();
    let mut globals: FxHashMap<Name, OpId> = FxHashMap::default();
    let mut names: FxHashMap<Name, OpId> = FxHashMap::default();
    for &id in &module.block(module.body).ops {
        let op = module.op(id);
        let Some(Attr::Str(name)) = op.attr_named("sym_name") else {
            continue;
        };
        if module.str(*name).is_empty() {
            errors.push(located(module, id, "symbol name must not be empty"));
        }
        if names.insert(*name, id).is_some() {
            let text = format!("redefinition of symbol named '{}'", module.str(*name));
            errors.push(located(module, id, text));
        }
        if Op::of(op.kind) == Some(Op::Global) {
            globals.insert(*name, id);
        }
    }
    module.walk(module.body, &mut |id| {
        let op = module.op(id);
        if let Some(v) = view::GetGlobal::of(op)
            && let Err(message) = reference(module, &v, &globals)
        {
            errors.push(located(module, id, message));
        }
    });
    errors
}

fn reference(
    module: &Module,
    v: &view::GetGlobal<ir::Op>,
    globals: &FxHashMap<Name, OpId>,
) -> Check {
    let text = module.str(v.name());
    let Some(&global) = globals.get(&v.name()) else {
        return fail(format!("'{text}' does not reference a valid global"));
    };
    let global = view::Global::of(module.op(global));
    let Some(Attr::Dense { ty, .. }) = global.as_ref().map(view::Global::value) else {
        return Ok(());
    };
    let elem = module.types.elem(*ty);
    let pointer = module.types.elem(module.ty(v.result()));
    match module.types.get(pointer) {
        Type::Ptr { pointee, .. } if *pointee != elem => fail(format!(
            "pointee type of result type '{}' does not match type '{}' of the global @{text}",
            type_text(module, pointer),
            type_text(module, elem)
        )),
        _ => Ok(()),
    }
}
