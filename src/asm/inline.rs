//! Debug info within one line, as messages show it: nothing has an alias.

use super::quote::quoted;
use crate::ir::{DebugAttr, LocId, Module, Name};

/// What has become so long is cut: entries may refer to one another in long chains, and the same
/// one may stand in very many places.
const LONGEST: usize = 4096;
const DEEPEST: u32 = 32;

/// An entry of the module's table and all that it refers to: `#cuda_tile.di_file<"a.py" in "/">`.
pub fn debug_info(module: &Module, id: LocId) -> String {
    let mut inline = Inline {
        module,
        depth: 0,
        text: String::new(),
    };
    inline.whole(id);
    inline.text
}

struct Inline<'m> {
    module: &'m Module,
    depth: u32,
    text: String,
}

impl Inline<'_> {
    /// An entry with the name of its class.
    fn whole(&mut self, id: LocId) {
        let class = match self.module.locs.get(id) {
            DebugAttr::Unknown => return self.add("loc(unknown)"),
            DebugAttr::Loc { scope, .. } if *scope == LocId::UNKNOWN => "",
            DebugAttr::CallSite { .. } => "",
            DebugAttr::Loc { .. } => "#cuda_tile.di_loc",
            DebugAttr::CompileUnit { .. } => "#cuda_tile.di_compile_unit",
            DebugAttr::File { .. } => "#cuda_tile.di_file",
            DebugAttr::LexicalBlock { .. } => "#cuda_tile.di_lexical_block",
            DebugAttr::Subprogram { .. } => "#cuda_tile.di_subprogram",
        };
        self.add(class);
        self.part(id);
    }

    /// An entry whose class is known from where it stands.
    fn part(&mut self, id: LocId) {
        if self.depth >= DEEPEST || self.text.len() >= LONGEST {
            return self.add("…");
        }
        self.depth += 1;
        self.fields(self.module.locs.get(id).clone());
        self.depth -= 1;
    }

    fn fields(&mut self, attr: DebugAttr) {
        match attr {
            DebugAttr::Unknown => self.add("loc(unknown)"),
            DebugAttr::CompileUnit { file } => {
                self.add("<file = ");
                self.part(file);
                self.add(">");
            }
            DebugAttr::File { name, directory } => {
                let text = format!("<{} in {}>", self.name(name), self.name(directory));
                self.add(&text);
            }
            DebugAttr::LexicalBlock {
                scope,
                file,
                line,
                column,
            } => {
                self.add("<scope = ");
                self.whole(scope);
                self.add(", file = ");
                self.part(file);
                self.add(&format!(", line = {line}, column = {column}>"));
            }
            DebugAttr::Loc {
                scope,
                file,
                line,
                column,
            } => {
                let place = format!("loc({}:{line}:{column})", self.name(file));
                if scope == LocId::UNKNOWN {
                    return self.add(&place);
                }
                self.add(&format!("<{place} in "));
                self.whole(scope);
                self.add(">");
            }
            DebugAttr::Subprogram {
                file,
                line,
                name,
                linkage_name,
                unit,
                scope_line,
                ..
            } => {
                self.add("<file = ");
                self.part(file);
                let (name, linkage) = (self.name(name), self.name(linkage_name));
                self.add(&format!(
                    ", line = {line}, name = {name}, linkageName = {linkage}, compileUnit = "
                ));
                self.part(unit);
                self.add(&format!(", scopeLine = {scope_line}>"));
            }
            DebugAttr::CallSite { callee, caller } => {
                self.add("loc(callsite(");
                self.whole(callee);
                self.add(" at ");
                self.whole(caller);
                self.add("))");
            }
        }
    }

    fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn name(&self, name: Name) -> String {
        quoted(self.module.str(name))
    }
}
