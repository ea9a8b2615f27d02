//! Locations and debug info in text: every entry of the module's table gets an alias, written
//! after the operations, as `tileirdisasm -g` does. An entry comes after those it refers to.

use std::fmt::Write;

use super::quote::quoted;
use crate::ir::{DebugAttr, LocId, Module, Name};

/// The names by which operations refer to debug attributes.
pub struct Aliases {
    /// By entry; `None` for unknown locations.
    names: Vec<Option<String>>,
    /// Definitions, one a line.
    pub definitions: String,
}

impl Aliases {
    pub fn new(module: &Module) -> Self {
        let mut writer = AliasWriter {
            module,
            counts: [0; 5],
            opened: vec![false; module.locs.len()],
            plain: Vec::new(),
            aliases: Aliases {
                names: vec![None; module.locs.len()],
                definitions: String::new(),
            },
        };
        for (id, _) in module.locs.iter() {
            writer.define(id);
        }
        writer.aliases
    }

    /// What stands in `loc(…)`.
    pub fn reference(&self, loc: LocId) -> &str {
        let name = self.names.get(loc.0 as usize).and_then(Option::as_deref);
        name.unwrap_or("unknown")
    }
}

const CLASSES: [&str; 5] = [
    "di_file",
    "di_compile_unit",
    "di_subprogram",
    "di_lexical_block",
    "loc",
];
const LOC: usize = 4;

struct AliasWriter<'m> {
    module: &'m Module,
    /// Aliases so far, by class.
    counts: [u32; 5],
    /// Entries that another one has asked for.
    opened: Vec<bool>,
    /// File, line and column of the last scoped location, with its alias.
    plain: Vec<((Name, u32, u32), String)>,
    aliases: Aliases,
}

impl AliasWriter<'_> {
    /// Defines an entry and before it those it refers to. No entry leads to itself, and a chain of
    /// references may be as long as the table.
    fn define(&mut self, id: LocId) {
        let mut open = vec![id];
        while let Some(&id) = open.last() {
            let missing = references(self.module.locs.get(id)).find(|&r| self.is_missing(r));
            match missing.filter(|r| !std::mem::replace(&mut self.opened[r.0 as usize], true)) {
                Some(first) => open.push(first),
                None => {
                    open.pop();
                    self.write(id);
                }
            }
        }
    }

    fn is_missing(&self, id: LocId) -> bool {
        let name = self.aliases.names.get(id.0 as usize);
        name.is_some_and(Option::is_none) && *self.module.locs.get(id) != DebugAttr::Unknown
    }

    fn write(&mut self, id: LocId) {
        if !self.is_missing(id) {
            return;
        }
        let attr = self.module.locs.get(id);
        let (class, text) = match attr {
            DebugAttr::Unknown => return,
            &DebugAttr::Loc {
                scope,
                file,
                line,
                column,
            } => {
                let plain = self.plain(file, line, column, scope == LocId::UNKNOWN);
                match scope {
                    LocId::UNKNOWN => return self.name(id, plain),
                    _ => (
                        LOC,
                        format!("#cuda_tile.di_loc<{plain} in {}>", self.get(scope)),
                    ),
                }
            }
            DebugAttr::CallSite { callee, caller } => (
                LOC,
                format!(
                    "loc(callsite({} at {}))",
                    self.place(*callee),
                    self.place(*caller)
                ),
            ),
            other => self.scope_text(other),
        };
        let alias = self.alias(class, &text);
        self.name(id, alias);
    }

    fn scope_text(&self, attr: &DebugAttr) -> (usize, String) {
        let text = |name: &Name| quoted(self.module.str(*name));
        match attr {
            DebugAttr::File { name, directory } => (
                0,
                format!("#cuda_tile.di_file<{} in {}>", text(name), text(directory)),
            ),
            DebugAttr::CompileUnit { file } => (
                1,
                format!("#cuda_tile.di_compile_unit<file = {}>", self.get(*file)),
            ),
            DebugAttr::Subprogram {
                file,
                line,
                name,
                linkage_name,
                unit,
                scope_line,
                ..
            } => (
                2,
                format!(
                    "#cuda_tile.di_subprogram<file = {}, line = {line}, name = {}, linkageName = {}, compileUnit = {}, scopeLine = {scope_line}>",
                    self.get(*file),
                    text(name),
                    text(linkage_name),
                    self.get(*unit)
                ),
            ),
            DebugAttr::LexicalBlock {
                scope,
                file,
                line,
                column,
            } => (
                3,
                format!(
                    "#cuda_tile.di_lexical_block<scope = {}, file = {}, line = {line}, column = {column}>",
                    self.get(*scope),
                    self.get(*file)
                ),
            ),
            DebugAttr::Unknown | DebugAttr::Loc { .. } | DebugAttr::CallSite { .. } => {
                (LOC, "loc(unknown)".into())
            }
        }
    }

    /// The alias of `"file":line:column`; locations of one place that follow one another share it.
    fn plain(&mut self, file: Name, line: u32, column: u32, own: bool) -> String {
        let key = (file, line, column);
        if let (false, Some(found)) = (own, self.plain.iter().find(|p| p.0 == key)) {
            return found.1.clone();
        }
        let text = format!("loc({}:{line}:{column})", quoted(self.module.str(file)));
        let alias = self.alias(LOC, &text);
        if !own {
            self.plain = vec![(key, alias.clone())];
        }
        alias
    }

    fn alias(&mut self, class: usize, text: &str) -> String {
        let number = self.counts[class];
        self.counts[class] += 1;
        let alias = match number {
            0 => format!("#{}", CLASSES[class]),
            n => format!("#{}{n}", CLASSES[class]),
        };
        // Writing to a string does not fail.
        let _ = writeln!(self.aliases.definitions, "{alias} = {text}");
        alias
    }

    fn name(&mut self, id: LocId, alias: String) {
        if let Some(slot) = self.aliases.names.get_mut(id.0 as usize) {
            *slot = Some(alias);
        }
    }

    fn get(&self, id: LocId) -> &str {
        self.aliases.reference(id)
    }

    /// A location inside a call site.
    fn place(&self, id: LocId) -> String {
        match self.get(id) {
            "unknown" => "loc(unknown)".into(),
            alias => alias.to_owned(),
        }
    }
}

/// The entries that an entry refers to.
fn references(attr: &DebugAttr) -> impl Iterator<Item = LocId> {
    let pair = match *attr {
        DebugAttr::CompileUnit { file } => [Some(file), None],
        DebugAttr::LexicalBlock { scope, file, .. } => [Some(scope), Some(file)],
        DebugAttr::Loc { scope, .. } => [Some(scope), None],
        DebugAttr::Subprogram { file, unit, .. } => [Some(file), Some(unit)],
        DebugAttr::CallSite { callee, caller } => [Some(callee), Some(caller)],
        DebugAttr::Unknown | DebugAttr::File { .. } => [None, None],
    };
    pair.into_iter().flatten()
}
