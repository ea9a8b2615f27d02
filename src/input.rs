//! Modules read and verified: the front end in one call.
//!
//! ```
//! let text = "cuda_tile.module @m { entry @k() { return } }";
//! let module = tilec::input::text(text, "k.mlir").expect("it is valid");
//! let bytes = tilec::bytecode::write(&module, tilec::dialect::Version::V13_1).expect("it is in 13.1");
//! tilec::input::bytecode(&bytes).expect("the same module");
//! ```

use crate::ir::{Diagnostic, Diagnostics, Module, Place};
use crate::{asm, bytecode, verify};

/// Reads a module from bytecode of either container and checks it against every rule of its dialect.
///
/// # Errors
/// As [`bytecode::read`]; then what the verifier says, at the offsets of the operations that it concerns.
pub fn bytecode(data: &[u8]) -> Result<Module, Diagnostics> {
    let module = bytecode::read(data)?;
    if verify::verify(&module).is_ok() {
        return Ok(module);
    }
    let locate = |(error, offset)| located(error, offset);
    let errors = bytecode::diagnose(data, verify::errors)?;
    Err(Diagnostics(errors.into_iter().map(locate).collect()))
}

/// What there is to say of a valid module, at the offsets of the operations that it concerns.
///
/// # Errors
/// As [`bytecode::read`].
pub fn bytecode_warnings(data: &[u8]) -> Result<Vec<Diagnostic>, Diagnostic> {
    let found = bytecode::diagnose(data, verify::warnings)?;
    let locate = |(warning, offset): (Diagnostic, Option<usize>)| match (offset, &warning.place) {
        (Some(at), Place::Nowhere) => warning.at(Place::Offset(at)),
        _ => warning,
    };
    Ok(found.into_iter().map(locate).collect())
}

/// Reads a module from text, which errors say comes from `file`, and checks it against every rule of its
/// dialect.
///
/// # Errors
/// As [`asm::parse_file`]; then what the verifier says, at the operations that it concerns.
pub fn text(text: &str, file: &str) -> Result<Module, Diagnostics> {
    let module = asm::parse_file(text, file)?;
    if verify::verify(&module).is_ok() {
        return Ok(module);
    }
    Err(Diagnostics(asm::diagnose(text, file, verify::errors)?))
}

/// What there is to say of a valid module, at the operations that it concerns.
///
/// # Errors
/// As [`asm::parse_file`].
pub fn text_warnings(text: &str, file: &str) -> Result<Vec<Diagnostic>, Diagnostic> {
    asm::diagnose(text, file, verify::warnings)
}

/// Reads a module from bytecode of any known container or from text, told apart by their first bytes, and
/// checks it against every rule of its dialect. Errors say that text comes from `file`.
///
/// # Errors
/// As [`bytecode()`] and [`text()`].
pub fn any(data: &[u8], file: &str) -> Result<Module, Diagnostics> {
    if bytecode::is_bytecode(data) {
        return bytecode(data);
    }
    text(utf8(data, file)?, file)
}

/// What is text, if it is.
///
/// # Errors
/// It is neither bytecode nor UTF-8.
pub fn utf8<'d>(data: &'d [u8], file: &str) -> Result<&'d str, Diagnostic> {
    std::str::from_utf8(data).map_err(|_| {
        Diagnostic::error(format!(
            "'{}' is neither Tile IR bytecode nor UTF-8 text",
            file
        ))
    })
}

/// A verification error in the words of a reader that verifies what it creates. An operation that
/// comes from a line of source is said to be there, and its offset in a note.
fn located(mut error: Diagnostic, offset: Option<usize>) -> Diagnostic {
    let Some(operation) = error.operation.clone() else {
        return error;
    };
    let text = format!("failed to create operation '{operation}' due to verification error.");
    error.notes.push(match (offset, &error.place) {
        (Some(at), Place::Line { .. }) => format!("{text} (at offset {at})"),
        _ => text,
    });
    match (offset, &error.place) {
        (Some(at), Place::Nowhere) => error.at(Place::Offset(at)),
        _ => error,
    }
}
