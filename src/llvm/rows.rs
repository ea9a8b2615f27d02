//! The rows of `isel/llvm/*.sel`.

use std::path::Path;

use crate::ir::Diagnostic;
use crate::isel::pattern::Patterns;
use crate::machine::rows::Read;
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
        let mut patterns = Patterns::default();
        let own = dir.map(|dir| (dir.join("llvm"), dir.join("select/spelling.sel")));
        match own {
            Some((folder, spelling)) if folder.is_dir() => {
                patterns.add(
                    files::read_file(&spelling)?,
                    &spelling.display().to_string(),
                    Read::Now,
                )?;
                for (name, text) in files::read_folder(&folder, "sel")? {
                    patterns.add(text, &name, Read::Now)?;
                }
            }
            _ => {
                let spelling =
                    files::builtin("isel/select").filter(|(n, _)| n.ends_with("spelling.sel"));
                for (name, text) in spelling.chain(files::builtin("isel/llvm")) {
                    patterns.add(text, name, Read::Late)?;
                }
            }
        }
        Ok(Rows(patterns))
    }
}
