//! The committed bytecode is what its sources give.

#[path = "common/toolkit.rs"]
mod toolkit;

use std::process::Command;

#[test]
fn bytecode_is_up_to_date_with_its_sources() {
    let root = toolkit::repository_root();
    let output = Command::new(toolkit::python())
        .arg("-B") // no __pycache__ in the source tree
        .arg(root.join("tests/corpus/build.py"))
        .arg("--check")
        .output()
        .expect("the toolkit's Python runs");
    assert!(
        output.status.success(),
        "run tests/corpus/build and commit the result:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
