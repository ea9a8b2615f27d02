//! The text parser: the generic form of every dialect and the cuda_tile assembly form, mixed
//! freely. Names are resolved as they are read, so a value is used after its definition.

mod attrs;
mod cursor;
mod custom;
mod debug;
mod dense;
mod generic;
mod layouts;
mod locations;
mod pretty;
mod regions;
mod scope;
mod state;
mod types;
mod values;

use cursor::Result;
use state::Parser;

use rustc_hash::FxHashMap;

use crate::ir::{Attr, BlockId, Diagnostic, Module, OpId, Place};

/// Reads a module from text.
///
/// # Errors
/// The first thing wrong, with line, column and the line itself.
pub fn parse(text: &str) -> Result<Module> {
    parse_file(text, "<text>")
}

/// Reads a module from text that errors say comes from `file`.
///
/// # Errors
/// As [`parse`].
pub fn parse_file(text: &str, file: &str) -> Result<Module> {
    let mut parser = Parser::new(text, file);
    parser.top()?;
    Ok(parser.module)
}

/// What `find` says of the module in a text, at the operations that it concerns. Keeps where operations
/// begin, which modules of which there is nothing to say need not pay for.
///
/// # Errors
/// As [`parse_file`].
pub fn diagnose(
    text: &str,
    file: &str,
    find: impl Fn(&Module) -> Vec<(OpId, Diagnostic)>,
) -> Result<Vec<Diagnostic>> {
    let mut parser = Parser::new(text, file);
    parser.starts = Some(FxHashMap::default());
    parser.top()?;
    let starts = parser.starts.take().unwrap_or_default();
    let locate = |(op, mut error): (OpId, Diagnostic)| {
        let Some(&at) = starts.get(&op) else {
            return error;
        };
        let here = parser.c.error_at(at, String::new());
        error.notes.extend(here.notes);
        // Where it was compiled from, if the text says so, is what its author knows.
        if error.place == Place::Nowhere {
            error.place = here.place;
        }
        error
    };
    Ok(find(&parser.module).into_iter().map(locate).collect())
}

/// How the first line begins that names who wrote a module.
pub const PRODUCER: &str = "// Producer: ";

impl<'t> Parser<'t> {
    /// A module operation in either form, or its contents alone.
    fn top(&mut self) -> Result<()> {
        let body = self.module.body;
        // What `tileirdisasm` says of who wrote the bytecode.
        if let Some(rest) = self.c.text().trim_start().strip_prefix(PRODUCER) {
            let producer = rest.lines().next().unwrap_or("");
            self.module.producer = Some(self.module.intern(producer));
        }
        self.aliases()?;
        if !self.module_operation()? {
            while !self.c.at_end() && !self.c.peek("#") {
                self.operation(body)?;
            }
        }
        self.skip_location()?;
        self.aliases()?;
        self.resolve_locations()?;
        if self.c.at_end() {
            return Ok(());
        }
        Err(self.c.expected("end of input"))
    }

    /// A module in either form, if one is here. MLIR's own may stand around that of Tile IR.
    fn module_operation(&mut self) -> Result<bool> {
        if self.c.eat("cuda_tile.module") {
            self.module_header()?;
            self.c.expect("{")?;
            self.ops_until_brace(self.module.body)?;
        } else if self.c.eat("module") {
            self.module_header()?;
            self.c.expect("{")?;
            self.wrapped_module()?;
        } else if self.c.eat("\"cuda_tile.module\"") {
            self.generic_module(|p| p.ops_until_brace(p.module.body))?;
        } else if self.c.eat("\"builtin.module\"") {
            self.generic_module(Self::wrapped_module)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// What stands inside MLIR's own module: that of Tile IR, or its operations.
    fn wrapped_module(&mut self) -> Result<()> {
        if self.c.peek("cuda_tile.module") || self.c.peek("\"cuda_tile.module\"") {
            self.module_operation()?;
            self.skip_location()?;
            return self.c.expect("}");
        }
        self.ops_until_brace(self.module.body)
    }

    /// `@name attributes {producer = "…"}`.
    fn module_header(&mut self) -> Result<()> {
        if self.c.peek("@") {
            let name = self.c.symbol()?;
            self.module.name = self.module.intern(&name);
        }
        if self.c.eat("attributes") {
            self.c.expect("{")?;
            self.module_attributes("}")?;
        }
        Ok(())
    }

    fn module_attributes(&mut self, close: &str) -> Result<()> {
        while !self.c.eat(close) {
            let at = self.c.offset();
            let key = self.c.key()?;
            let value = match self.c.eat("=") {
                true => self.any_attr()?,
                false => Attr::Unit,
            };
            match (key.as_str(), value) {
                // Those of other dialects say nothing here.
                (other, _) if other.contains('.') => {}
                ("producer", Attr::Str(s)) => self.module.producer = Some(s),
                ("sym_name", Attr::Str(s)) => self.module.name = s,
                _ => {
                    return Err(self
                        .c
                        .error_at(at, format!("a module has no attribute '{key}'")));
                }
            }
            if !self.c.eat(",") && !self.c.peek(close) {
                return Err(self.c.expected(&format!("',' or '{close}'")));
            }
        }
        Ok(())
    }

    /// What follows the quoted name of a module operation.
    fn generic_module(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.c.expect("(")?;
        self.c.expect(")")?;
        if self.c.eat("<{") {
            self.module_attributes("}>")?;
        }
        self.c.expect("(")?;
        self.c.expect("{")?;
        body(self)?;
        for token in [")", ":", "(", ")", "->", "(", ")"] {
            self.c.expect(token)?;
        }
        Ok(())
    }

    /// Operations up to and with a closing brace.
    fn ops_until_brace(&mut self, block: BlockId) -> Result<()> {
        while !self.c.eat("}") {
            if self.c.at_end() {
                return Err(self.c.expected("'}'"));
            }
            self.operation(block)?;
        }
        Ok(())
    }

    /// One operation in either form.
    fn operation(&mut self, block: BlockId) -> Result<()> {
        self.deeper()?;
        let names = self.result_names()?;
        let mark = self.locations.mark();
        let at = self.c.offset();
        let op = match self.c.peek("\"") {
            true => self.generic_operation(block, &names),
            false => self.pretty_operation(block, &names),
        };
        self.depth -= 1;
        if let (Ok(op), Some(starts)) = (&op, &mut self.starts) {
            starts.insert(*op, at);
        }
        self.location_of(op?, mark)
    }

    /// `%a, %b:2 =`, with how many results each name stands for.
    fn result_names(&mut self) -> Result<Vec<(&'t str, Option<usize>)>> {
        let mut names = Vec::new();
        while self.c.peek("%") {
            let name = self.c.value_name()?;
            let count = match self.c.eat(":") {
                true => Some(self.c.count()?),
                false => None,
            };
            names.push((name, count));
            if !self.c.eat(",") {
                break;
            }
        }
        if !names.is_empty() {
            self.c.expect("=")?;
        }
        Ok(names)
    }
}
