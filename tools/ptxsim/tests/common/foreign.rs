//! Launches that `kernels/foreign.py` writes, run in the simulator and compared.

use super::common::toolkit;
use ptxsim::Module;
use ptxsim::program::Program;
use ptxsim::suite::{self, Case};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Interleavings that every launch is run with.
const SEEDS: [u64; 2] = [1, 4];

/// Kernels with a race in global memory that their compiler put there, and why it does no harm.
const RACES: [(&str, &str); 1] = [(
    "for_tokens",
    "tileiras lets warps 1 to 3 load what warp 0 overwrites, and throws away what they loaded",
)];

/// Compilers that leave out `tcgen05.fence` around the synchronisation of their threads, against the ISA's rules: Triton
/// all of them, tileiras those behind the wait for a `tcgen05.commit`.
const WITHOUT_TENSOR_FENCES: [&str; 2] = ["triton", "tile"];

/// Names of the files of a producer, sorted.
pub fn files(producer: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/kernels")
        .join(producer);
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Installs Triton beside the rest of the toolkit where it is missing.
fn install() {
    static DONE: std::sync::OnceLock<()> = std::sync::OnceLock::new();
    DONE.get_or_init(|| {
        let script = toolkit::repository_root().join("tools/toolkit");
        let output = Command::new(&script)
            .arg("--with-triton")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{} --with-triton failed:\n{}",
            script.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    });
}

/// Runs `kernels/foreign.py`.
pub fn describe(arguments: &[&OsStr]) {
    install();
    let output = Command::new(toolkit::python())
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/foreign.py"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs all kernels of a file; panics with everything that is wrong.
pub fn check(producer: &str, file: &str) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("foreign")
        .join(format!("{producer}-{file}-{}", std::process::id()));
    describe(&[
        "prepare".as_ref(),
        out.as_os_str(),
        format!("{producer}/{file}").as_ref(),
    ]);
    let cases = suite::load(&out).unwrap();
    assert!(!cases.is_empty(), "{producer}/{file} has no kernels");
    let only = std::env::var("KERNEL").unwrap_or_default();
    let mut wrong = Vec::new();
    for case in cases.iter().filter(|c| c.name.contains(&only)) {
        if let Err(e) = run(case, &out, producer) {
            wrong.push(format!("{} {}: {e}", case.name, case.label));
        }
    }
    std::fs::remove_dir_all(&out).ok();
    assert!(
        wrong.is_empty(),
        "{} launches are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn run(case: &Case, folder: &Path, producer: &str) -> Result<(), String> {
    let at = |e: &dyn std::fmt::Display| format!("{}: {e}", case.ptx.display());
    let program = Module::new(case.text(folder)?)
        .and_then(|module| module.entry(Some(&case.entry)))
        .map_err(|e| at(&e))?;
    SEEDS.iter().try_for_each(|&seed| {
        interleave(case, folder, &program, producer, seed)
            .map_err(|e| format!("seed {seed}: {}", at(&e)))
    })
}

/// One launch with one interleaving.
fn interleave(
    case: &Case,
    folder: &Path,
    program: &Program,
    producer: &str,
    seed: u64,
) -> Result<(), String> {
    let mut launch = case.launch(folder, program)?;
    launch.seed = seed;
    launch.checks.global_races = RACES.iter().all(|(entry, _)| *entry != case.entry);
    launch.checks.tensor_fences = !WITHOUT_TENSOR_FENCES.contains(&producer);
    let report = match (launch.run(), &case.fault) {
        (Ok(report), None) => report,
        (Err(found), None) => return Err(found.to_string()),
        (Err(found), Some(words)) if found.to_string().contains(words) => return Ok(()),
        (Err(found), Some(words)) => return Err(format!("{found}; not {words}")),
        (Ok(_), Some(words)) => return Err(format!("nothing is reported, not {words}")),
    };
    case.check_output(&report.output)?;
    case.check_buffers(folder, &launch.buffers)
}
