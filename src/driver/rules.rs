//! `tilec rules`: lists rules, and checks them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;

use super::Outcome;
use crate::ir::{Diagnostic, Diagnostics, Place};
use crate::isel::passes;
use crate::rules::files::{self, Group};
use crate::rules::prove::solver::{self, Solver};
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
    /// Write the table of what is proven, in Markdown.
    #[arg(long, requires = "prove")]
    table: bool,
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
    let (mut wrong, mut table) = (Vec::new(), BTreeMap::new());
    for set in sets {
        let rules: Vec<&Rule> = set.rules.iter().filter(|r| wanted(args, r)).collect();
        let proofs: Vec<Result<Verdict, Diagnostic>> = rules
            .par_iter()
            .map(|rule| {
                let mut solver = Solver::start(&path, args.steps).map_err(Diagnostic::error)?;
                prove::prove(rule, effort, &mut solver).map_err(|message| failure(rule, message))
            })
            .collect();
        for (rule, proof) in rules.into_iter().zip(proofs) {
            match proof {
                Ok(verdict) if args.table => {
                    table.insert((rule.file.clone(), rule.name.clone()), verdict);
                }
                Ok(verdict) => println!("{}: {verdict}", rule.name),
                Err(error) => wrong.push(error),
            }
        }
    }
    if args.table {
        print!("{}", prove::table::write(&table));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics(wrong))
    }
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
    let covered = soundness::check(rule, soundness::Effort::default()).map_err(&fail)?;
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
