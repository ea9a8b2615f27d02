//! Modules with one thing changed, and what a verifier says of them.

#![allow(dead_code, reason = "each test uses a part")]

use tilec::compile::{Options, Stage, lower_to};
use tilec::dialect::OpKind;
use tilec::ir::{Attr, Diagnostics, Module, OpId};

/// A module of the corpus, or one in text that lies elsewhere, lowered to `stage`.
pub fn lowered(file: &str, target: &str, stage: Stage) -> Module {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/corpus/bytecode").join(file);
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let module = tilec::input::any(&bytes, file).unwrap_or_else(|e| panic!("{e}"));
    let options = Options::new(target.parse().unwrap());
    lower_to(module, &options, stage)
        .unwrap_or_else(|e| panic!("{e}"))
        .module
}

/// Every operation of a kind.
pub fn all(m: &Module, kind: impl Into<OpKind>) -> Vec<OpId> {
    let kind = kind.into();
    let mut ops = m.ops_under(m.body);
    ops.retain(|&o| m.op(o).kind == kind);
    ops
}

/// The last operation of a kind: of a loop's body where there is a prologue.
pub fn last(m: &Module, kind: impl Into<OpKind>) -> OpId {
    let kind = kind.into();
    let found = all(m, kind).pop();
    found.unwrap_or_else(|| panic!("no {kind}"))
}

pub fn set(m: &mut Module, op: OpId, name: &str, to: Attr) {
    let at = m.op(op).def().attrs.iter().position(|a| a.name == name);
    m.op_mut(op).attrs[at.unwrap()] = Some(to);
}

pub fn set_int(m: &mut Module, op: OpId, name: &str, to: i64) {
    let ty = m.types.int(32);
    set(m, op, name, Attr::Int { value: to, ty });
}

/// Changes one thing and expects an error on `operation` that says `why`.
#[track_caller]
pub fn rejects(
    verify: fn(&Module) -> Result<(), Diagnostics>,
    mut m: Module,
    operation: impl Into<OpKind>,
    why: &str,
    change: impl FnOnce(&mut Module),
) {
    verify(&m).unwrap_or_else(|e| panic!("before the change: {e}"));
    change(&mut m);
    let errors = verify(&m).expect_err("the broken module is accepted");
    let error = &errors.0[0];
    let name = operation.into().to_string();
    assert_eq!(error.operation.as_deref(), Some(name.as_str()), "{error}");
    assert!(error.message.contains(why), "{error}\nexpected: {why}");
}
