//! `tilec install-links`: tilec under the names of CUDA's tools.

use std::path::{Path, PathBuf};

use super::Outcome;
use super::dropin::Tool;
use crate::ir::{Diagnostic, Diagnostics};

#[derive(clap::Args)]
pub struct Args {
    /// The folder that gets `tileiras` and `tileirdisasm`.
    folder: PathBuf,
    /// Replace files of these names that are there.
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Args) -> Outcome {
    let failed = |what: &Path, e: std::io::Error| -> Diagnostics {
        Diagnostic::error(format!("cannot make '{}': {e}", what.display())).into()
    };
    let program = std::env::current_exe().map_err(|e| failed(&args.folder, e))?;
    std::fs::create_dir_all(&args.folder).map_err(|e| failed(&args.folder, e))?;
    for tool in Tool::ALL {
        let link = args
            .folder
            .join(tool.name())
            .with_extension(std::env::consts::EXE_EXTENSION);
        if let Ok(there) = link.symlink_metadata() {
            let ours = std::fs::canonicalize(&link).ok() == std::fs::canonicalize(&program).ok();
            if !(args.force || ours || dangles(&link, &there)) {
                let error = format!("'{}' is there already", link.display());
                return Err(Diagnostic::error(error).note("--force replaces it").into());
            }
            std::fs::remove_file(&link).map_err(|e| failed(&link, e))?;
        }
        make(&program, &link).map_err(|e| failed(&link, e))?;
    }
    Ok(())
}

/// A link to nothing is in nobody's use.
fn dangles(link: &Path, there: &std::fs::Metadata) -> bool {
    there.is_symlink() && !link.exists()
}

#[cfg(unix)]
fn make(program: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

#[cfg(not(unix))]
fn make(program: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::copy(program, link).map(|_| ())
}
