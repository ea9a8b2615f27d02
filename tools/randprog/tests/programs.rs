//! Random programs, and those that once went wrong.

use std::path::Path;

use randprog::choices::Choices;
use randprog::generate;
use randprog::known::Known;
use randprog::program::Program;
use randprog::run::{Case, Extent, Finding, TARGETS, Way, ways};
use rayon::prelude::*;

fn problem(program: &Program, ways: &[Way]) -> Option<Finding> {
    Case::new(program).map_or_else(Some, |case| case.check(ways))
}

#[test]
fn programs_that_went_wrong_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/random");
    let files = std::fs::read_dir(&folder).unwrap();
    let mut files: Vec<_> = files.map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let failures: Vec<String> = files
        .par_iter()
        .filter_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let program = Program::parse(&text).unwrap();
            let finding = problem(&program, &ways(&TARGETS, 4, 0, Extent::All))?;
            Some(format!("{}: {}", file.display(), finding.text()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Each program on two targets, on one of them without optimisation.
#[test]
fn random_programs_agree() {
    let failures: Vec<String> = (0..240u64)
        .into_par_iter()
        .filter_map(|seed| {
            let program = generate::program(&mut Choices::random(seed));
            let n = seed as usize;
            let at = [
                TARGETS[n % TARGETS.len()],
                TARGETS[(n / TARGETS.len() + n + 3) % TARGETS.len()],
            ];
            let way = |target, opt_level| Way {
                target,
                opt_level,
                tma: true,
                seed: seed + 1,
            };
            let finding = problem(&program, &[way(at[0], 3), way(at[1], 3), way(at[0], 0)])?;
            Some(format!("seed {seed}: {}", finding.text()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs that agreed are in the file, once each; another interleaving or program is none of them.
#[test]
fn known_runs_are_kept() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("known_runs");
    std::fs::write(&path, []).unwrap();
    let run = |seeds: [u64; 2]| {
        let known = Known::open(&path).unwrap();
        for seed in seeds {
            let program = generate::program(&mut Choices::random(seed));
            let case = Case::new(&program).unwrap_or_else(|f| panic!("{}", f.text()));
            let ways = ways(&["sm_80"], 2, seed, Extent::One);
            assert_eq!(case.with_known(Some(&known)).check(&ways), None);
        }
        known.len()
    };
    let first = run([7, 7]);
    assert!(first >= 2, "two interleavings");
    assert_eq!(run([7, 7]), first);
    assert!(run([7, 8]) > first);
    // A key that was cut off is dropped, and what follows it is read.
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    let all = bytes.len() / 16;
    assert_eq!(Known::open(&path).unwrap().len(), all - 1);
    assert_eq!(run([8, 7]), all);
    assert_eq!(Known::open(&path).unwrap().len(), all);
}

/// What is written of a program is the program.
#[test]
fn programs_are_read_as_they_are_written() {
    for seed in 0..50 {
        let program = generate::program(&mut Choices::random(seed));
        assert_eq!(
            Program::parse(&program.to_string()).unwrap(),
            program,
            "seed {seed}"
        );
    }
}

/// The same decisions make the same program, and a program needs no more decisions than it took.
#[test]
fn decisions_are_replayed() {
    for seed in 0..50 {
        let mut choices = Choices::random(seed);
        let program = generate::program(&mut choices);
        let mut again = Choices::replay(choices.taken.clone());
        assert_eq!(generate::program(&mut again), program);
        assert_eq!(again.taken, choices.taken);
    }
}
