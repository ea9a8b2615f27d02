//! The selection tables `isel/select/*.sel` and `isel/llvm/*.sel` as they are read. `docs/selection.md` describes the
//! format.
//!
//! The build script reads those that are compiled in, with this source.

pub mod effect;
pub mod elem;
pub mod row;

use serde::Serialize;

use crate::ir::{Diagnostic, Place};
use crate::machine::rows::{self, Items, Rows, Text};
use effect::Effect;
use row::Row;

/// All rows, by operation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Patterns {
    pub rows: Rows<Row>,
    /// Operations that are one instruction without results.
    pub effects: Rows<Effect>,
    pub spelling: Items<Spelling>,
}

/// Where a row stands, and its text, single-spaced.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    pub file: Text,
    pub number: u32,
    pub text: Text,
}

/// Cases of an attribute, and how they are spelled.
#[derive(Clone, Debug, Serialize)]
pub struct Spelling {
    pub attribute: Text,
    pub cases: Items<(Text, Text)>,
}

impl Patterns {
    /// Adds the rows of a file.
    ///
    /// # Errors
    /// The first row that is malformed.
    pub fn add(&mut self, text: &str, file: &str) -> Result<(), Diagnostic> {
        for (number, line) in rows::lines(text) {
            let line = line.split('#').next().unwrap_or(line);
            let line = Line {
                file: file.to_owned().into(),
                number: number as u32,
                text: line.split_whitespace().collect::<Vec<_>>().join(" ").into(),
            };
            let place = Place::Line {
                file: file.to_owned(),
                line: line.number,
                column: 1,
            };
            self.row(line)
                .map_err(|what| Diagnostic::error(what).at(place))?;
        }
        Ok(())
    }

    /// Adds `spell ATTRIBUTE CASE=TEXT …`, the row of an effect, which has no types, or one of a result.
    fn row(&mut self, line: Line) -> Result<(), String> {
        if let Some(rest) = line.text.strip_prefix("spell ") {
            let spelling = Spelling::parse(rest)?;
            self.spelling.to_mut().push(spelling);
            return Ok(());
        }
        let about = line.text.split_once(' ');
        match about.is_some_and(|(_, rest)| rest.starts_with(": ")) {
            true => Effect::add(&mut self.effects, line),
            false => Row::add(&mut self.rows, line),
        }
    }
}

impl Spelling {
    fn parse(text: &str) -> Result<Spelling, String> {
        let (attribute, cases) = text.split_once(' ').unwrap_or((text, ""));
        let cases = cases.split_whitespace().map(|word| {
            let (case, text) = word.split_once('=').ok_or("expected CASE=TEXT")?;
            Ok((case.to_owned().into(), text.to_owned().into()))
        });
        Ok(Spelling {
            attribute: attribute.to_owned().into(),
            cases: cases.collect::<Result<_, String>>()?,
        })
    }
}
