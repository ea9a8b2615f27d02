//! Diagnostics on standard error.

use std::io::Write;

use crate::ir::Diagnostics;

#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

pub fn print(diagnostics: &Diagnostics, format: Format) {
    let mut out = std::io::stderr().lock();
    for d in &diagnostics.0 {
        let text = match format {
            Format::Text => d.to_string(),
            Format::Json => serde_json::to_string(d).unwrap_or_else(|_| d.to_string()),
        };
        // Nothing can be reported when standard error is closed.
        let _ = writeln!(out, "{text}");
    }
}
