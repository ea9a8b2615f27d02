//! Runs of the corpus through `tilec run`, against what numpy and ml_dtypes computed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use super::npy::{Array, Tolerance};
use super::toolkit;

#[derive(Deserialize)]
struct Manifest {
    module: PathBuf,
    entry: String,
    grid: Vec<u32>,
    args: Vec<String>,
    outputs: Vec<Output>,
    stdout: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Output {
    file: String,
    expected: String,
    #[serde(rename = "type")]
    element: Option<String>,
    ulp: u64,
    absolute: f64,
    relative: f64,
}

/// Writes the runs whose names start with one of the prefixes; their directories by name.
fn references(prefixes: &[&str], engine: &[&str]) -> BTreeMap<String, PathBuf> {
    let root = toolkit::repository_root();
    // Runs write their outputs there: every engine has a folder of its own.
    let folder = [prefixes, engine].concat().join("+").replace('/', "");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("numerics")
        .join(folder);
    let output = Command::new(toolkit::python())
        .arg(root.join("tests/corpus/reference.py"))
        .arg(&out)
        .args(prefixes)
        .output()
        .expect("python runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|name| (name.to_owned(), out.join(name)))
        .collect()
}

/// What is wrong with one run, if anything.
fn check(directory: &Path, engine: &[&str]) -> Result<(), String> {
    let text =
        std::fs::read_to_string(directory.join("manifest.json")).map_err(|e| e.to_string())?;
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let grid: Vec<String> = manifest.grid.iter().map(u32::to_string).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilec"));
    command
        .current_dir(directory)
        .arg("run")
        .arg(&manifest.module)
        .args(engine)
        .args(["--entry", &manifest.entry, "--grid", &grid.join(",")]);
    for arg in &manifest.args {
        command.arg("--arg").arg(arg);
    }
    let output = command.output().map_err(|e| e.to_string())?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    match &manifest.error {
        Some(error) if output.status.success() => {
            return Err(format!("did not fail with: {error}"));
        }
        Some(error) if !stderr.contains(error.as_str()) => {
            return Err(format!("failed with {stderr}not with: {error}"));
        }
        None if !output.status.success() => return Err(stderr.into_owned()),
        _ => {}
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    if let Some(expected) = &manifest.stdout
        && *expected != printed
    {
        return Err(format!("printed {printed:?}, not {expected:?}"));
    }
    for output in &manifest.outputs {
        let tolerance = Tolerance {
            ulp: output.ulp,
            absolute: output.absolute,
            relative: output.relative,
        };
        let got = Array::read(&directory.join(&output.file), output.element.as_deref())?;
        let want = Array::read(&directory.join(&output.expected), output.element.as_deref())?;
        got.compare(&want, tolerance)
            .map_err(|e| format!("{}: {e}", output.file))?;
    }
    Ok(())
}

/// Checks the runs of some corpus files with the given arguments to `tilec run`, on all cores.
pub fn check_all(prefixes: &[&str], engine: &[&str]) {
    let runs: Vec<(String, PathBuf)> = references(prefixes, engine).into_iter().collect();
    assert!(!runs.is_empty(), "no runs of {prefixes:?}");
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(BTreeMap::new());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((name, directory)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(e) = check(directory, engine) {
                        failures.lock().expect("no panics").insert(name.clone(), e);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panics");
    let list: Vec<String> = failures
        .iter()
        .map(|(name, e)| format!("{name}: {e}"))
        .collect();
    assert!(
        list.is_empty(),
        "{} of {} runs are wrong:\n{}",
        list.len(),
        runs.len(),
        list.join("\n")
    );
}
