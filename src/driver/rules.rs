//! `tilec rules`: lists rules, and checks them.

mod prove;

use std::path::PathBuf;

use super::{Outcome, output};
use crate::ir::{Diagnostic, Diagnostics, Place};
use crate::isel::{Patterns, passes};
use crate::machine::table::Table;
use crate::rules::files::{self, Group};
use crate::rules::prove::STEPS;
use crate::rules::{Examples, Rule, RuleSet, examples, soundness};

/// Lists the rewrite rules, or checks them: examples and soundness.
#[derive(clap::Args)]
pub struct Args {
    /// Rule files to look at instead of the compiled-in ones, or folders of them; with `--prove` also selection tables
    /// (`.sel`), with `--check` these and tables of instructions (`.insn`).
    files: Vec<PathBuf>,
    /// Run examples and soundness checks.
    #[arg(long)]
    check: bool,
    /// Prove the rules and the rows of the selection tables with an SMT solver, as far as it can.
    #[arg(long, conflicts_with = "check")]
    prove: bool,
    /// Bring a table of what is proven (Markdown) up to date: rules that it lacks, those of which a proof would now ask
    /// the solver something else or another version of it, and those that `--only` names are proven; those that are gone
    /// are dropped. Where files are named, the table's rules of other files stay.
    #[arg(long, value_name = "FILE", requires = "prove")]
    update: Option<PathBuf>,
    /// The solver: Z3, by default the `z3` in PATH or in `target/toolkit`.
    #[arg(long, requires = "prove")]
    solver: Option<PathBuf>,
    /// Steps that the solver may take for one query, in its own unit.
    #[arg(long, default_value_t = STEPS, requires = "prove")]
    steps: u64,
    /// Where the solver gives up, try all operands if they have at most so many bits together.
    #[arg(long, value_name = "BITS", default_value_t = 16, requires = "prove")]
    exhaust: u32,
    /// Only rules whose name contains this.
    #[arg(long)]
    only: Option<String>,
}

pub fn run(args: &Args) -> Outcome {
    if args.prove {
        return prove::run(args);
    }
    let mut wrong = Vec::new();
    let sets = match (args.check, args.files.as_slice()) {
        (true, [_, ..]) => read(&files::below(&args.files)?, &mut wrong),
        (_, files) => load(&files::below(files)?)?,
    };
    for set in &sets {
        for rule in set.rules.iter() {
            if !wanted(args, rule) {
                continue;
            }
            match args.check {
                true => match check(set, rule) {
                    Ok(found) => output::line(format_args!("{}: {found}", rule.name))?,
                    Err(error) => wrong.push(error),
                },
                false => output::line(format_args!(
                    "{}:{}: {}  {}",
                    rule.file, rule.pos.line, rule.name, rule.doc
                ))?,
            }
        }
    }
    if !args.check && args.files.is_empty() {
        let passes =
            passes::all().filter(|p| args.only.as_ref().is_none_or(|only| p.name.contains(only)));
        for pass in passes {
            output::line(format_args!("pass: {}  {}", pass.name, pass.doc))?;
        }
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
    let error = Diagnostic::error(format!("rule {}: {message}", rule.name));
    let error = error.at(Place::Line {
        file: rule.file.to_string(),
        line: rule.pos.line,
        column: rule.pos.column,
    });
    shown(error)
}

/// Shows the line that it is about.
fn shown(error: Diagnostic) -> Diagnostic {
    let text = match &error.place {
        Place::Line { file, .. } => files::text(file),
        _ => None,
    };
    match text {
        Some(text) => error.shown_in(&text),
        None => error,
    }
}

/// The rules of these files, or those that are compiled in where there are none.
fn load(paths: &[PathBuf]) -> Result<Vec<RuleSet>, Diagnostic> {
    if paths.is_empty() {
        return Group::ALL
            .into_iter()
            .map(|group| files::load(group, None, Examples::Kept))
            .collect();
    }
    paths
        .iter()
        .map(|path| RuleSet::parse(&files::read_file(path)?, &path.display().to_string()))
        .collect()
}

/// The rules of these files. What is wrong in one does not keep the others from being read.
fn read(paths: &[PathBuf], wrong: &mut Vec<Diagnostic>) -> Vec<RuleSet> {
    let read = paths.iter().map(|path| {
        let (text, name) = (files::read_file(path)?, path.display().to_string());
        let rows = match path.extension().and_then(|e| e.to_str()) {
            Some("insn") => Table::parse(&text, &name)?.len(),
            Some("sel") => {
                let mut patterns = Patterns::default();
                patterns.add(&text, &name)?;
                patterns.len()
            }
            _ => return Ok(Some(RuleSet::parse(&text, &name)?)),
        };
        output::line(format_args!("{name}: {rows} rows"))?;
        Ok(None)
    });
    let read = read.filter_map(|set| {
        set.unwrap_or_else(|errors: Diagnostics| {
            wrong.extend(errors.0);
            None
        })
    });
    read.collect()
}

/// What was found of a rule that is right.
fn check(set: &RuleSet, rule: &Rule) -> Result<String, Diagnostic> {
    let fail = |message: String| failure(rule, message);
    let count = examples::run(set, rule).map_err(&fail)?;
    if let Some(reason) = soundness::exempt(&rule.check) {
        return Ok(format!("{count} examples; not checked: {reason}"));
    }
    let covered = soundness::check(rule, soundness::Effort::default())
        .map_err(|wrong| fail(wrong.to_string()))?;
    let worst = match covered.worst {
        0 => String::new(),
        w => format!(", at most {} ulp off", w as f64 / 1000.0),
    };
    Ok(format!(
        "{count} examples; {} trials ({} exhaustive), {} samples{worst}",
        covered.trials, covered.exhaustive, covered.samples
    ))
}
