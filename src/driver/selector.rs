//! Another selector: a program that makes PTX of what `--emit nvvm-ir` writes.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::ir::{Diagnostic, Diagnostics};
use crate::ptxas::Scratch;
use crate::target::Target;

/// The PTX that `program IN.ll -o OUT.ptx --gpu-name TARGET` makes of a module in LLVM's language.
///
/// # Errors
/// That it cannot run, or what it says.
pub fn ptx(program: &Path, module: &str, target: Target) -> Result<String, Diagnostics> {
    let failed = |what: &str, e: std::io::Error| -> Diagnostics {
        Diagnostic::error(format!("cannot {what} '{}': {e}", program.display())).into()
    };
    let folder = Scratch::new().map_err(|e| failed("make a scratch folder for", e))?;
    let (input, output) = (folder.0.join("in.ll"), folder.0.join("out.ptx"));
    std::fs::write(&input, module).map_err(|e| failed("write the input of", e))?;
    let done = Command::new(program)
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .args(["--gpu-name", &target.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| failed("run", e))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let error = Diagnostic::error(format!("'{}' failed ({})", program.display(), done.status));
        return Err(said.lines().take(20).fold(error, Diagnostic::note).into());
    }
    std::fs::read_to_string(&output).map_err(|e| failed("read the output of", e))
}
