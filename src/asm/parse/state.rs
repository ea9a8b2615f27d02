//! The parser's state; the other files are its methods, by what they read.

use rustc_hash::FxHashMap;

use super::cursor::{Cursor, Result};
use super::debug::Locations;
use super::scope::Scope;
use crate::ir::{Module, OpId};

/// Regions, types and attributes may be nested this deep.
const MAX_DEPTH: u32 = 128;

/// What [`Parser::untyped`] is outside hints.
pub const UNTYPED: u32 = 64;

/// A text that is being read, and what has been read of it.
pub struct Parser<'t> {
    pub c: Cursor<'t>,
    pub module: Module,
    pub scope: Scope<'t>,
    pub locations: Locations<'t>,
    /// The number in the module's table of each layout that the text defines.
    pub layouts: FxHashMap<u32, u32>,
    pub depth: u32,
    /// Bits of integers without a type.
    pub untyped: u32,
    /// Where operations begin in the text, if that is asked for.
    pub starts: Option<FxHashMap<OpId, usize>>,
}

impl<'t> Parser<'t> {
    /// Before the first character of `text`, which errors say comes from `file`.
    pub fn new(text: &'t str, file: &'t str) -> Self {
        Self {
            c: Cursor::new(text, file),
            module: Module::new("kernels"),
            scope: Scope::default(),
            locations: Locations::default(),
            layouts: FxHashMap::default(),
            depth: 0,
            untyped: UNTYPED,
            starts: None,
        }
    }

    /// One level further in.
    ///
    /// # Errors
    /// That this is too deep.
    pub fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.c.error(format!("nested deeper than {MAX_DEPTH}")));
        }
        Ok(())
    }
}
