//! `tilec launch`: a program on a GPU, with tilec in front of its driver.

use std::path::{Path, PathBuf};

use super::Outcome;
use super::emulate::{SONAME, become_program, folder, library, program_in};
use crate::ir::Diagnostic;

/// Runs a program on a GPU, with tilec in front of the driver.
///
/// The driver does everything that it does otherwise. In addition it takes Tile IR bytecode, which is compiled for the
/// GPU when it is loaded, and kernels of tilec's, as PTX or machine code, are launched with the block size, the shared
/// memory and the tensor maps that they need, whatever the program passes. `tileiras` is tilec.
#[derive(clap::Args)]
pub struct Args {
    /// Compile for this target, not for the newest that the GPU runs.
    #[arg(long)]
    gpu_name: Option<String>,
    /// Compile the tile kernels in fatbins, too, where the driver could do so itself.
    #[arg(long)]
    always: bool,
    /// Write a line per call that tilec sees to this file.
    #[arg(long)]
    log: Option<PathBuf>,
    /// The driver, if it is not where drivers are installed.
    #[arg(long)]
    driver: Option<PathBuf>,
    /// The library that goes in front of it, if it is not beside this program.
    #[arg(long)]
    library: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// Where Linux distributions, WSL and containers have the driver.
const FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
    "/usr/lib",
];

/// The real driver: what was given, else the first in the loader's folders that is not the library itself.
fn driver(given: Option<&Path>, library: &Path) -> Result<PathBuf, Diagnostic> {
    let own = |path: &PathBuf| path.canonicalize().is_ok_and(|p| p == library);
    let found = match given {
        Some(path) => Some(path.to_owned()).filter(|p| p.is_file()),
        None => {
            let asked = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
            let asked: Vec<PathBuf> = std::env::split_paths(&asked).collect();
            let all = asked.into_iter().chain(FOLDERS.iter().map(PathBuf::from));
            let mut files = all.map(|folder| folder.join(SONAME));
            files.find(|p| p.is_file() && !own(p))
        }
    };
    let path = found.and_then(|p| p.canonicalize().ok());
    path.ok_or_else(|| {
        Diagnostic::error(format!("cannot find the driver, '{SONAME}'"))
            .note("--driver names it; without a GPU, `tilec emulate` runs the program")
    })
}

pub fn run(args: &Args) -> Outcome {
    if !cfg!(target_arch = "x86_64") {
        return Err(Diagnostic::error("tilec launch is for x86-64").into());
    }
    let library = library(args.library.as_deref())?;
    let driver = driver(args.driver.as_deref(), &library)?;
    let folder = folder(&library, "tilec-launch", &[(SONAME, &library)])?;
    // What tilec's `tileiras` writes there is PTX, which the driver assembles.
    let mut command = program_in(&folder, &args.command, &library, [])?;
    command.env("TILEC_LAUNCH_DRIVER", driver);
    if let Some(name) = &args.gpu_name {
        let target = crate::compile::target(name)?;
        command.env("TILEC_LAUNCH_GPU", target.to_string());
    }
    if args.always {
        command.env("TILEC_LAUNCH_ALWAYS", "1");
    }
    become_program(command, args.log.as_deref())
}
