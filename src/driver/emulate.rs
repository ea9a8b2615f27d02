//! `tilec emulate`: a program run with an emulated CUDA driver in front.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use crate::ir::Diagnostic;

/// Runs a program that uses a GPU on a machine without one.
///
/// The program finds tilec's `libcuda.so.1` and `libcudart.so.13` before any other, and tilec in the place of
/// `tileiras`. Tile IR, PTX, and cubins that carry one of them, run in the simulator. NVIDIA's static runtime accepts no
/// driver but NVIDIA's: what nvcc links meanwhile has the shared one, and in programs that have the static one in them and
/// are not stripped, tilec's takes its place.
#[derive(clap::Args)]
pub struct Args {
    /// The GPU that every device is.
    #[arg(long, default_value = "sm_90a")]
    gpu_name: String,
    /// How many devices there are.
    #[arg(long, default_value_t = 1)]
    devices: u32,
    /// What runs Tile IR kernels: the simulator on what tilec compiles, the reference interpreter, or nothing.
    #[arg(long, value_enum, default_value_t)]
    engine: Engine,
    /// Write the bytecode of each Tile IR module that is loaded to this folder.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Look for races and reads of what nobody wrote, in every launch.
    #[arg(long)]
    checks: bool,
    /// Write a line per call of the driver to this file.
    #[arg(long)]
    log: Option<PathBuf>,
    /// Take a kernel to hang when one of its clusters has executed so many warp instructions.
    #[arg(long)]
    max_steps: Option<u64>,
    /// Preload the library, too: for programs that look for the driver in folders of their own.
    #[arg(long)]
    preload: bool,
    /// The library, if it is not beside this program.
    #[arg(long)]
    library: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Engine {
    #[default]
    Sim,
    Eval,
    /// launches succeed and leave memory as it is
    None,
}

impl Engine {
    /// What the driver's library calls it.
    fn name(self) -> &'static str {
        match self {
            Engine::Sim => "sim",
            Engine::Eval => "eval",
            Engine::None => "none",
        }
    }
}

/// The file that cargo builds, and the name under which programs look for the driver.
const FILE: &str = "libtilec_cuda.so";
pub(super) const SONAME: &str = "libcuda.so.1";
/// What is preloaded, beside the driver's file: for programs that compile with NVRTC or have the static runtime in them.
const PRELOADED: &str = "libtilec_preload.so";
/// What is preloaded for programs that have an assembler of their own; the variable names the folder of tilec's.
const ASSEMBLER: &str = "libtilec_assembler.so";
const ASSEMBLER_FOLDER: &str = "TILEC_ASSEMBLER";
/// The runtime's file, beside the driver's, and the names under which programs and linkers look for it.
const RUNTIME: &str = "libtilec_cudart.so";
const RUNTIME_NAMES: [&str; 2] = ["libcudart.so.13", "libcudart.so"];
/// Where cuTile Python keeps what it has compiled, across programs.
const COMPILED: &str = "CUDA_TILE_CACHE_DIR";

/// The driver's library: what was given, else what lies beside this program or in `../lib`.
pub(super) fn library(given: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    let beside = || {
        let program = std::env::current_exe().ok()?.canonicalize().ok()?;
        let folder = program.parent()?;
        let places = [folder.join(FILE), folder.join("../lib").join(FILE)];
        places.into_iter().find(|p| p.is_file())
    };
    let found = match given {
        Some(path) => Some(path.to_owned()).filter(|p| p.is_file()),
        None => beside(),
    };
    let path = found.and_then(|p| p.canonicalize().ok());
    path.ok_or_else(|| {
        Diagnostic::error(format!("cannot find the emulated driver, '{FILE}'"))
            .note("`cargo build -p tilec-cuda` makes it; --library names another place")
    })
}

/// A folder in which libraries have the names that programs look for, and this program that of the assembler whose place it takes:
/// beside the library, or in the user's cache. It stays, so that nothing needs to be cleaned up after a program that was
/// killed.
pub(super) fn folder(
    library: &Path,
    name: &str,
    libraries: &[(&str, &Path)],
) -> Result<PathBuf, Diagnostic> {
    let program = std::env::current_exe().and_then(|p| p.canonicalize());
    let program =
        program.map_err(|e| Diagnostic::error(format!("cannot find this program: {e}")))?;
    let programs = [
        ("bin/tileiras", program.as_path()),
        ("bin/tileirdisasm", program.as_path()),
    ];
    let links: Vec<_> = libraries.iter().copied().chain(programs).collect();
    let beside = library.parent().map(|p| p.join(name));
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .map(|cache| cache.join("tilec").join(name));
    let mut last = None;
    for folder in beside.into_iter().chain(cache) {
        match links
            .iter()
            .try_for_each(|(name, to)| link(to, &folder.join(name)))
        {
            Ok(()) => return Ok(folder),
            Err(e) => last = Some((folder, e)),
        }
    }
    let why = last.map_or("there is no place".into(), |(folder, e)| {
        format!("'{}': {e}", folder.display())
    });
    Err(Diagnostic::error(format!(
        "cannot link the emulated driver: {why}"
    )))
}

fn link(to: &Path, name: &Path) -> std::io::Result<()> {
    if std::fs::read_link(name).is_ok_and(|old| old == to) {
        return Ok(());
    }
    if let Some(folder) = name.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Made under another name and then moved, since another process may be doing the same.
    let fresh = name.with_extension(std::process::id().to_string());
    std::os::unix::fs::symlink(to, &fresh)?;
    std::fs::rename(&fresh, name)
}

/// A list of paths in the environment, with one more in front.
fn in_front(variable: &str, path: &Path) -> std::ffi::OsString {
    let mut list = path.as_os_str().to_owned();
    if let Some(old) = std::env::var_os(variable).filter(|v| !v.is_empty()) {
        list.push(":");
        list.push(old);
    }
    list
}

/// Libraries in front of those that are preloaded already.
fn preloaded(libraries: impl Iterator<Item = PathBuf>) -> Option<std::ffi::OsString> {
    let old = std::env::var_os("LD_PRELOAD").filter(|v| !v.is_empty());
    let all = libraries.map(PathBuf::into_os_string).chain(old);
    all.reduce(|mut list, path| {
        list.push(":");
        list.push(path);
        list
    })
}

/// What nvcc is given beyond its command line: the shared runtime.
fn nvcc_flags() -> std::ffi::OsString {
    let mut flags = std::env::var_os("NVCC_APPEND_FLAGS").unwrap_or_default();
    flags.push(" --cudart shared");
    flags
}

/// The program with its arguments, for which the libraries and the assembler in `folder` come first. What is preloaded:
/// `preload`, and what lies beside `library` for programs with an assembler of their own.
pub(super) fn program_in(
    folder: &Path,
    command: &[String],
    library: &Path,
    preload: impl IntoIterator<Item = PathBuf>,
) -> Result<Command, Diagnostic> {
    let (program, rest) = command
        .split_first()
        .ok_or_else(|| Diagnostic::error("no program to run"))?;
    let mut command = Command::new(program);
    command
        .args(rest)
        .env("LD_LIBRARY_PATH", in_front("LD_LIBRARY_PATH", folder))
        .env("PATH", in_front("PATH", &folder.join("bin")))
        .env(ASSEMBLER_FOLDER, folder.join("bin"))
        .env("TILEC_EMULATE", "1");
    let all = std::iter::once(library.with_file_name(ASSEMBLER)).chain(preload);
    if let Some(list) = preloaded(all.filter(|path| path.is_file())) {
        command.env("LD_PRELOAD", list);
    }
    Ok(command)
}

/// Has the library write a line per call to `log`, and becomes the program. Returns only if there is no such program.
pub(super) fn become_program(mut command: Command, log: Option<&Path>) -> Outcome {
    if let Some(log) = log {
        let log = std::path::absolute(log).unwrap_or_else(|_| log.to_owned());
        command.env("TILEC_EMULATE_LOG", log);
    }
    let error = command.exec();
    let program = command.get_program().to_string_lossy();
    Err(Diagnostic::error(format!("cannot run '{program}': {error}")).into())
}

/// The folder for the modules: there, and named so that it does not depend on where the program goes.
fn kept(folder: &Path) -> Result<PathBuf, Diagnostic> {
    let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.map_err(|e| {
        Diagnostic::error(format!(
            "cannot keep modules in '{}': {e}",
            folder.display()
        ))
    })
}

pub fn run(args: &Args) -> Outcome {
    let target = crate::compile::target(&args.gpu_name)?;
    let library = library(args.library.as_deref())?;
    let runtime = library.with_file_name(RUNTIME);
    let mut libraries = vec![(SONAME, library.as_path())];
    // Programs on the driver API do without the runtime.
    if runtime.is_file() {
        libraries.extend(RUNTIME_NAMES.map(|name| (name, runtime.as_path())));
    }
    let folder = folder(&library, "tilec-emulate", &libraries)?;
    // The runtime, too: libraries that bring NVIDIA's along (cuRAND's has `$ORIGIN` as its search path) ask for it by its
    // name, which the one that is loaded already has.
    let beside = [PRELOADED, RUNTIME].map(|name| library.with_file_name(name));
    let driver = args.preload.then(|| library.clone());
    let preload = beside.into_iter().chain(driver);
    let mut command = program_in(&folder, &args.command, &library, preload)?;
    command
        .env("LIBRARY_PATH", in_front("LIBRARY_PATH", &folder))
        .env("NVCC_APPEND_FLAGS", nvcc_flags())
        .env("TILEC_EMULATE_GPU", target.to_string())
        .env("TILEC_EMULATE_DEVICES", args.devices.to_string())
        .env("TILEC_EMULATE_ENGINE", args.engine.name());
    // What an earlier tilec or another engine has compiled would be run in the place of what this one makes.
    if std::env::var_os(COMPILED).is_none() {
        command.env(COMPILED, "off");
    }
    if let Some(folder) = &args.keep {
        command.env("TILEC_EMULATE_KEEP", kept(folder)?);
    }
    if args.checks {
        command.env("TILEC_EMULATE_CHECKS", "1");
    }
    if let Some(steps) = args.max_steps {
        command.env("TILEC_EMULATE_MAX_STEPS", steps.to_string());
    }
    become_program(command, args.log.as_deref())
}
