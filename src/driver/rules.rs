//! `tilec rules`: lists rules, and checks them.

use std::path::PathBuf;

use super::Outcome;
use crate::ir::{Diagnostic, Diagnostics, Place};
use crate::rules::files::{self, Group};
use crate::rules::{Examples, Rule, RuleSet, examples, soundness};

/// Lists the rewrite rules, or checks them: examples and soundness.
#[derive(clap::Args)]
pub struct Args {
    /// Rule files to look at instead of the compiled-in ones.
    files: Vec<PathBuf>,
    /// Run examples and soundness checks.
    #[arg(long)]
    check: bool,
    /// Only rules whose name contains this.
    #[arg(long)]
    only: Option<String>,
}

pub fn run(args: &Args) -> Outcome {
    let sets = load(args)?;
    let mut wrong = Vec::new();
    for set in &sets {
        for rule in &set.rules {
            if args
                .only
                .as_ref()
                .is_some_and(|only| !rule.name.contains(only))
            {
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
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics(wrong))
    }
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
    let at = Place::Line {
        file: rule.file.clone(),
        line: rule.pos.line,
        column: rule.pos.column,
    };
    let fail = |message: String| {
        Diagnostic::error(format!("rule {}: {message}", rule.name)).at(at.clone())
    };
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
