//! Compile times within one process: every module of the corpus through one [`Compiler`], as an embedder
//! would use it. Prints the median, the 99th percentile and the slowest modules of each target.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tilec::compile::{Compiler, Options};

/// Compilations of each module; the fastest counts.
const ROUNDS: usize = 3;

fn main() {
    let files = modules(Path::new("tests/corpus/bytecode"));
    for target in ["sm_80", "sm_90a", "sm_100a"] {
        let options = Options {
            verify: false,
            ..Options::new(target.parse().expect("a known target"))
        };
        let compiler = Compiler::new(options).expect("the built-in rules");
        let mut times: Vec<(f64, &PathBuf)> = files
            .iter()
            .filter_map(|file| Some((fastest(&compiler, file)?, file)))
            .collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].0;
        println!(
            "{target}: {} modules, median {:.2} ms, 99th percentile {:.2} ms",
            times.len(),
            at(0.5),
            at(0.99)
        );
        for (ms, file) in times.iter().rev().take(5) {
            println!("  {ms:8.2} ms  {}", file.display());
        }
    }
}

/// Milliseconds from bytes to PTX; `None` for a module that the target does not have.
fn fastest(compiler: &Compiler, file: &Path) -> Option<f64> {
    let bytes = std::fs::read(file).expect("a corpus file");
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let module = tilec::input::bytecode(&bytes).ok()?;
        compiler.compile(module).ok()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Some(best)
}

/// The bytecode files under a folder, by path.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(folder).expect("the corpus");
    for path in entries.map(|e| e.expect("an entry").path()) {
        if path.is_dir() {
            files.extend(modules(&path));
        } else if path.extension().is_some_and(|e| e == "tilebc") {
            files.push(path);
        }
    }
    files.sort();
    files
}
