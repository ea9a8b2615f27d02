//! The one diagnostics type: what is wrong, where, and what to know about it.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
    Note,
}

/// Where a diagnostic points.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Nowhere,
    /// Byte offset into a binary input.
    Offset(usize),
    /// 1-based line and column of a text input or of the source the module was compiled from.
    Line {
        file: String,
        line: u32,
        column: u32,
    },
}

impl Place {
    /// `FILE:LINE`, as a failed assertion says where it stands.
    pub fn file_and_line(&self) -> String {
        match self {
            Place::Line { file, line, .. } => format!("{file}:{line}"),
            _ => "(unknown):0".into(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Nowhere => f.write_str("an unknown place"),
            Place::Offset(at) => write!(f, "offset {at}"),
            Place::Line { file, line, column } => write!(f, "{file}:{line}:{column}"),
        }
    }
}

/// One diagnostic.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    pub place: Place,
    /// The operation it is about, as `dialect.name`.
    pub operation: Option<String>,
    pub notes: Vec<String>,
}

impl Diagnostic {
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            place: Place::Nowhere,
            operation: None,
            notes: Vec::new(),
        }
    }

    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    pub fn on(mut self, operation: impl Into<String>) -> Self {
        self.operation = Some(operation.into());
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// An error at a byte offset of a text, with the line and a caret under it.
    pub fn error_in(text: &str, file: &str, at: usize, message: impl Into<String>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        let place = Place::Line {
            file: file.to_owned(),
            line: before.matches('\n').count() as u32 + 1,
            column: before[start..].chars().count() as u32 + 1,
        };
        Self::error(message).at(place).shown_in(text)
    }

    /// Shows the line of `text` that it points at, with a caret under the column.
    pub fn shown_in(self, text: &str) -> Self {
        const WIDTH: usize = 200;
        let Place::Line { line, column, .. } = self.place else {
            return self;
        };
        let written = text.lines().nth((line as usize).saturating_sub(1));
        let shown: String = written.unwrap_or("").chars().take(WIDTH).collect();
        let before = (column as usize).saturating_sub(1).min(WIDTH);
        // As far to the right as the text of a note begins.
        self.note(format!("{shown}\n        {}^", " ".repeat(before)))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        match &self.place {
            Place::Nowhere => write!(f, "{severity}: ")?,
            place @ Place::Offset(_) => write!(f, "{severity} at {place}: ")?,
            place @ Place::Line { .. } => write!(f, "{place}: {severity}: ")?,
        }
        if let Some(op) = &self.operation {
            write!(f, "'{op}' op ")?;
        }
        f.write_str(&self.message)?;
        self.notes
            .iter()
            .try_for_each(|note| write!(f, "\n  note: {note}"))
    }
}

impl std::error::Error for Diagnostic {}

/// One or more diagnostics, the error type of whole stages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Self {
        Self(vec![d])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            d.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
