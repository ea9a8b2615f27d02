//! Output files; `-` is standard output. A file appears complete or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::ir::{Diagnostic, Diagnostics};

/// Writes `data` to `path`, replacing what was there.
///
/// # Errors
/// The system's reason, with the file's name.
pub fn write(path: &Path, data: &[u8]) -> Result<(), Diagnostics> {
    let result = if path == Path::new("-") {
        let mut out = std::io::stdout().lock();
        out.write_all(data).and_then(|()| out.flush())
    } else {
        replace(path, data)
    };
    match result {
        // The reader went away: not our error.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| {
            Diagnostic::error(format!("cannot write '{}': {e}", path.display())).into()
        }),
    }
}

/// Writes a line to standard output.
///
/// # Errors
/// The system's reason, other than that nobody reads it any more.
pub fn line(text: std::fmt::Arguments) -> Result<(), Diagnostics> {
    write(Path::new("-"), format!("{text}\n").as_bytes())
}

/// Writes beside `path`, then renames.
fn replace(path: &Path, data: &[u8]) -> std::io::Result<()> {
    // A device or pipe cannot be renamed over.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return std::fs::write(path, data);
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary: PathBuf = path.with_file_name(name);
    let result = std::fs::write(&temporary, data).and_then(|()| std::fs::rename(&temporary, path));
    if result.is_err() {
        // Best effort: the first error is the one to report.
        let _ = std::fs::remove_file(&temporary);
    }
    result
}
