//! NVIDIA's PTX assembler: finding it, running it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ir::{Diagnostic, Diagnostics};
use crate::target::Target;

const NAME: &str = "ptxas";

/// The assembler to use: `given`, else the first that is found.
pub fn find(given: Option<&Path>) -> Result<PathBuf, Diagnostics> {
    match given {
        Some(path) if path.is_file() => Ok(path.to_owned()),
        Some(path) => Err(Diagnostic::error(format!("no such file: '{}'", path.display())).into()),
        None => find_for(Path::new("")),
    }
}

/// The first assembler of these: beside `program` (a path that this process was started by), in
/// `PATH`, in a Python environment (one that this program is in, that is active, or that
/// `tools/toolkit` made in a `target/`), in `CUDA_HOME`, `CUDA_PATH` or `CUDA_ROOT`, where CUDA is
/// installed.
pub fn find_for(program: &Path) -> Result<PathBuf, Diagnostics> {
    let beside = program
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let in_path = std::env::var_os("PATH")
        .map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>())
        .unwrap_or_default();
    let in_cuda = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"]
        .into_iter()
        .filter_map(|name| Some(PathBuf::from(std::env::var_os(name)?).join("bin")));
    let found = beside
        .map(Path::to_owned)
        .into_iter()
        .chain(in_path)
        .chain(environments().into_iter().flat_map(|home| packages(&home)))
        .chain(in_cuda)
        .chain([PathBuf::from("/usr/local/cuda/bin")])
        .map(|folder| {
            folder
                .join(NAME)
                .with_extension(std::env::consts::EXE_EXTENSION)
        })
        .find(|path| path.is_file());
    found.ok_or_else(|| {
        Diagnostic::error("cannot find 'ptxas'")
            .note("`pip install nvidia-cuda-nvcc` has one, and so has the CUDA toolkit")
            .note("it is looked for beside this program, in PATH, in Python's packages, in CUDA_HOME/bin")
            .into()
    })
}

/// Folders that may hold Python's packages: above this program, the active environment, and a
/// `target/toolkit` above the working directory or this program.
fn environments() -> Vec<PathBuf> {
    let here = std::env::current_dir().ok();
    let program = std::env::current_exe().ok();
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(|name| std::env::var_os(name).map(PathBuf::from));
    let above = |start: &PathBuf| start.ancestors().map(Path::to_owned).collect::<Vec<_>>();
    let around: Vec<PathBuf> = program.iter().flat_map(above).collect();
    let toolkits = here.iter().chain(program.iter()).flat_map(above);
    let toolkits = toolkits.map(|folder| folder.join("target/toolkit"));
    around
        .iter()
        .cloned()
        .chain(active)
        .chain(toolkits)
        .collect()
}

/// Where NVIDIA's packages keep programs, if `home` is an environment or its `site-packages`.
fn packages(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.join("lib")).into_iter().flatten();
    let mut sites: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path().join("site-packages")))
        .collect();
    sites.sort();
    sites.insert(0, home.to_owned());
    let parts = ["nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"];
    sites
        .iter()
        .flat_map(|site| parts.map(|part| site.join(part)))
        .collect()
}

/// Assembles PTX text for `target` and returns the cubin; `flags` are further options.
pub fn assemble(
    program: &Path,
    ptx: &str,
    target: Target,
    flags: &[&str],
) -> Result<Vec<u8>, Diagnostics> {
    let failed = |what: &str, e: std::io::Error| -> Diagnostics {
        Diagnostic::error(format!("cannot {what} '{}': {e}", program.display())).into()
    };
    let folder = Scratch::new().map_err(|e| failed("make a scratch folder for", e))?;
    let (input, output) = (folder.0.join("in.ptx"), folder.0.join("out.cubin"));
    std::fs::File::create(&input)
        .and_then(|mut file| file.write_all(ptx.as_bytes()))
        .map_err(|e| failed("write the input of", e))?;
    let done = Command::new(program)
        .args(flags)
        .args(["-arch", &target.to_string(), "-o"])
        .args([&output, &input])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| failed("run", e))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let error = Diagnostic::error(format!("ptxas failed ({})", done.status));
        let error = said.lines().take(20).fold(error, Diagnostic::note);
        return Err(error.into());
    }
    std::fs::read(&output).map_err(|e| failed("read the output of", e))
}

/// The `nvdisasm` that belongs to an assembler: the one beside it.
pub fn disassembler(assembler: &Path) -> Option<PathBuf> {
    let name = Path::new("nvdisasm").with_extension(std::env::consts::EXE_EXTENSION);
    Some(assembler.parent()?.join(name)).filter(|path| path.is_file())
}

/// The text that the disassembler `program` writes of a cubin with these options.
///
/// # Errors
/// The system's or the program's reason.
pub fn disassemble(program: &Path, cubin: &[u8], flags: &[&str]) -> Result<String, Diagnostics> {
    let failed = |what: &str, e: std::io::Error| -> Diagnostics {
        Diagnostic::error(format!("cannot {what} '{}': {e}", program.display())).into()
    };
    let folder = Scratch::new().map_err(|e| failed("make a scratch folder for", e))?;
    let input = folder.0.join("in.cubin");
    std::fs::write(&input, cubin).map_err(|e| failed("write the input of", e))?;
    let done = Command::new(program)
        .args(flags)
        .arg(&input)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| failed("run", e))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let error = Diagnostic::error(format!("nvdisasm failed ({})", done.status));
        return Err(said.lines().take(20).fold(error, Diagnostic::note).into());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// A folder that is removed at the end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> std::io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tilec-ptxas-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on it being gone.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
