//! Where rules come from: compiled in, or a directory that replaces them at run time.

use std::path::Path;

use super::ast::RuleSet;
use crate::dialect::OpDef;
use crate::ir::Diagnostic;

/// A group of rule files that run together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// Simplification of `cuda_tile`.
    Tile,
    /// Atom selection.
    TileAaToTileAs,
    /// Elementwise `cuda_tile` on register arrays to `nvvm`.
    TileAsToNvvm,
    /// Instruction selection's peepholes.
    Isel,
}

impl Group {
    pub const ALL: [Group; 4] = [
        Group::Tile,
        Group::TileAaToTileAs,
        Group::TileAsToNvvm,
        Group::Isel,
    ];

    /// Its folder in `rules/`, or from the repository's root on.
    pub const fn folder(self) -> &'static str {
        match self {
            Group::Tile => "tile",
            Group::TileAaToTileAs => "tileaa_to_tileas",
            Group::TileAsToNvvm => "tileas_to_nvvm",
            Group::Isel => "isel/peephole",
        }
    }
}

include!(concat!(env!("OUT_DIR"), "/rule_files.rs"));

/// The compiled-in files of a folder: name and text, by name.
pub fn builtin(folder: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let prefix = format!("{folder}/");
    FILES
        .iter()
        .filter(move |(name, _)| name.starts_with(&prefix))
        .copied()
}

/// The rules of a group, from `dir` (a replacement of `rules/`) if given, else as compiled in.
pub fn load(
    group: Group,
    dir: Option<&Path>,
    machine: &'static [OpDef],
) -> Result<RuleSet, Diagnostic> {
    let mut set = RuleSet::new(machine);
    match dir {
        None => {
            for (name, text) in builtin(group.folder()) {
                set.add(text, name)?;
            }
        }
        Some(dir) => {
            for (name, text) in read_folder(&dir.join(group.folder()))? {
                set.add(&text, &name)?;
            }
        }
    }
    Ok(set)
}

/// The `.rules` files under a folder, by path.
pub fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, Diagnostic> {
    let failed = |e: std::io::Error| Diagnostic::error(format!("{}: {e}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "rules") {
            let text = std::fs::read_to_string(&path)
                .map_err(|e| Diagnostic::error(format!("{}: {e}", path.display())))?;
            files.push((path.display().to_string(), text));
        }
    }
    files.sort();
    Ok(files)
}
