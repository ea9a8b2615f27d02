//! Where rules come from: compiled in, or a directory that replaces them at run time.

use std::path::{Path, PathBuf};

pub use super::group::Group;
use crate::egraph::rule::{Examples, RuleSet};
use crate::ir::Diagnostic;

include!(concat!(env!("OUT_DIR"), "/rule_files.rs"));

/// The compiled-in files of a folder: name and text, by name.
pub fn builtin(folder: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let prefix = format!("{folder}/");
    FILES
        .iter()
        .filter(move |(name, _)| name.starts_with(&prefix))
        .copied()
}

/// The rules of a group, from `dir` (a replacement of `rules/`, or of `isel/` for that group) if
/// given, else as compiled in.
pub fn load(group: Group, dir: Option<&Path>, examples: Examples) -> Result<RuleSet, Diagnostic> {
    if let (None, Examples::Dropped) = (dir, examples) {
        return Ok(super::builtin::set(group));
    }
    let mut set = RuleSet::new(examples);
    for folder in group.folders() {
        match dir {
            None => {
                for (name, text) in builtin(folder) {
                    set.add(text, name)?;
                }
            }
            Some(dir) => {
                let folder = folder.strip_prefix("isel/").unwrap_or(folder);
                for (name, text) in read_folder(&dir.join(folder), "rules")? {
                    set.add(&text, &name)?;
                }
            }
        }
    }
    Ok(set)
}

/// The rules of `isel/expand` alone, from `dir` (a replacement of `isel/`) if given.
pub fn expansions(dir: Option<&Path>) -> Result<RuleSet, Diagnostic> {
    let mut set = RuleSet::new(Examples::Dropped);
    match dir {
        None => {
            for (name, text) in builtin("isel/expand") {
                set.add(text, name)?;
            }
        }
        Some(dir) => {
            for (name, text) in read_folder(&dir.join("expand"), "rules")? {
                set.add(&text, &name)?;
            }
        }
    }
    Ok(set)
}

/// The text that a diagnostic's place is in: of a file, or of one that is compiled in.
pub fn text(name: &str) -> Option<String> {
    let builtin = FILES.iter().find(|(file, _)| *file == name);
    let builtin = builtin.map(|(_, text)| (*text).to_owned());
    builtin.or_else(|| std::fs::read_to_string(name).ok())
}

/// These files, and instead of folders the files of rules and tables in them, by path.
pub fn below(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let failed = |e: std::io::Error| Diagnostic::error(format!("{}: {e}", path.display()));
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let extension = path.extension().and_then(|e| e.to_str());
            if path.is_dir() || matches!(extension, Some("rules" | "sel" | "insn")) {
                inside.push(path);
            }
        }
        inside.sort();
        found.extend(below(&inside)?);
    }
    Ok(found)
}

/// The text of a file.
pub fn read_file(path: &Path) -> Result<String, Diagnostic> {
    std::fs::read_to_string(path).map_err(|e| Diagnostic::error(format!("{}: {e}", path.display())))
}

/// The files of a folder with this extension, by path.
pub fn read_folder(folder: &Path, extension: &str) -> Result<Vec<(String, String)>, Diagnostic> {
    let failed = |e: std::io::Error| Diagnostic::error(format!("{}: {e}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == extension) {
            files.push((path.display().to_string(), read_file(&path)?));
        }
    }
    files.sort();
    Ok(files)
}
