//! The verifier: what every dialect's table says ([`structure`]), then each dialect's own rules.
//!
//! Every operation is checked; each reports the first rule it breaks. Messages are those of the
//! public dialect's verifier where it has the rule.

mod cuda_tile;
mod lowered;
mod structure;
mod types;

pub use cuda_tile::constraints::element_types;
pub use cuda_tile::hints::warnings;

use crate::dialect::Dialect;
use crate::ir::{Diagnostic, Diagnostics, Module, OpId, Type, TypeId};

/// How many errors are reported at most.
const LIMIT: usize = 100;

/// Why an operation is invalid: the message, without the operation's name.
pub(crate) type Check = Result<(), String>;

/// A broken rule.
pub(crate) fn fail<T>(message: impl Into<String>) -> Result<T, String> {
    Err(message.into())
}

/// A broken rule unless `condition`.
pub(crate) fn ensure(condition: bool, message: impl FnOnce() -> String) -> Check {
    if condition { Ok(()) } else { Err(message()) }
}

/// Whether two types are one tile of `nv_tileas` in two layouts. A `cuda_tile` operation that is
/// not elementwise may take one and give the other (`insert` moves between them).
fn relaid(module: &Module, a: TypeId, b: TypeId) -> bool {
    let distributed = |t| matches!(module.types.get(t), Type::Distributed { .. });
    distributed(a) && distributed(b) && module.types.as_tile(a) == module.types.as_tile(b)
}

/// Checks a module of any dialect.
///
/// # Errors
/// One diagnostic per invalid operation, with its name and source location.
pub fn verify(module: &Module) -> Result<(), Diagnostics> {
    let errors = errors(module);
    if errors.is_empty() {
        return Ok(());
    }
    Err(Diagnostics(errors.into_iter().map(|(_, e)| e).collect()))
}

/// What is wrong with a module, and with which operation.
pub fn errors(module: &Module) -> Vec<(OpId, Diagnostic)> {
    let mut errors = Vec::new();
    let unsound = types::unsound(module);
    structure::visit(module, &mut |op, result: Check| {
        let checked = result.and_then(|()| dialect_rules(module, op, &unsound));
        if let (Err(message), true) = (checked, errors.len() < LIMIT) {
            errors.push(located(module, op, message));
        }
    });
    if errors.is_empty() {
        // Symbols and scopes need all operations to be sound.
        errors.extend(cuda_tile::module_rules(module));
    }
    errors
}

/// Rules of the operation's dialect. Structure holds already.
fn dialect_rules(module: &Module, op: OpId, unsound: &types::Unsound) -> Check {
    match module.op(op).kind.dialect {
        Dialect::CudaTile => {
            cuda_tile::check(module, op, unsound)?;
            lowered::layouts(module, op)
        }
        Dialect::TileAa | Dialect::TileAs | Dialect::Nvvm => lowered::check(module, op),
    }
}

/// An error with the operation that it concerns.
pub(crate) fn located(module: &Module, op: OpId, message: impl Into<String>) -> (OpId, Diagnostic) {
    (op, diagnostic(module, op, message))
}

pub(crate) fn diagnostic(module: &Module, op: OpId, message: impl Into<String>) -> Diagnostic {
    let op = module.op(op);
    Diagnostic::error(message)
        .on(op.kind.to_string())
        .at(module.source_place(op.loc))
}
