//! The selection tables `isel/select/*.sel` and `isel/llvm/*.sel` as they are read. `docs/selection.md` describes the
//! format.
//!
//! The build script reads those that are compiled in, with this source.

pub mod effect;
pub mod elem;
pub mod row;

use serde::Serialize;

use crate::ir::Diagnostic;
use crate::machine::rows::{self, Items, Mistake, Rows, Text, wrong};
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
    /// The first row that is malformed, where it is.
    pub fn add(&mut self, text: &str, file: &str) -> Result<(), Diagnostic> {
        for (number, row) in rows::lines(text) {
            let row = row.split('#').next().unwrap_or(row).trim_end();
            let line = Line {
                file: file.to_owned().into(),
                number: number as u32,
                text: row.split_whitespace().collect::<Vec<_>>().join(" ").into(),
            };
            self.row(row, line)
                .map_err(|mistake| mistake.shown(text, file))?;
        }
        Ok(())
    }

    /// Adds `spell ATTRIBUTE CASE=TEXT …`, the row of an effect, which has no types, or one of a result.
    fn row<'t>(&mut self, row: &'t str, line: Line) -> Result<(), Mistake<'t>> {
        let (about, rest) = row.split_once(char::is_whitespace).unwrap_or((row, ""));
        let rest = rest.trim_start();
        match (about, rest.strip_prefix(':')) {
            ("spell", _) => {
                let spelling = Spelling::parse(rest)?;
                self.spelling.to_mut().push(spelling);
                Ok(())
            }
            (_, Some(instruction)) => {
                Effect::add(&mut self.effects, about, instruction.trim_start(), line)
            }
            (_, None) => Row::add(&mut self.rows, about, rest, line),
        }
    }
}

impl Spelling {
    fn parse(text: &str) -> Result<Spelling, Mistake<'_>> {
        let (attribute, cases) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let cases = cases.split_whitespace().map(|word| {
            let Some((case, text)) = word.split_once('=') else {
                return wrong(word, format!("'{word}' is no spelling: expected CASE=TEXT"));
            };
            Ok((case.to_owned().into(), text.to_owned().into()))
        });
        Ok(Spelling {
            attribute: attribute.to_owned().into(),
            cases: cases.collect::<Result<_, _>>()?,
        })
    }
}
