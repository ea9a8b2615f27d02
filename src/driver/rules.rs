//! `tilec rules`: lists rules, and checks them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{Outcome, output};
use crate::ir::{Diagnostic, Diagnostics, Place};
use crate::isel::passes;
use crate::rules::files::{self, Group};
use crate::rules::prove::solver::{self, Solver};
use crate::rules::prove::table::{self, Row};
use crate::rules::prove::{self, Verdict};
use crate::rules::{Examples, Rule, RuleSet, examples, soundness};

/// Lists the rewrite rules, or checks them: examples and soundness.
#[derive(clap::Args)]
pub struct Args {
    /// Rule files to look at instead of the compiled-in ones.
    files: Vec<PathBuf>,
    /// Run examples and soundness checks.
    #[arg(long)]
    check: bool,
    /// Prove the rules with an SMT solver, as far as it can.
    #[arg(long, conflicts_with = "check")]
    prove: bool,
    /// Bring a table of what is proven (Markdown) up to date: rules that it lacks, and those that `--only` names, are
    /// proven; those that are gone are dropped.
    #[arg(long, value_name = "FILE", requires = "prove")]
    update: Option<PathBuf>,
    /// The solver: Z3, by default the `z3` in PATH or in `target/toolkit`.
    #[arg(long, requires = "prove")]
    solver: Option<PathBuf>,
    /// Steps that the solver may take for one query, in its own unit.
    #[arg(long, default_value_t = prove::STEPS, requires = "prove")]
    steps: u64,
    /// Where the solver gives up, try all operands if they have at most so many bits together.
    #[arg(long, value_name = "BITS", default_value_t = 16, requires = "prove")]
    exhaust: u32,
    /// Only rules whose name contains this.
    #[arg(long)]
    only: Option<String>,
}

pub fn run(args: &Args) -> Outcome {
    let sets = load(args)?;
    if args.prove {
        return prove_all(args, &sets);
    }
    let mut wrong = Vec::new();
    for set in &sets {
        for rule in &set.rules {
            if !wanted(args, rule) {
                continue;
            }
            match args.check {
                true => wrong.extend(check(set, rule).err()),
                false => println!(
                    "{}:{}: {}  {}",
                    rule.file, rule.pos.line, rule.name, rule.doc
                ),
            }
        }
    }
    if !args.check && args.files.is_empty() {
        let passes =
            passes::all().filter(|p| args.only.as_ref().is_none_or(|only| p.name.contains(only)));
        passes.for_each(|p| println!("pass: {}  {}", p.name, p.doc));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics(wrong))
    }
}

/// Proves the rules; a wrong one is an error with the values that show it.
fn prove_all(args: &Args, sets: &[RuleSet]) -> Outcome {
    let path = solver::find(args.solver.as_deref()).map_err(Diagnostic::error)?;
    let effort = prove::Effort {
        exhaust: args.exhaust,
    };
    let mut table = match &args.update {
        Some(file) => Some(recorded(file, sets)?),
        None => None,
    };
    let open = |rule: &&Rule| {
        let known = table.as_ref().is_some_and(|t| t.contains_key(&key(rule)));
        wanted(args, rule) && (!known || args.only.is_some())
    };
    let rules: Vec<&Rule> = sets
        .iter()
        .flat_map(|set| &set.rules)
        .filter(open)
        .collect();
    let proofs: Vec<Result<Verdict, Diagnostic>> = rules
        .par_iter()
        .map(|rule| {
            let mut solver = Solver::start(&path, args.steps).map_err(Diagnostic::error)?;
            prove::prove(rule, effort, &mut solver)
                .map_err(|wrong| failure(rule, wrong.to_string()))
        })
        .collect();
    let mut wrong = Vec::new();
    for (rule, proof) in rules.into_iter().zip(proofs) {
        match (proof, &mut table) {
            (Ok(verdict), Some(table)) => {
                table.insert(key(rule), Row::from(&verdict));
            }
            (Ok(verdict), None) => println!("{}: {verdict}", rule.name),
            (Err(error), _) => wrong.push(error),
        }
    }
    if !wrong.is_empty() {
        return Err(Diagnostics(wrong));
    }
    match (&args.update, table) {
        (Some(file), Some(table)) => output::write(file, table::write(&table).as_bytes()),
        _ => Ok(()),
    }
}

fn key(rule: &Rule) -> table::Key {
    (rule.file.clone(), rule.name.clone())
}

/// What the table in `file` says of the rules; nothing where there is no file yet.
fn recorded(file: &Path, sets: &[RuleSet]) -> Result<BTreeMap<table::Key, Row>, Diagnostic> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(Diagnostic::error(format!("{}: {e}", file.display()))),
    };
    let keys: BTreeSet<table::Key> = sets.iter().flat_map(|set| &set.rules).map(key).collect();
    let mut rows = table::read(&text);
    rows.retain(|key, _| keys.contains(key));
    Ok(rows)
}

fn wanted(args: &Args, rule: &Rule) -> bool {
    let only = args.only.as_ref();
    only.is_none_or(|only| rule.name.contains(only))
}

fn failure(rule: &Rule, message: String) -> Diagnostic {
    Diagnostic::error(format!("rule {}: {message}", rule.name)).at(Place::Line {
        file: rule.file.clone(),
        line: rule.pos.line,
        column: rule.pos.column,
    })
}

fn load(args: &Args) -> Result<Vec<RuleSet>, Diagnostic> {
    if args.files.is_empty() {
        return Group::ALL
            .into_iter()
            .map(|group| files::load(group, None, Examples::Kept))
            .collect();
    }
    args.files
        .iter()
        .map(|path| {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path)
                .map_err(|e| Diagnostic::error(format!("{name}: {e}")))?;
            RuleSet::parse(&text, &name)
        })
        .collect()
}

fn check(set: &RuleSet, rule: &Rule) -> Result<(), Diagnostic> {
    let fail = |message: String| failure(rule, message);
    let count = examples::run(set, rule).map_err(&fail)?;
    if let Some(reason) = soundness::exempt(&rule.check) {
        println!("{}: {count} examples; not checked: {reason}", rule.name);
        return Ok(());
    }
    let covered = soundness::check(rule, soundness::Effort::default())
        .map_err(|wrong| fail(wrong.to_string()))?;
    let worst = match covered.worst {
        0 => String::new(),
        w => format!(", at most {} ulp off", w as f64 / 1000.0),
    };
    println!(
        "{}: {count} examples; {} trials ({} exhaustive), {} samples{worst}",
        rule.name, covered.trials, covered.exhaustive, covered.samples
    );
    Ok(())
}
