//! `tilec rules --prove`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Args;
use crate::driver::{Outcome, output};
use crate::ir::{Diagnostic, Diagnostics};
use crate::isel::Tables;
use crate::isel::proof::subjects::{self, Prover, Subject};
use crate::rules::files;
use crate::rules::prove::solver::{self, Solver};
use crate::rules::prove::table::{self, Row};
use crate::rules::prove::{Effort, Verdict};

/// Proves rules and rows of the selection tables; a wrong one is an error with the values that show it.
pub fn run(args: &Args) -> Outcome {
    let path = solver::find(args.solver.as_deref()).map_err(Diagnostic::error)?;
    let files = files::below(&args.files)?;
    let tables = tables(&files)?;
    let mut subjects = subjects(&files, &tables)?;
    for subject in &mut subjects {
        subject.key.0 = table::file(&subject.key.0).to_owned();
    }
    let effort = Effort {
        exhaust: args.exhaust,
    };
    let prover = Prover::new(&tables, effort);
    let mut table = match &args.update {
        Some(file) => Some(recorded(file, &files, &subjects)?),
        None => None,
    };
    let named = |s: &Subject| args.only.as_ref().is_none_or(|o| s.key.1.contains(o));
    let open = |subject: &&Subject| {
        let known = table.as_ref().is_some_and(|t| t.contains_key(&subject.key));
        named(subject) && (!known || args.only.is_some())
    };
    let subjects: Vec<&Subject> = subjects.iter().filter(open).collect();
    let proofs: Vec<Result<Verdict, Diagnostic>> = subjects
        .par_iter()
        .map(|subject| {
            let mut solver = Solver::start(&path, args.steps).map_err(Diagnostic::error)?;
            let proof = prover.prove(subject, &mut solver);
            proof.map_err(|wrong| super::shown(subjects::diagnostic(subject, &wrong)))
        })
        .collect();
    let mut wrong = Vec::new();
    for (subject, proof) in subjects.into_iter().zip(proofs) {
        match (proof, &mut table) {
            (Ok(verdict), Some(table)) => {
                table.insert(subject.key.clone(), Row::from(&verdict));
            }
            (Ok(verdict), None) => output::line(format_args!("{}: {verdict}", subject.key.1))?,
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

/// Whether a file is one of the selection tables.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "sel")
}

/// The selection tables: those that are compiled in, or of these only the spelling, and the files that are named.
fn tables(files: &[PathBuf]) -> Result<Tables, Diagnostic> {
    let files = files.iter().filter(|path| is_table(path));
    let texts: Vec<(String, String)> = files
        .map(|path| Ok((path.display().to_string(), files::read_file(path)?)))
        .collect::<Result<_, Diagnostic>>()?;
    if texts.is_empty() {
        return Tables::load(None);
    }
    let mut tables = Tables::spelling();
    for (name, text) in texts {
        tables.patterns.add(&text, &name)?;
    }
    Ok(tables)
}

/// What is to be proven.
fn subjects(files: &[PathBuf], tables: &Tables) -> Result<Vec<Subject>, Diagnostic> {
    let named: Vec<_> = files
        .iter()
        .filter(|path| !is_table(path))
        .cloned()
        .collect();
    let mut subjects = Vec::new();
    if files.is_empty() || named.len() < files.len() {
        subjects.extend(subjects::rows(tables));
    }
    if files.is_empty() {
        subjects.extend(subjects::units(tables));
        subjects.extend(subjects::llvm());
    }
    if files.is_empty() || !named.is_empty() {
        let rules = super::load(&named)?
            .into_iter()
            .flat_map(|set| set.rules.into_owned());
        subjects.extend(rules.map(Subject::rule));
    }
    Ok(subjects)
}

/// What the table in `file` says of the subjects, and of the files that are not looked at; nothing where there is no
/// file yet.
fn recorded(
    file: &Path,
    named: &[PathBuf],
    subjects: &[Subject],
) -> Result<BTreeMap<table::Key, Row>, Diagnostic> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(Diagnostic::error(format!("{}: {e}", file.display()))),
    };
    let keys: BTreeSet<&table::Key> = subjects.iter().map(|s| &s.key).collect();
    let named: Vec<String> = named.iter().map(|p| p.display().to_string()).collect();
    let looked_at = |of: &str| named.is_empty() || named.iter().any(|path| table::file(path) == of);
    let mut rows = table::read(&text);
    rows.retain(|key, _| keys.contains(key) || !looked_at(&key.0));
    Ok(rows)
}
