//! `randprog`: makes random programs and runs them.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Parser, Subcommand};
use randprog::choices::Choices;
use randprog::generate;
use randprog::known::Known;
use randprog::program::Program;
use randprog::run::{Case, Extent, Finding, TARGETS, Way, ways};
use randprog::shrink::shrink;
use rayon::prelude::*;

#[derive(Parser)]
#[command(about = "Random Tile IR programs, in the interpreter and in the simulator")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the program of a seed.
    Show { seed: u64 },
    /// Make and run the programs of seeds; findings are shrunk and written.
    Run {
        first: u64,
        count: u64,
        /// Where findings go.
        #[arg(long, default_value = "target/randprog")]
        out: PathBuf,
        /// Targets, all six if none is named.
        #[arg(long)]
        target: Vec<String>,
        /// Interleavings of each compiled program.
        #[arg(long, default_value_t = 2)]
        interleavings: u64,
        /// Without TMA, and without roles for it, on all targets that have it, not on one in turn.
        #[arg(long)]
        all: bool,
        /// Programs that shrinking may try.
        #[arg(long, default_value_t = 1500)]
        tries: usize,
        /// Report what the compiler refuses, too, which is counted anyway.
        #[arg(long)]
        refusals: bool,
        /// A file of runs that agreed: those with the same code are left out, others are added.
        #[arg(long)]
        known: Option<PathBuf>,
    },
    /// Run program files.
    File { files: Vec<PathBuf> },
}

fn main() -> ExitCode {
    // Panics of what is tested are findings; their messages are in them.
    std::panic::set_hook(Box::new(|_| ()));
    match Arguments::parse().command {
        Command::Show { seed } => {
            print!("{}", generate::program(&mut Choices::random(seed)));
            ExitCode::SUCCESS
        }
        Command::File { files } => run_files(&files),
        Command::Run {
            first,
            count,
            out,
            target,
            interleavings,
            all,
            tries,
            refusals,
            known,
        } => {
            let known = match known.map(|path| Known::open(&path)).transpose() {
                Ok(known) => known,
                Err(e) => {
                    eprintln!("randprog: the file of known runs: {e}");
                    return ExitCode::FAILURE;
                }
            };
            let targets: Vec<&'static str> = TARGETS
                .iter()
                .copied()
                .filter(|t| target.is_empty() || target.iter().any(|n| n == t))
                .collect();
            run_seeds(
                first..first + count,
                &Search {
                    targets,
                    interleavings,
                    extent: if all { Extent::All } else { Extent::One },
                    tries,
                    out,
                    refusals,
                    known,
                },
            )
        }
    }
}

fn run_files(files: &[PathBuf]) -> ExitCode {
    let mut failed = false;
    for file in files {
        let result = std::fs::read_to_string(file)
            .map_err(|e| e.to_string())
            .and_then(|text| Program::parse(&text))
            .map(|program| {
                Case::new(&program)
                    .map_or_else(Some, |case| case.check(&ways(&TARGETS, 4, 0, Extent::All)))
            });
        match &result {
            Ok(None) => println!("{}: agrees", file.display()),
            Ok(Some(finding)) => println!("{}: {}", file.display(), finding.text()),
            Err(e) => println!("{}: {e}", file.display()),
        }
        failed |= !matches!(result, Ok(None));
    }
    ExitCode::from(u8::from(failed))
}

struct Search {
    targets: Vec<&'static str>,
    interleavings: u64,
    extent: Extent,
    tries: usize,
    out: PathBuf,
    refusals: bool,
    known: Option<Known>,
}

fn run_seeds(seeds: std::ops::Range<u64>, search: &Search) -> ExitCode {
    let (found, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    let done = AtomicU64::new(0);
    let print = Mutex::new(());
    let count = seeds.end - seeds.start;
    seeds.into_par_iter().for_each(|seed| {
        let mut choices = Choices::random(seed);
        let program = generate::program(&mut choices);
        let all = ways(&search.targets, search.interleavings, seed, search.extent);
        let check = |case: Case| case.with_known(search.known.as_ref()).check(&all);
        if let Some(finding) = Case::new(&program).map_or_else(Some, check) {
            let is_refusal = matches!(finding, Finding::Refused(..));
            if is_refusal { &refused } else { &found }.fetch_add(1, Ordering::Relaxed);
            if !is_refusal || search.refusals {
                let text = report(seed, &finding, choices.taken, search);
                let _lock = print.lock();
                println!("{text}");
            }
        }
        let n = done.fetch_add(1, Ordering::Relaxed) + 1;
        if n.is_multiple_of(1000) {
            eprintln!(
                "{n} of {count}: {} found, {} refused",
                found.load(Ordering::Relaxed),
                refused.load(Ordering::Relaxed)
            );
        }
    });
    let (found, refused) = (found.into_inner(), refused.into_inner());
    if let Some(known) = &search.known {
        println!("{} runs are known to agree", known.len());
    }
    println!("{count} programs, {found} found, {refused} refused");
    ExitCode::from(u8::from(found > 0))
}

/// Shrinks a finding, writes it to a file; a line about it.
fn report(seed: u64, finding: &Finding, taken: Vec<u32>, search: &Search) -> String {
    let only: Vec<Way> = match finding {
        Finding::Invalid(_) => Vec::new(),
        Finding::Refused(w, _)
        | Finding::Panic(w, _)
        | Finding::Fault(w, _)
        | Finding::Wrong(w, _) => (0..4)
            .map(|i| Way {
                seed: w.seed + i,
                ..*w
            })
            .collect(),
    };
    let check = |program: &Program| Case::new(program).map_or_else(Some, |case| case.check(&only));
    let (_, small) = shrink(taken, search.tries, &mut |program| {
        check(program).is_some_and(|f| f.like(finding))
    });
    let text = check(&small).unwrap_or_else(|| finding.clone()).text();
    let file = search.out.join(format!("{seed}.mlir"));
    let comment = text.lines().next().unwrap_or_default();
    let written = std::fs::create_dir_all(&search.out)
        .and_then(|()| std::fs::write(&file, format!("// {comment}\n{small}")));
    let place = written.map_or_else(|e| e.to_string(), |()| file.display().to_string());
    format!(
        "seed {seed}: {text}\n  {place}, {} lines",
        small.text.lines().count()
    )
}
