//! Compile times within one process: every module of the corpus through one [`Compiler`], as an embedder
//! would use it. Prints the median, the 99th percentile and the slowest modules of each target.
//!
//! `--target T` and `--rounds N` replace the targets and the number of compilations of each module; `--folder F` compiles
//! other modules, other words select files whose path contains one of them. `--digests FILE` writes a line for each
//! compilation, with a digest of its PTX, so that two compilers can be compared.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use tilec::compile::{Compiler, Options};

/// What the command line says.
struct Args {
    targets: Vec<String>,
    /// Compilations of each module; the fastest counts.
    rounds: usize,
    folder: PathBuf,
    digests: Option<PathBuf>,
    words: Vec<String>,
}

fn main() {
    let args = args();
    let files = modules(&args.folder, &args.words);
    let mut digests = String::new();
    for target in &args.targets {
        let options = Options {
            verify: false,
            ..Options::new(target.parse().expect("a known target"))
        };
        let compiler = Compiler::new(options).expect("the built-in rules");
        let mut times: Vec<(f64, &PathBuf)> = Vec::new();
        for file in &files {
            let (ms, result) = fastest(&compiler, file, args.rounds);
            let _ = writeln!(digests, "{target} {} {result}", file.display());
            times.extend(ms.map(|ms| (ms, file)));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        report(target, &times);
    }
    if let Some(path) = args.digests {
        std::fs::write(path, digests).expect("a writable file");
    }
}

fn args() -> Args {
    let mut args = Args {
        targets: ["sm_80", "sm_90a", "sm_100a", "sm_120a"]
            .map(String::from)
            .into(),
        rounds: 3,
        folder: "tests/corpus/bytecode".into(),
        digests: None,
        words: Vec::new(),
    };
    let mut named = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("a value behind the option");
        match word.as_str() {
            "--target" => named.push(value()),
            "--rounds" => args.rounds = value().parse().expect("a number"),
            "--folder" => args.folder = value().into(),
            "--digests" => args.digests = Some(value().into()),
            // Cargo's own.
            "--bench" => {}
            _ => args.words.push(word),
        }
    }
    if !named.is_empty() {
        args.targets = named;
    }
    args
}

fn report(target: &str, times: &[(f64, &PathBuf)]) {
    let Some(last) = times.len().checked_sub(1) else {
        println!("{target}: no module");
        return;
    };
    let at = |share: f64| times[(last as f64 * share) as usize].0;
    println!(
        "{target}: {} modules, median {:.2} ms, 99th percentile {:.2} ms, sum {:.0} ms, over 1 ms {}, over 5 ms {}",
        times.len(),
        at(0.5),
        at(0.99),
        times.iter().map(|t| t.0).sum::<f64>(),
        times.iter().filter(|t| t.0 > 1.0).count(),
        times.iter().filter(|t| t.0 > 5.0).count(),
    );
    for (ms, file) in times.iter().rev().take(10) {
        println!("  {ms:8.2} ms  {}", file.display());
    }
}

/// Milliseconds from bytes to PTX, `None` for a module that the target does not have; and a digest of the result.
fn fastest(compiler: &Compiler, file: &Path, rounds: usize) -> (Option<f64>, String) {
    let bytes = std::fs::read(file).expect("a corpus file");
    let mut best = f64::INFINITY;
    let mut result = String::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let kernel = tilec::input::bytecode(&bytes).and_then(|module| compiler.compile(module));
        let time = start.elapsed().as_secs_f64() * 1e3;
        match kernel {
            Ok(kernel) => {
                best = best.min(time);
                let mut hasher = DefaultHasher::new();
                hasher.write(kernel.ptx.as_bytes());
                hasher.write(format!("{:?}", kernel.manifest).as_bytes());
                result = format!("{:016x} {} bytes", hasher.finish(), kernel.ptx.len());
            }
            Err(refusal) => {
                let text = format!("{refusal:?}").replace('\n', " ");
                return (None, text);
            }
        }
    }
    (Some(best), result)
}

/// The bytecode files under a folder, by path.
fn modules(folder: &Path, words: &[String]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(folder).expect("a folder");
    for path in entries.map(|e| e.expect("an entry").path()) {
        let asked = || {
            words.is_empty()
                || words
                    .iter()
                    .any(|w| path.to_string_lossy().contains(w.as_str()))
        };
        if path.is_dir() {
            files.extend(modules(&path, words));
        } else if path.extension().is_some_and(|e| e == "tilebc") && asked() {
            files.push(path);
        }
    }
    files.sort();
    files
}
