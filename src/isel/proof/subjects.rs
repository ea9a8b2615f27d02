//! Everything that is proven, by its place in the table of proofs: rules, and rows of the selection tables.

use std::path::Path;

use super::super::choose::Tables;
use super::super::table::{Line, Patterns};
use super::Rows;
use crate::ir::{Diagnostic, Place};
use crate::rules::prove::solver::Solver;
use crate::rules::prove::table::Key;
use crate::rules::prove::{self, Class, Effort, Verdict};
use crate::rules::{Rule, Wrong};

/// Something to prove.
pub struct Subject {
    /// File and name.
    pub key: Key,
    pub place: Place,
    what: What,
}

enum What {
    Rule(Box<Rule>),
    Row(usize),
    /// A row about an operation without a result.
    Effect,
    /// A row for the writer of LLVM IR.
    Llvm,
    /// A matrix instruction, by its identifier in the table of instructions.
    Unit(String),
}

impl Subject {
    pub fn rule(rule: Rule) -> Subject {
        let place = Place::Line {
            file: rule.file.to_string(),
            line: rule.pos.line,
            column: rule.pos.column,
        };
        Subject {
            key: (rule.file.to_string(), rule.name.to_string()),
            place,
            what: What::Rule(Box::new(rule)),
        }
    }

    /// What diagnostics call it.
    pub fn name(&self) -> String {
        match self.what {
            What::Rule(_) => format!("rule {}", self.key.1),
            _ => format!("row '{}'", self.key.1),
        }
    }
}

/// Every row of the tables, but for those of `skip`.
pub fn rows(tables: &Tables) -> Vec<Subject> {
    let rows = tables.patterns.rows.rows.iter().enumerate();
    let rows = rows.map(|(number, row)| (What::Row(number), &row.line));
    let effects = tables.patterns.effects.rows.iter();
    let effects = effects.map(|row| (What::Effect, &row.line));
    let subject = |(what, line): (What, &Line)| Subject {
        // The columns of the table are separated by bars.
        key: (file_name(&line.file), line.text.replace('|', "/")),
        place: Place::Line {
            file: line.file.to_string(),
            line: line.number,
            column: 1,
        },
        what,
    };
    rows.chain(effects).map(subject).collect()
}

/// Every row of `isel/llvm`.
pub fn llvm() -> Vec<Subject> {
    let patterns = Patterns::llvm();
    let subject = |line: &Line| Subject {
        key: (line.file.to_string(), line.text.replace('|', "/")),
        place: Place::Nowhere,
        what: What::Llvm,
    };
    patterns
        .rows
        .rows
        .iter()
        .map(|row| subject(&row.line))
        .collect()
}

/// Every matrix instruction that loops are lowered to.
pub fn units(tables: &Tables) -> Vec<Subject> {
    let subject = |name: String| Subject {
        key: ("isel/ptx.insn".to_owned(), name.clone()),
        place: Place::Nowhere,
        what: What::Unit(name),
    };
    super::units::names(tables)
        .into_iter()
        .map(subject)
        .collect()
}

/// A file of the tables as the table of proofs calls it.
fn file_name(file: &str) -> String {
    let name = Path::new(file).file_name().and_then(|name| name.to_str());
    format!("isel/select/{}", name.unwrap_or(file))
}

/// Proves subjects.
pub struct Prover<'t> {
    tables: &'t Tables,
    rows: Rows<'t>,
    pub effort: Effort,
}

impl<'t> Prover<'t> {
    pub fn new(tables: &'t Tables, effort: Effort) -> Prover<'t> {
        Prover {
            tables,
            rows: Rows::new(tables),
            effort,
        }
    }

    /// Proves one, as far as that goes. The error says for which values it is wrong.
    pub fn prove(&self, subject: &Subject, solver: &mut Solver) -> Result<Verdict, Wrong> {
        match &subject.what {
            What::Rule(rule) => match super::prove_matmul(rule, self.tables) {
                Some(verdict) => verdict,
                None => prove::prove(rule, self.effort, solver),
            },
            What::Row(row) => self.rows.prove(*row, solver),
            What::Llvm => Ok(Verdict {
                class: Class::Exempt,
                instances: 0,
                proven: 0,
                why: "LLVM compiles it: results of both selectors are compared (tools/bench/selectors)".into(),
            }),
            What::Unit(name) => super::units::prove(name, self.tables),
            What::Effect => Ok(Verdict {
                class: Class::Exempt,
                instances: 0,
                proven: 0,
                why: "no result: what it does to memory or to other threads is simulated".into(),
            }),
        }
    }
}

/// What is wrong with a subject, at its place.
pub fn diagnostic(subject: &Subject, wrong: &Wrong) -> Diagnostic {
    Diagnostic::error(format!("{}: {wrong}", subject.name())).at(subject.place.clone())
}
