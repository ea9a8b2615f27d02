//! Modules that are loaded, kept as files (`--keep`).

use std::io;
use std::path::Path;

/// Writes a module's bytecode below its digest's name: equal modules are one file, whichever process loads them.
///
/// Several processes may write the same file. Each writes one of its own first, so that nobody reads half a module.
///
/// # Errors
///
/// What the file system says.
pub fn write(folder: &Path, (high, low): (u64, u64), bytes: &[u8]) -> io::Result<()> {
    let path = folder.join(format!("{high:016x}{low:016x}.tilebc"));
    if path.exists() {
        return Ok(());
    }
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    std::fs::write(&partial, bytes)?;
    std::fs::rename(&partial, &path)
}
