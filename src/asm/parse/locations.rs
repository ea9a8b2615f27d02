//! `loc(…)`, debug-info attributes, and the aliases of both. An operation may use an alias that is
//! defined after it; definitions use those before them.

use super::cursor::Result;
use super::debug::Debug;
use super::state::Parser;
use crate::ir::{DebugAttr, LocId, Name, OpId};

impl<'t> Parser<'t> {
    /// The location after an operation, if there is one, for it and its implicit terminators.
    pub fn location_of(&mut self, op: OpId, mark: usize) -> Result<()> {
        let implicit = self.locations.implicit.split_off(mark);
        let ops = std::iter::once(op).chain(implicit);
        if !self.c.eat("loc") {
            return Ok(());
        }
        self.c.expect("(")?;
        let at = self.c.offset();
        if let Some(alias) = self.undefined_alias() {
            self.locations.pending.extend(ops.map(|op| (op, alias, at)));
        } else {
            let debug = self.place()?;
            let loc = self.loc_id(debug);
            ops.for_each(|op| self.module.op_mut(op).loc = loc);
        }
        self.c.expect(")")
    }

    /// A location that nothing here has: of a module or of a block's argument.
    pub fn skip_location(&mut self) -> Result<()> {
        if self.c.eat("loc") {
            self.c.skip_balanced()?;
        }
        Ok(())
    }

    /// `#name = …` lines, maybe none.
    pub fn aliases(&mut self) -> Result<()> {
        while self.c.peek("#") {
            let at = self.c.offset();
            self.c.expect("#")?;
            let name = self.c.word("an alias")?;
            self.c.expect("=")?;
            if let Some(number) = name.strip_prefix("layout").and_then(|n| n.parse().ok()) {
                self.layout_definition(number, at)?;
                continue;
            }
            let debug = match self.c.eat("loc") {
                true => {
                    self.c.expect("(")?;
                    let debug = self.place()?;
                    self.c.expect(")")?;
                    debug
                }
                false => self.debug_attr()?,
            };
            if self.locations.aliases.insert(name, debug).is_some() {
                let message = format!("redefinition of attribute alias id '{name}'");
                return Err(self.c.error_at(at, message));
            }
        }
        Ok(())
    }

    /// Gives operations the locations that were defined after them.
    pub fn resolve_locations(&mut self) -> Result<()> {
        for (op, alias, at) in std::mem::take(&mut self.locations.pending) {
            let Some(&debug) = self.locations.aliases.get(alias) else {
                let message = format!("undefined symbol alias id '{alias}'");
                return Err(self.c.error_at(at, message));
            };
            let loc = self.loc_id(debug);
            self.module.op_mut(op).loc = loc;
        }
        Ok(())
    }

    /// Takes `#name` if no such alias is known yet.
    fn undefined_alias(&mut self) -> Option<&'t str> {
        let mut ahead = self.c.clone();
        if !ahead.eat("#") {
            return None;
        }
        let name = ahead.peek_word();
        let known = self.locations.aliases.contains_key(name) || name.starts_with("cuda_tile.");
        if known || name.is_empty() {
            return None;
        }
        let name = ahead.word("an alias").ok()?;
        self.c = ahead;
        Some(name)
    }

    /// What stands inside `loc(…)`.
    fn place(&mut self) -> Result<Debug> {
        self.deeper()?;
        let place = self.place_inner();
        self.depth -= 1;
        place
    }

    fn place_inner(&mut self) -> Result<Debug> {
        let at = self.c.offset();
        if self.c.peek("#") {
            return self.debug_attr();
        }
        if self.c.eat("unknown") {
            return Ok(Debug::Unknown);
        }
        if self.c.eat("loc") {
            self.c.expect("(")?;
            let place = self.place()?;
            self.c.expect(")")?;
            return Ok(place);
        }
        if self.c.eat("callsite") {
            self.c.expect("(")?;
            let callee = self.place()?;
            self.c.expect("at")?;
            let caller = self.place()?;
            self.c.expect(")")?;
            let (callee, caller) = (self.loc_id(callee), self.loc_id(caller));
            return Ok(self.debug_entry(DebugAttr::CallSite { callee, caller }));
        }
        let unsupported = |kind: &str| {
            format!("unsupported location, got {kind}, expected DILocAttr or CallSiteLoc")
        };
        if self.c.peek("fused") {
            return Err(self.c.error_at(at, unsupported("FusedLoc")));
        }
        if !self.c.peek("\"") {
            return Err(self.c.expected("a location"));
        }
        let text = self.c.string()?;
        if !self.c.eat(":") {
            return Err(self.c.error_at(at, unsupported("NameLoc")));
        }
        let line = self.number()?;
        self.c.expect(":")?;
        let column = self.number()?;
        Ok(Debug::Place {
            file: self.module.intern(&text),
            line,
            column,
        })
    }

    /// `#alias` or `#cuda_tile.di_…<…>`.
    fn debug_attr(&mut self) -> Result<Debug> {
        let at = self.c.offset();
        self.c.expect("#")?;
        let name = self.c.word("an attribute")?;
        let Some(kind) = name.strip_prefix("cuda_tile.") else {
            let alias = self.locations.aliases.get(name).copied();
            return alias.ok_or_else(|| {
                self.c
                    .error_at(at, format!("undefined symbol alias id '{name}'"))
            });
        };
        self.c.expect("<")?;
        let attr = match kind {
            "di_file" => {
                let name = self.name()?;
                self.c.expect("in")?;
                let directory = self.name()?;
                DebugAttr::File { name, directory }
            }
            "di_compile_unit" => DebugAttr::CompileUnit {
                file: self.entry_field("file")?,
            },
            "di_lexical_block" => self.lexical_block()?,
            "di_subprogram" => self.subprogram()?,
            "di_loc" => self.scoped()?,
            _ => {
                let message = format!("'{name}' is no debug-info attribute");
                return Err(self.c.error_at(at, message));
            }
        };
        self.c.expect(">")?;
        Ok(self.debug_entry(attr))
    }

    fn lexical_block(&mut self) -> Result<DebugAttr> {
        let scope = self.entry_field("scope")?;
        self.c.expect(",")?;
        let file = self.entry_field("file")?;
        self.c.expect(",")?;
        let line = self.number_field("line")?;
        self.c.expect(",")?;
        let column = self.number_field("column")?;
        Ok(DebugAttr::LexicalBlock {
            scope,
            file,
            line,
            column,
        })
    }

    fn subprogram(&mut self) -> Result<DebugAttr> {
        let file = self.entry_field("file")?;
        self.c.expect(",")?;
        let line = self.number_field("line")?;
        self.c.expect(",")?;
        let name = self.name_field("name")?;
        self.c.expect(",")?;
        let linkage_name = self.name_field("linkageName")?;
        self.c.expect(",")?;
        let unit = self.entry_field("compileUnit")?;
        let scope_line = match self.c.eat(",") {
            true => self.number_field("scopeLine")?,
            false => 0,
        };
        Ok(DebugAttr::Subprogram {
            file,
            line,
            name,
            linkage_name,
            unit,
            scope_line,
            ty: None,
        })
    }

    /// `place in scope`.
    fn scoped(&mut self) -> Result<DebugAttr> {
        let at = self.c.offset();
        let place = self.place()?;
        self.c.expect("in")?;
        let scope = self.entry_reference()?;
        match place {
            Debug::Place { file, line, column } => Ok(DebugAttr::Loc {
                scope,
                file,
                line,
                column,
            }),
            Debug::Unknown | Debug::Entry(_) => Err(self
                .c
                .error_at(at, "expected a file, line and column".into())),
        }
    }

    fn field(&mut self, name: &str) -> Result<()> {
        self.c.expect(name)?;
        self.c.expect("=")
    }

    fn entry_field(&mut self, name: &str) -> Result<LocId> {
        self.field(name)?;
        self.entry_reference()
    }

    fn entry_reference(&mut self) -> Result<LocId> {
        let at = self.c.offset();
        self.deeper()?;
        let debug = self.debug_attr();
        self.depth -= 1;
        match debug? {
            Debug::Entry(id) => Ok(id),
            _ => Err(self
                .c
                .error_at(at, "expected a debug-info attribute".into())),
        }
    }

    fn number_field(&mut self, name: &str) -> Result<u32> {
        self.field(name)?;
        self.number()
    }

    fn number(&mut self) -> Result<u32> {
        let at = self.c.offset();
        let number = self.c.count()?;
        u32::try_from(number).map_err(|_| {
            self.c
                .error_at(at, format!("{number} does not fit in 32 bits"))
        })
    }

    fn name_field(&mut self, name: &str) -> Result<Name> {
        self.field(name)?;
        self.name()
    }

    fn name(&mut self) -> Result<Name> {
        let text = self.c.string()?;
        Ok(self.module.intern(&text))
    }

    fn debug_entry(&mut self, attr: DebugAttr) -> Debug {
        if let Some(&id) = self.locations.entries.get(&attr) {
            return Debug::Entry(id);
        }
        let id = self.module.locs.push(attr.clone());
        self.locations.entries.insert(attr, id);
        Debug::Entry(id)
    }

    fn loc_id(&mut self, debug: Debug) -> LocId {
        let debug = match debug {
            Debug::Place { file, line, column } => self.debug_entry(DebugAttr::Loc {
                scope: LocId::UNKNOWN,
                file,
                line,
                column,
            }),
            other => other,
        };
        match debug {
            Debug::Entry(id) => id,
            Debug::Unknown | Debug::Place { .. } => LocId::UNKNOWN,
        }
    }
}
