//! The pinned toolkit for tests: paths of the real tools.
//!
//! The first use in a process runs `tools/toolkit`, which installs what is
//! missing and costs a moment when nothing is. A failing install fails the
//! test: a check against a real tool is never skipped.
//!
//! Shared by every package of the workspace; a package other than the root
//! includes it with `#[path = "…/tests/common/toolkit.rs"] mod toolkit;`.

#![allow(dead_code)] // No single test file uses every tool.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The root of the repository, from whichever package includes this file.
pub fn repository_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|dir| dir.join("tools/toolkit").is_file())
        .expect("no directory above this package holds tools/toolkit")
}

/// Python of the toolkit's environment: cuda-tile, numpy, ml_dtypes.
pub fn python() -> PathBuf {
    tool("python")
}

/// `ptxas`: checks and assembles PTX.
pub fn ptxas() -> PathBuf {
    tool("ptxas")
}

/// `nvcc`: PTX by an independent compiler (`nvcc -ptx`).
pub fn nvcc() -> PathBuf {
    tool("nvcc")
}

/// `tileiras`: the closed Tile IR assembler.
pub fn tileiras() -> PathBuf {
    tool("tileiras")
}

/// `tileirdisasm`: prints Tile IR bytecode as text.
pub fn tileirdisasm() -> PathBuf {
    tool("tileirdisasm")
}

/// `nvdisasm`: SASS of a cubin.
pub fn nvdisasm() -> PathBuf {
    tool("nvdisasm")
}

/// `cuobjdump`: SASS and resource usage of a cubin.
pub fn cuobjdump() -> PathBuf {
    tool("cuobjdump")
}

/// `z3`: the solver that proves rules. It is a part of the toolkit that only this needs.
pub fn z3() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| PathBuf::from(run(&["z3"]).trim()))
        .clone()
}

/// Headless Chromium. It is a part of the toolkit that only the page of `tilec view` needs.
pub fn chromium() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| PathBuf::from(run(&["chromium"]).trim()))
        .clone()
}

fn tool(name: &str) -> PathBuf {
    static TOOLS: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    TOOLS
        .get_or_init(locate)
        .get(name)
        .unwrap_or_else(|| panic!("tools/toolkit does not list `{name}`"))
        .clone()
}

/// Runs `tools/toolkit` and reads its `name=path` lines.
fn locate() -> HashMap<String, PathBuf> {
    run(&[])
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, path)| (name.to_owned(), PathBuf::from(path)))
        .collect()
}

/// What `tools/toolkit` prints.
fn run(arguments: &[&str]) -> String {
    let script = repository_root().join("tools/toolkit");
    let output = Command::new(&script)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", script.display()));
    assert!(
        output.status.success(),
        "{} failed ({}):\n{}",
        script.display(),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
