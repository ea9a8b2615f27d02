//! Input files; `-` is standard input.

use std::io::Read;
use std::path::Path;

use crate::ir::{Diagnostic, Diagnostics};

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
