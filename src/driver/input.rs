//! Input files; `-` is standard input.

use std::io::Read;
use std::path::Path;

use crate::ir::{Diagnostic, Diagnostics, Module};
use crate::{asm, bytecode, input};

/// The bytes of a file.
///
/// # Errors
/// The system's reason, with the file's name.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    let read = || {
        if path == Path::new("-") {
            let mut data = Vec::new();
            std::io::stdin().lock().read_to_end(&mut data)?;
            return Ok(data);
        }
        std::fs::read(path)
    };
    read().map_err(|e: std::io::Error| {
        Diagnostic::error(format!("cannot read '{}': {e}", path.display())).into()
    })
}

/// A module from bytecode of any known container or from text, told apart by their first bytes.
///
/// # Errors
/// What is wrong with the file or its contents.
pub fn module(path: &Path) -> Result<Module, Diagnostics> {
    let data = bytes(path)?;
    if bytecode::is_bytecode(&data) {
        return Ok(bytecode::read(&data)?);
    }
    Ok(asm::parse_file(
        input::utf8(&data, name(path))?,
        name(path),
    )?)
}

/// The same, checked against every rule of its dialect.
///
/// # Errors
/// As [`module`]; then everything that breaks a rule.
pub fn verified(path: &Path) -> Result<Module, Diagnostics> {
    verified_from(path, &bytes(path)?)
}

/// The same from the bytes of the file called `path`.
///
/// # Errors
/// As [`verified`], but for those of the file.
pub fn verified_from(path: &Path, data: &[u8]) -> Result<Module, Diagnostics> {
    crate::input::any(data, name(path))
}

/// What there is to say of a valid module in these bytes of the file called `path`.
///
/// # Errors
/// As [`module`], but for those of the file.
pub fn warnings(path: &Path, data: &[u8]) -> Result<Diagnostics, Diagnostics> {
    let warnings = match bytecode::is_bytecode(data) {
        true => input::bytecode_warnings(data),
        false => {
            input::utf8(data, name(path)).and_then(|text| input::text_warnings(text, name(path)))
        }
    };
    Ok(Diagnostics(warnings?))
}

/// What errors call a file.
fn name(path: &Path) -> &str {
    match path.to_str() {
        Some("-") | None => "<stdin>",
        Some(name) => name,
    }
}
