//! Locations and debug info in text: every entry of the module's table gets an alias, written
//! after the operations. An entry comes after those it refers to, and the table's order is kept, so that the text reads
//! back as the same table; `used` has the order of `tileirdisasm`.

use std::fmt::Write;

use super::quote::quoted;
use crate::ir::{DebugAttr, LocId, Module, Name};

mod used;

/// The names by which operations refer to debug attributes.
pub struct Aliases {
    /// By entry; `None` for what has no alias.
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
        let plain = match *attr {
            DebugAttr::Loc {
                scope,
                file,
                line,
                column,
            } => {
                let plain = self.plain(file, line, column, scope == LocId::UNKNOWN);
                if scope == LocId::UNKNOWN {
                    return self.name(id, plain);
                }
                plain
            }
            _ => String::new(),
        };
        let text = definition(self.module, attr, &plain, |id| self.get(id));
        let alias = self.alias(class(attr), &text);
        self.name(id, alias);
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
        let alias = numbered(class, self.counts[class]);
        self.counts[class] += 1;
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
}

/// The index in [`CLASSES`].
fn class(attr: &DebugAttr) -> usize {
    match attr {
        DebugAttr::File { .. } => 0,
        DebugAttr::CompileUnit { .. } => 1,
        DebugAttr::Subprogram { .. } => 2,
        DebugAttr::LexicalBlock { .. } => 3,
        DebugAttr::Unknown | DebugAttr::Loc { .. } | DebugAttr::CallSite { .. } => LOC,
    }
}

/// What the alias of an entry stands for, with those of the entries that it refers to; `plain` is the alias of the place
/// of a location that has a scope.
fn definition<'a>(
    module: &Module,
    attr: &DebugAttr,
    plain: &str,
    get: impl Fn(LocId) -> &'a str,
) -> String {
    let text = |name: &Name| quoted(module.str(*name));
    let place = |id: LocId| match get(id) {
        "unknown" => "loc(unknown)",
        alias => alias,
    };
    match attr {
        DebugAttr::Unknown => "loc(unknown)".into(),
        DebugAttr::File { name, directory } => {
            format!("#cuda_tile.di_file<{} in {}>", text(name), text(directory))
        }
        DebugAttr::CompileUnit { file } => {
            format!("#cuda_tile.di_compile_unit<file = {}>", get(*file))
        }
        DebugAttr::Subprogram {
            file,
            line,
            name,
            linkage_name,
            unit,
            scope_line,
            ..
        } => format!(
            "#cuda_tile.di_subprogram<file = {}, line = {line}, name = {}, linkageName = {}, compileUnit = {}, scopeLine = {scope_line}>",
            get(*file),
            text(name),
            text(linkage_name),
            get(*unit)
        ),
        DebugAttr::LexicalBlock {
            scope,
            file,
            line,
            column,
        } => format!(
            "#cuda_tile.di_lexical_block<scope = {}, file = {}, line = {line}, column = {column}>",
            get(*scope),
            get(*file)
        ),
        &DebugAttr::Loc {
            scope: LocId::UNKNOWN,
            file,
            line,
            column,
        } => format!("loc({}:{line}:{column})", text(&file)),
        DebugAttr::Loc { scope, .. } => format!("#cuda_tile.di_loc<{plain} in {}>", get(*scope)),
        DebugAttr::CallSite { callee, caller } => {
            format!("loc(callsite({} at {}))", place(*callee), place(*caller))
        }
    }
}

/// The name of the `number`-th alias of a class.
fn numbered(class: usize, number: u32) -> String {
    match number {
        0 => format!("#{}", CLASSES[class]),
        n => format!("#{}{n}", CLASSES[class]),
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
