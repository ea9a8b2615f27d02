//! The Python package: its examples and its own checks run with the toolkit's Python, on the extension module as
//! cargo builds it. What `pip install .` adds is maturin's.

#[path = "../../../tests/common/toolkit.rs"]
mod toolkit;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

// Makes cargo build the extension module before this test.
use _tilec as _;
use rayon::prelude::*;

/// A folder with the package, the extension module in it; made once.
fn package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let root = toolkit::repository_root();
        // target/PROFILE/deps, where cargo puts the libraries of this package's tests.
        let exe = std::env::current_exe().expect("this program's path");
        let built = exe.parent().expect("target/PROFILE/deps");
        let folder = built.join("python");
        let package = folder.join("tilec");
        std::fs::create_dir_all(&package).expect("a folder");
        let source = root.join("tools/python/tilec");
        for entry in std::fs::read_dir(source).expect("the package") {
            let path = entry.expect("a file").path();
            if path.is_file() {
                std::fs::copy(&path, package.join(path.file_name().expect("a name")))
                    .expect("a copy");
            }
        }
        std::fs::copy(built.join("lib_tilec.so"), package.join("_tilec.abi3.so"))
            .expect("the extension module");
        folder
    })
}

/// Runs a script that must succeed; what it prints.
fn run(script: &Path) -> String {
    let done = Command::new(toolkit::python())
        .arg("-B")
        .arg(script)
        .env("PYTHONPATH", package())
        .output()
        .expect("Python runs");
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(done.status.success(), "{}: {out}{err}", script.display());
    out.into_owned()
}

#[test]
fn the_examples_work() {
    let folder = toolkit::repository_root().join("examples");
    let mut examples: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the examples")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .collect();
    examples.sort();
    assert!(examples.len() >= 10, "{examples:?}");
    package();
    examples
        .par_iter()
        .for_each(|example| assert!(!run(example).is_empty()));
}

#[test]
fn the_package_does_as_it_says() {
    run(&toolkit::repository_root().join("tools/python/tests/checks.py"));
}
