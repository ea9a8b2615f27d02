//! The debug section.
//!
//! As in the public container, entries are decoded without following references, and kinds and
//! cycles are checked once all are known: entry `i` becomes [`LocId`] `i + 1`.

use crate::bytecode::cursor::Cursor;
use crate::bytecode::notes::debug_tag as tag;
use crate::bytecode::read::Reader;
use crate::bytecode::read::attrs::replace;
use crate::bytecode::read::debug::{fail, number};
use crate::bytecode::read::tables::Blobs;
use crate::bytecode::{Context, Result};
use crate::ir::{DebugAttr, LocId};

/// The locations that operations refer to, per function.
#[derive(Default)]
pub struct Slots<'a> {
    starts: Vec<u32>,
    /// Attribute indices, eight bytes each.
    table: Option<Cursor<'a>>,
    entries: u64,
}

impl Slots<'_> {
    /// The location of an operation of function `function`, from the number in its record.
    pub fn location(&self, function: usize, c: &mut Cursor) -> Result<LocId> {
        let number = c.signed_varint()?;
        if matches!(number, -1 | -64) {
            return Ok(LocId::UNKNOWN);
        }
        let entry = self.entry(function, number);
        match entry.filter(|&e| e < self.entries) {
            Some(entry) => Ok(LocId(entry as u32 + 1)),
            None => Err(c.error(format!("debug info index {number} out of bounds"))),
        }
    }

    fn entry(&self, function: usize, number: i64) -> Option<u64> {
        let slot =
            u64::from(*self.starts.get(function)?).checked_add(u64::try_from(number).ok()?)?;
        if let Some(&next) = self.starts.get(function + 1)
            && slot >= u64::from(next)
        {
            return None;
        }
        let at = usize::try_from(slot.checked_mul(8)?).ok()?;
        self.table
            .as_ref()?
            .slice(at, at.checked_add(8)?)?
            .u64()
            .ok()
    }
}

impl<'a> Reader<'a> {
    pub fn notes_debug_section(&mut self, mut c: Cursor<'a>) -> Result<()> {
        let functions = c.count(4, "operations with debug info")?;
        c.align(4)?;
        let starts = (0..functions).map(|_| c.u32()).collect::<Result<_>>()?;
        let slots = c.count(8, "debug info indices")?;
        c.align(8)?;
        let table = Some(c.split(slots.saturating_mul(8))?);
        let n = c.count(4, "debug info attributes")?;
        let blobs = Blobs::read_counted(&mut c, n, 4, "debug info attributes")?;
        if u32::try_from(n).is_err() {
            return Err(c.error("too many debug info attributes"));
        }
        for _ in 0..n {
            self.module.locs.push(DebugAttr::Unknown);
        }
        let mut places = (0..n).map(|i| blobs.get(i)).collect::<Result<Vec<_>>>()?;
        for i in 0..n {
            let mut item = blobs.get(i)?;
            let at = item.clone();
            let attr = self.notes_debug_attr(&mut item, &at, &mut places)?;
            self.module.locs.set(LocId(i as u32 + 1), attr);
        }
        for (i, at) in places.iter().enumerate() {
            self.check_references(LocId(i as u32 + 1), at)?;
        }
        self.check_cycles(&places)?;
        self.slots = Slots {
            starts,
            table,
            entries: n as u64,
        };
        Ok(())
    }

    fn notes_debug_attr(
        &mut self,
        c: &mut Cursor<'a>,
        at: &Cursor<'a>,
        places: &mut Vec<Cursor<'a>>,
    ) -> Result<DebugAttr> {
        let tag = c.varint().context(|| "failed to read kind tag".into())?;
        match tag {
            0 => Err(c.error("unknown debug attribute tag")),
            tag::COMPILE_UNIT => self.compile_unit(c),
            tag::FILE => Ok(DebugAttr::File {
                name: self.debug_str(c, "file name attribute", "DIFileAttr")?,
                directory: self.debug_str(c, "directory attribute", "DIFileAttr")?,
            }),
            tag::LEXICAL_BLOCK => Ok(DebugAttr::LexicalBlock {
                scope: reference(c, "scope attribute", "DILexicalBlockAttr")?,
                file: reference(c, "file attribute", "DILexicalBlockAttr")?,
                line: number(c, "line number", "DILexicalBlockAttr")?,
                column: number(c, "column number", "DILexicalBlockAttr")?,
            }),
            tag::LOC => self.notes_loc(c, at, places),
            tag::SUBPROGRAM => self.notes_subprogram(c),
            tag::CALL_SITE => Ok(DebugAttr::CallSite {
                callee: reference(c, "callee attribute", "CallSiteLoc")?,
                caller: reference(c, "caller attribute", "CallSiteLoc")?,
            }),
            _ => Err(c.error(format!("unsupported DebugTag {tag}"))),
        }
    }

    /// File, producer, flags. The producer is the module's.
    fn compile_unit(&mut self, c: &mut Cursor) -> Result<DebugAttr> {
        const PRODUCER: &str = "failed to read producer for DICompileUnitAttr";
        let file = reference(c, "file attribute", "DICompileUnitAttr")?;
        let index = c.varint().map_err(|e| replace(e, PRODUCER))?;
        if let Some(index) = index.checked_sub(1) {
            let producer = self.strings.get(index, c);
            let producer = producer.map_err(|e| replace(e, PRODUCER))?;
            match self.module.producer.get_or_insert(producer) {
                first if *first == producer => {}
                _ => {
                    return Err(c
                        .error(PRODUCER)
                        .note("compile units name several producers"));
                }
            }
        }
        match number(c, "flags", "DICompileUnitAttr")? {
            0 => Ok(DebugAttr::CompileUnit { file }),
            flags => Err(c.error(format!("unknown flags {flags:#x} of DICompileUnitAttr"))),
        }
    }

    /// A location; one that was inlined is a call site around an entry of its own.
    fn notes_loc(
        &mut self,
        c: &mut Cursor<'a>,
        at: &Cursor<'a>,
        places: &mut Vec<Cursor<'a>>,
    ) -> Result<DebugAttr> {
        let attr = DebugAttr::Loc {
            scope: reference(c, "scope attribute", "DILocAttr")?,
            file: self.debug_str(c, "file name attribute", "FileLineColLoc")?,
            line: number(c, "line number", "FileLineColLoc")?,
            column: number(c, "column number", "FileLineColLoc")?,
        };
        match number(c, "inlined-at attribute", "DILocAttr")? {
            0 => Ok(attr),
            caller => {
                places.push(at.clone());
                Ok(DebugAttr::CallSite {
                    callee: self.module.locs.push(attr),
                    caller: LocId(caller),
                })
            }
        }
    }

    /// Unit, name, linkage name, scope, line, flags, purpose, more flags. The scope is the file,
    /// the purpose the line at which the scope begins; this is what the public dialect knows.
    fn notes_subprogram(&mut self, c: &mut Cursor) -> Result<DebugAttr> {
        const ATTR: &str = "DISubprogramAttr";
        let unit = reference(c, "compile unit attribute", ATTR)?;
        let name = self.debug_str(c, "name attribute", ATTR)?;
        let linkage_name = self.debug_str(c, "linkage name attribute", ATTR)?;
        let file = reference(c, "scope attribute", ATTR)?;
        let line = number(c, "line number", ATTR)?;
        let flags = number(c, "flags", ATTR)?;
        let scope_line = number(c, "scope line number", ATTR)?;
        let more = number(c, "spFlags", ATTR)?;
        if flags | more != 0 {
            let error = c.error(format!("unknown flags {:#x} of {ATTR}", flags | more));
            return Err(fail(error, "flags", ATTR));
        }
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
}

/// An index into the table, from 0.
fn reference(c: &mut Cursor, what: &str, attr: &str) -> Result<LocId> {
    let index = number(c, what, attr)?;
    match index.checked_add(1) {
        Some(id) => Ok(LocId(id)),
        None => Err(fail(c.error(format!("{index} is too large")), what, attr)),
    }
}
