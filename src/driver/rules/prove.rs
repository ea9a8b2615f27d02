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
use crate::rules::prove::record::Record;
use crate::rules::prove::solver::{self, Solver};
use crate::rules::prove::table::{self, Row};
use crate::rules::prove::{Class, Effort, Verdict};

/// Proves rules and rows of the selection tables; a wrong one is an error with the values that show it.
pub fn run(args: &Args) -> Outcome {
    let path = solver::find(args.solver.as_deref()).map_err(Diagnostic::error)?;
    let files = files::below(&args.files)?;
    let tables = tables(&files)?;
    let mut subjects = subjects(&files, &tables)?;
    for subject in &mut subjects {
        subject.key.0 = table::file(&subject.key.0).to_owned();
    }
    let proofs = Proofs::new(&tables, path, args)?;
    let mut table = match &args.update {
        Some(file) => Some(recorded(file, &files, &subjects)?),
        None => None,
    };
    let named = |s: &Subject| args.only.as_ref().is_none_or(|o| s.key.1.contains(o));
    let known = |s: &Subject| match table.as_ref().and_then(|t| t.get(&s.key)) {
        Some(row) if args.only.is_none() => proofs.are_as(row, s),
        _ => false,
    };
    let open: Vec<&Subject> = subjects
        .par_iter()
        .filter(|subject| named(subject) && !known(subject))
        .collect();
    let proven: Vec<Result<(Verdict, Row), Diagnostic>> = open
        .par_iter()
        .map(|subject| proofs.prove(subject))
        .collect();
    let mut wrong = Vec::new();
    for (subject, proof) in open.into_iter().zip(proven) {
        match (proof, &mut table) {
            (Ok((_, row)), Some(table)) => {
                table.insert(subject.key.clone(), row);
            }
            (Ok((verdict, _)), None) => output::line(format_args!("{}: {verdict}", subject.key.1))?,
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

/// How subjects are proven.
struct Proofs<'t> {
    prover: Prover<'t>,
    /// The solver's.
    path: PathBuf,
    version: String,
    steps: u64,
}

impl<'t> Proofs<'t> {
    fn new(tables: &'t Tables, path: PathBuf, args: &Args) -> Result<Proofs<'t>, Diagnostic> {
        let effort = Effort {
            exhaust: args.exhaust,
        };
        let solver = Solver::start(&path, args.steps).map_err(Diagnostic::error)?;
        Ok(Proofs {
            prover: Prover::new(tables, effort),
            version: solver.version().to_owned(),
            path,
            steps: args.steps,
        })
    }

    fn prove(&self, subject: &Subject) -> Result<(Verdict, Row), Diagnostic> {
        let mut solver = Solver::start(&self.path, self.steps).map_err(Diagnostic::error)?;
        match self.prover.prove(subject, &mut solver) {
            Ok(verdict) => {
                let row = Row::new(&verdict, solver.record());
                Ok((verdict, row))
            }
            Err(wrong) => Err(super::shown(subjects::diagnostic(subject, &wrong))),
        }
    }

    /// Whether a proof would give this row, as far as that is known without the solver. Samples are not taken again.
    fn are_as(&self, row: &Row, subject: &Subject) -> bool {
        let nothing = Record::default();
        let record = match (&row.record, row.class) {
            (Some(record), _) => record,
            // A rule that is exempt asks nothing; one that is no longer is proven now.
            (None, Class::Exempt) => &nothing,
            (None, class) => return !class.is_proof(),
        };
        let proof = Solver::replay(record, &self.version, self.steps, |solver| {
            self.prover.prove(subject, solver)
        });
        matches!(proof, Some(Ok(verdict)) if Row::new(&verdict, Some(record)) == *row)
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
