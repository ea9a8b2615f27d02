//! The pinned toolkit installs and its tools run.

use crate::toolkit;
use std::path::Path;
use std::process::Command;

/// What `TOOL ARG` prints, after checking that it succeeded.
fn output_of(tool: &Path, arg: &str) -> String {
    let output = Command::new(tool)
        .arg(arg)
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", tool.display()));
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", tool.display());
    text
}

#[test]
fn cuda_programs_have_the_pinned_release() {
    for tool in [
        toolkit::ptxas(),
        toolkit::nvcc(),
        toolkit::tileiras(),
        toolkit::nvdisasm(),
        toolkit::cuobjdump(),
    ] {
        let text = output_of(&tool, "--version");
        assert!(text.contains("release 13.5"), "{}: {text}", tool.display());
    }
}

#[test]
fn disassembler_runs() {
    let text = output_of(&toolkit::tileirdisasm(), "--help");
    assert!(text.contains("USAGE") || text.contains("Usage"), "{text}");
}

#[test]
fn python_has_the_producer_and_the_references() {
    let output = Command::new(toolkit::python())
        .args(["-c", "import cuda.tile, numpy, ml_dtypes"])
        .output()
        .expect("the toolkit's Python runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
