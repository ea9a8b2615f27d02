//! Names: unique, and referred to correctly.

use rustc_hash::FxHashMap;

use super::{Ctx, shape};
use crate::asm::type_text;
use crate::dialect::cuda_tile::Op;
use crate::ir::{Attr, Diagnostic, Module, Name, OpId, Type};
use crate::verify::{Check, ensure, fail, located};

pub fn global(c: &Ctx) -> Check {
    let Some(Attr::Dense { data, ty }) = c.op.attr_named("value") else {
        return Ok(());
    };
    crate::verify::types::check(c.module, *ty)?;
    if let Some((_, dims)) = c.module.types.as_tile(*ty) {
        ensure(dims.len() == 1, || "type must have rank 1".into())?;
    }
    let alignment = c.int("alignment");
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
        if Op::of(op.kind) == Some(Op::GetGlobal)
            && let Err(message) = reference(module, id, &globals)
        {
            errors.push(located(module, id, message));
        }
    });
    errors
}

fn reference(module: &Module, id: OpId, globals: &FxHashMap<Name, OpId>) -> Check {
    let op = module.op(id);
    let Some(Attr::Symbol(name)) = op.attr_named("name") else {
        return Ok(());
    };
    let text = module.str(*name);
    let Some(&global) = globals.get(name) else {
        return fail(format!("'{text}' does not reference a valid global"));
    };
    let Some(Attr::Dense { ty, .. }) = module.op(global).attr_named("value") else {
        return Ok(());
    };
    let elem = module.types.elem(*ty);
    let pointer = module.types.elem(module.ty(op.results[0]));
    match module.types.get(pointer) {
        Type::Ptr { pointee, .. } if *pointee != elem => fail(format!(
            "pointee type of result type '{}' does not match type '{}' of the global @{text}",
            type_text(module, pointer),
            type_text(module, elem)
        )),
        _ => Ok(()),
    }
}
