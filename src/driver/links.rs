//! `tilec install-links`: tilec under the names of CUDA's tools.

use std::path::{Path, PathBuf};

use super::Outcome;
use super::dropin::Tool;
use crate::ir::{Diagnostic, Diagnostics};

#[derive(clap::Args)]
pub struct Args {
    /// The folder that gets `tileiras` and `tileirdisasm`.
    folder: PathBuf,
    /// A link to this nvcc, too, with a profile (`nvcc.profile`) that lets it run the others: nvcc itself takes the `tileiras`
    /// beside it before any in PATH.
    #[arg(long, value_name = "PROGRAM")]
    nvcc: Option<PathBuf>,
    /// Replace files of these names that are there.
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Args) -> Outcome {
    let program = std::env::current_exe().map_err(|e| failed(&args.folder, e))?;
    std::fs::create_dir_all(&args.folder).map_err(|e| failed(&args.folder, e))?;
    for tool in Tool::ALL {
        args.link(&program, tool.name())?;
    }
    match &args.nvcc {
        Some(nvcc) => args.link_nvcc(nvcc),
        None => Ok(()),
    }
}

fn failed(what: &Path, e: std::io::Error) -> Diagnostics {
    Diagnostic::error(format!("cannot make '{}': {e}", what.display())).into()
}

impl Args {
    /// A link to `program` called `name`.
    fn link(&self, program: &Path, name: &str) -> Outcome {
        let link = self
            .folder
            .join(name)
            .with_extension(std::env::consts::EXE_EXTENSION);
        if let Ok(there) = link.symlink_metadata() {
            let ours = std::fs::canonicalize(&link).ok() == std::fs::canonicalize(program).ok();
            self.may_replace(&link, ours || dangles(&link, &there))?;
            std::fs::remove_file(&link).map_err(|e| failed(&link, e))?;
        }
        make(program, &link).map_err(|e| failed(&link, e))
    }

    fn may_replace(&self, file: &Path, unasked: bool) -> Outcome {
        match unasked || self.force {
            true => Ok(()),
            false => {
                let error = format!("'{}' is there already", file.display());
                Err(Diagnostic::error(error).note("--force replaces it").into())
            }
        }
    }

    /// A link to `nvcc` and its profile. nvcc takes the folder that it was started from for its own (`_HERE_`), reads the
    /// profile there, and puts in front of PATH what the last lines say.
    fn link_nvcc(&self, nvcc: &Path) -> Outcome {
        let unread = |what: &Path, e: std::io::Error| -> Diagnostics {
            Diagnostic::error(format!("cannot read '{}': {e}", what.display())).into()
        };
        let nvcc = std::fs::canonicalize(nvcc).map_err(|e| unread(nvcc, e))?;
        let folder = std::fs::canonicalize(&self.folder).map_err(|e| unread(&self.folder, e))?;
        let home = nvcc.parent().unwrap_or(&folder);
        let original = home.join("nvcc.profile");
        let profile = std::fs::read_to_string(&original).map_err(|e| unread(&original, e))?;
        let home = home.display().to_string();
        let profile = profile.replace("$(_HERE_)", &home);
        let profile = format!("{}\nPATH += {}:\n", profile.trim_end(), folder.display());
        let written = folder.join("nvcc.profile");
        if let Ok(there) = std::fs::read(&written) {
            self.may_replace(&written, there == profile.as_bytes())?;
        }
        self.link(&nvcc, "nvcc")?;
        std::fs::write(&written, profile).map_err(|e| failed(&written, e))
    }
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
