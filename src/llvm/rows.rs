//! The rows of `isel/llvm/*.sel`.

use std::path::Path;

use crate::ir::Diagnostic;
use crate::isel::Patterns;
use crate::rules::files;

/// What computes operations of nvvm in LLVM's language.
#[derive(Debug)]
pub struct Rows(pub(super) Patterns);

impl Rows {
    /// The rows that are compiled in, or those of `dir` (a replacement of `isel/`) if it has any.
    ///
    /// # Errors
    /// What is wrong with a row.
    pub fn load(dir: Option<&Path>) -> Result<Rows, Diagnostic> {
        let Some(dir) = dir.filter(|dir| dir.join("llvm").is_dir()) else {
            return Ok(Rows(Patterns::llvm()));
        };
        let spelling = dir.join("select/spelling.sel");
        let mut patterns = Patterns::default();
        patterns.add(
            &files::read_file(&spelling)?,
            &spelling.display().to_string(),
        )?;
        for (name, text) in files::read_folder(&dir.join("llvm"), "sel")? {
            patterns.add(&text, &name)?;
        }
        Ok(Rows(patterns))
    }
}
