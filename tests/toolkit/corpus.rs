//! The committed bytecode is what its sources give.

use crate::toolkit;
use std::collections::BTreeMap;
use std::path::Path;
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

#[test]
fn modules_from_the_reference_encoder_are_up_to_date() {
    let encoder = toolkit::repository_root().join("tests/encoder");
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("encoder");
    let output = Command::new(toolkit::python())
        .arg("-B")
        .arg(encoder.join("gen.py"))
        .arg(&made)
        .output()
        .expect("the toolkit's Python runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let files = |dir: &Path| -> BTreeMap<_, _> {
        let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
        entries
            .map(|e| (e.file_name(), std::fs::read(e.path()).unwrap()))
            .collect()
    };
    let (made, committed) = (files(&made), files(&encoder.join("bytecode")));
    let differ: Vec<_> = made
        .keys()
        .chain(committed.keys())
        .filter(|name| made.get(*name) != committed.get(*name))
        .collect();
    assert!(differ.is_empty(), "run gen.py and commit: {differ:?}");
}
