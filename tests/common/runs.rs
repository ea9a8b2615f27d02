//! Runs of the corpus through `tilec run`, against what numpy and ml_dtypes computed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

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

/// A run that is known to fail, and why.
#[derive(Debug)]
pub struct Known {
    /// What the run's name starts with.
    pub run: &'static str,
    /// The engine's arguments hold this one; empty: whatever they are.
    pub engine: &'static str,
    /// Words of the failure.
    pub because: &'static str,
}

/// Where the runs of a file of the corpus are, by name: `reference.py` writes them once for all tests of the program.
fn written(file: &str) -> (PathBuf, Vec<String>) {
    type Once = Arc<OnceLock<(PathBuf, Vec<String>)>>;
    static FILES: Mutex<BTreeMap<String, Once>> = Mutex::new(BTreeMap::new());
    let once = {
        let mut files = FILES.lock().expect("no panics");
        files.entry(file.to_owned()).or_default().clone()
    };
    once.get_or_init(|| {
        let root = toolkit::repository_root();
        let out = references_of(file);
        let output = Command::new(toolkit::python())
            .arg(root.join("tests/corpus/reference.py"))
            .arg(&out)
            .arg(format!("{file}/"))
            .output()
            .expect("python runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let names = String::from_utf8_lossy(&output.stdout);
        (out, names.lines().map(str::to_owned).collect())
    })
    .clone()
}

/// The folder with the runs of a file of the corpus.
pub fn references_of(file: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("references");
    all.join(file)
}

/// The runs whose names start with one of the prefixes, each of which names a file; their directories by name.
fn references(prefixes: &[&str]) -> BTreeMap<String, PathBuf> {
    let mut runs = BTreeMap::new();
    for prefix in prefixes {
        let (file, _) = prefix.split_once('/').expect("the prefix names a file");
        let (out, names) = written(file);
        let names = names.into_iter().filter(|name| name.starts_with(prefix));
        runs.extend(names.map(|name| (name.clone(), out.join(name))));
    }
    runs
}

/// A folder beside `directory` with the same files: what a run writes stays out of the references.
fn copy(directory: &Path, engine: &[&str]) -> std::io::Result<PathBuf> {
    let copy = directory.join(engine.join("+")).join("run");
    std::fs::create_dir_all(&copy)?;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), copy.join(entry.file_name()))?;
        }
    }
    Ok(copy)
}

/// What is wrong with one run, if anything.
fn check(directory: &Path, engine: &[&str]) -> Result<(), String> {
    let directory = &copy(directory, engine).map_err(|e| e.to_string())?;
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

/// What is wrong with one run that may be known to fail.
fn check_known(
    name: &str,
    directory: &Path,
    engine: &[&str],
    known: &[Known],
) -> Result<(), String> {
    let here =
        |k: &&Known| name.starts_with(k.run) && (k.engine.is_empty() || engine.contains(&k.engine));
    match (check(directory, engine), known.iter().find(here)) {
        (result, None) => result,
        (Ok(()), Some(k)) => Err(format!("is right: take {k:?} off the list")),
        (Err(e), Some(k)) if !e.contains(k.because) => Err(format!("{e}, not what {k:?} says")),
        (Err(_), Some(_)) => Ok(()),
    }
}

/// Checks the runs of some corpus files on all cores, with each of the given lists of arguments to
/// `tilec run`. What is known to fail must fail as it is known to.
pub fn check_all(prefixes: &[&str], engines: &[&[&str]], known: &[Known]) {
    let references = references(prefixes);
    let runs: Vec<(&[&str], &String, &PathBuf)> = engines
        .iter()
        .flat_map(|&e| references.iter().map(move |(name, path)| (e, name, path)))
        .collect();
    assert!(!runs.is_empty(), "no runs of {prefixes:?}");
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(BTreeMap::new());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(&(engine, name, directory)) =
                    runs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    if let Err(e) = check_known(name, directory, engine, known) {
                        let name = format!("{name} {}", engine.join(" "));
                        failures.lock().expect("no panics").insert(name, e);
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
