//! The committed bytecode is what its sources give.

#[path = "common/toolkit.rs"]
mod toolkit;

use std::process::Command;

/// Runs a script of the corpus with `--check`; what it says, when it fails.
fn check(script: &str) -> Result<(), String> {
    let output = Command::new(toolkit::python())
        .arg("-B") // no __pycache__ in the source tree
        .arg(toolkit::repository_root().join("tests/corpus").join(script))
        .arg("--check")
        .output()
        .expect("the toolkit's Python runs");
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn bytecode_is_up_to_date_with_its_sources() {
    if let Err(said) = check("build.py") {
        panic!("run tests/corpus/build and commit the result:\n{said}");
    }
}
