//! NVIDIA's PTX assembler: finding it, running it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ir::{Diagnostic, Diagnostics};
use crate::target::Target;

const NAME: &str = "ptxas";

/// Where the toolkit that `tools/toolkit` installs keeps its programs, below a Python's `lib`.
const TOOLKIT_BIN: &str = "site-packages/nvidia/cu13/bin";

/// The assembler to use: `given`, else the first in `PATH`, in `CUDA_HOME`, or in the toolkit that
/// is installed below a `target/` of the working directory or of this program.
pub fn find(given: Option<&Path>) -> Result<PathBuf, Diagnostics> {
    if let Some(path) = given {
        return match path.is_file() {
            true => Ok(path.to_owned()),
            false => Err(Diagnostic::error(format!("no such file: '{}'", path.display())).into()),
        };
    }
    let in_path = std::env::var_os("PATH")
        .map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>())
        .unwrap_or_default();
    let in_cuda = std::env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let found = in_path
        .into_iter()
        .chain(in_cuda)
        .map(|folder| folder.join(NAME))
        .find(|path| path.is_file())
        .or_else(in_target);
    found.ok_or_else(|| {
        Diagnostic::error("cannot find 'ptxas'")
            .note("give its path with --ptxas, or have it in PATH or in CUDA_HOME/bin")
            .note("tools/toolkit installs one into target/")
            .into()
    })
}

/// The toolkit's assembler in the nearest `target/` that has one.
fn in_target() -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let program = std::env::current_exe().ok();
    here.iter()
        .chain(program.iter())
        .flat_map(|start| start.ancestors())
        .find_map(|folder| toolkit(&folder.join("target/toolkit")))
}

/// The assembler below a virtual environment.
fn toolkit(environment: &Path) -> Option<PathBuf> {
    let mut pythons: Vec<PathBuf> = std::fs::read_dir(environment.join("lib"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    pythons.sort();
    pythons
        .into_iter()
        .map(|python| python.join(TOOLKIT_BIN).join(NAME))
        .find(|path| path.is_file())
}

/// Assembles PTX text for `target` and returns the cubin.
pub fn assemble(program: &Path, ptx: &str, target: Target) -> Result<Vec<u8>, Diagnostics> {
    let failed = |what: &str, e: std::io::Error| -> Diagnostics {
        Diagnostic::error(format!("cannot {what} '{}': {e}", program.display())).into()
    };
    let folder = Scratch::new().map_err(|e| failed("make a scratch folder for", e))?;
    let (input, output) = (folder.0.join("in.ptx"), folder.0.join("out.cubin"));
    std::fs::File::create(&input)
        .and_then(|mut file| file.write_all(ptx.as_bytes()))
        .map_err(|e| failed("write the input of", e))?;
    let done = Command::new(program)
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

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("tilec-ptxas-{}", std::process::id()));
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
