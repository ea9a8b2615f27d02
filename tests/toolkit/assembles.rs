//! ptxas takes what tilec writes: every case of the corpus in its newest bytecode version, for
//! every kind of target. The suite takes a part of it, the same every time;
//! `tools/test --test toolkit assembles -- --ignored` all of it.

use crate::toolkit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;

/// Each with instructions that the others lack, or without some that they have.
const TARGETS: [&str; 6] = ["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"];

/// A case that is known not to compile, and why. One that compiles must leave the list.
struct Known {
    case: &'static str,
    /// Empty: all.
    targets: &'static [&'static str],
    because: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        case: "ops_other/multimem",
        targets: &["sm_75", "sm_80", "sm_89"],
        because: "multicast addresses need sm_90 or later",
    },
    Known {
        case: "ops_types/views",
        targets: &[],
        because: "elements of four bits in memory: a tile may start in the middle of a byte",
    },
];

/// Every case's newest file, by `FILE/CASE`.
fn cases() -> BTreeMap<String, PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/bytecode");
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("the corpus is there");
        let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("a file").path()).collect();
        // Versions in order: later ones replace earlier ones.
        paths.sort();
        paths
    };
    let name = |path: &Path| path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let mut cases = BTreeMap::new();
    for folder in list(&root) {
        for file in list(&folder) {
            let (Some(group), Some(stem)) = (name(&folder), name(&file)) else {
                continue;
            };
            // `file_stem` of "x-13.1.tilebc" is "x-13.1".
            let case = stem.rsplit_once("-13.").map_or(&*stem, |(case, _)| case);
            cases.insert(format!("{group}/{case}"), file);
        }
    }
    assert!(cases.len() > 150, "{} cases", cases.len());
    cases
}

/// Compiles and assembles one case.
fn check(case: &str, module: &Path, target: &str) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("assembles");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let ptx = folder.join(format!("{}_{target}.ptx", case.replace('/', "+")));
    let compiled = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .arg("compile")
        .arg(module)
        .args(["--gpu-name", target, "-o"])
        .arg(&ptx)
        .output()
        .map_err(|e| e.to_string())?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let assembled = Command::new(toolkit::ptxas())
        // What ptxas accepts does not depend on how hard it optimises.
        .args(["-O0", "-arch", target, "-o", "/dev/null"])
        .arg(&ptx)
        .output()
        .map_err(|e| e.to_string())?;
    if !assembled.status.success() {
        let said = String::from_utf8_lossy(&assembled.stderr);
        return Err(format!("ptxas on {}: {said}", ptx.display()));
    }
    std::fs::remove_file(&ptx).map_err(|e| e.to_string())
}

/// What is wrong with one case that may be known to fail.
fn check_known(case: &str, module: &Path, target: &str) -> Result<(), String> {
    let known = KNOWN
        .iter()
        .find(|k| k.case == case && (k.targets.is_empty() || k.targets.contains(&target)));
    match (check(case, module, target), known) {
        (result, None) => result,
        (Ok(()), Some(_)) => Err("compiles: take it off the list".into()),
        (Err(e), Some(known)) if e.contains(known.because) => Ok(()),
        (Err(e), Some(known)) => Err(format!("{e}, not: {}", known.because)),
    }
}

/// All of the given cases that are wrong for a target.
fn all_assemble(jobs: &[(&String, &PathBuf, &str)]) {
    let wrong: Vec<String> = jobs
        .par_iter()
        .filter_map(|(case, module, target)| {
            let error = check_known(case, module, target).err()?;
            Some(format!("{case} for {target}: {error}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        jobs.len(),
        wrong.join("\n")
    );
}

/// Each case for one target, each target with a sixth of the cases.
#[test]
fn a_part_of_the_corpus_assembles() {
    let cases = cases();
    let targets = TARGETS.iter().copied().cycle();
    let jobs: Vec<_> = cases
        .iter()
        .zip(targets)
        .map(|((c, m), t)| (c, m, t))
        .collect();
    all_assemble(&jobs);
}

/// The programs, which use most at once, for the targets with strategies of their own.
#[test]
fn the_programs_assemble() {
    let cases = cases();
    let programs = cases
        .iter()
        .filter(|(case, _)| case.starts_with("programs_") || case.starts_with("production_"));
    let jobs: Vec<_> = programs
        .flat_map(|(c, m)| ["sm_75", "sm_80", "sm_90a"].map(|t| (c, m, t)))
        .collect();
    all_assemble(&jobs);
}

#[test]
#[ignore = "takes minutes; the other tests take a part of it"]
fn the_whole_corpus_assembles() {
    let cases = cases();
    let jobs: Vec<_> = cases
        .iter()
        .flat_map(|(c, m)| TARGETS.map(|t| (c, m, t)))
        .collect();
    all_assemble(&jobs);
}
