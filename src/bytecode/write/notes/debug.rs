//! The debug section.

use crate::bytecode::notes::debug_tag as tag;
use crate::bytecode::write::buffer::Buffer;
use crate::bytecode::write::{Result, Writer};
use crate::ir::{DebugAttr, Diagnostic, LocId};

impl Writer<'_> {
    /// The number of a debug attribute; none for an unknown location, which is never written.
    pub fn debug_index(&self, loc: LocId) -> Option<u64> {
        let index = self.debug_numbers.get(loc.0 as usize).copied().flatten();
        index.map(u64::from)
    }

    pub fn notes_debug_section(&mut self) -> Result<Option<Buffer>> {
        let mut items = Vec::new();
        for (id, attr) in self.module.locs.iter() {
            if self.debug_index(id).is_some() {
                items.push(self.notes_debug_attr(attr)?);
            }
        }
        if items.is_empty() {
            return Ok(None);
        }
        let mut out = self.buffer();
        out.varint(self.slots.len() as u64);
        out.align(4);
        let mut start = 0u32;
        for function in &self.slots {
            out.bytes(&start.to_le_bytes());
            start += function.items().len() as u32;
        }
        out.varint(u64::from(start));
        out.align(8);
        for &index in self.slots.iter().flat_map(|f| f.items()) {
            out.bytes(&u64::from(index).to_le_bytes());
        }
        out.table(&items, 4);
        Ok(Some(out))
    }

    /// A reference to another entry.
    fn debug_ref(&self, loc: LocId, what: &str) -> Result<u64> {
        self.debug_index(loc).ok_or_else(|| {
            Diagnostic::error(format!(
                "an unknown {what} has no encoding in the notes' container"
            ))
        })
    }

    fn notes_debug_attr(&mut self, attr: &DebugAttr) -> Result<Vec<u8>> {
        let n = u64::from;
        let fields: Vec<u64> = match attr {
            DebugAttr::Unknown => vec![0],
            DebugAttr::CompileUnit { file } => {
                let producer = self.module.producer.map(|name| self.strings.id(&name) + 1);
                let file = self.debug_ref(*file, "file")?;
                vec![tag::COMPILE_UNIT, file, producer.unwrap_or(0), 0]
            }
            DebugAttr::File { name, directory } => {
                let names = [self.strings.id(name), self.strings.id(directory)];
                vec![tag::FILE, names[0], names[1]]
            }
            DebugAttr::LexicalBlock {
                scope,
                file,
                line,
                column,
            } => {
                let scope = self.debug_ref(*scope, "scope")?;
                let file = self.debug_ref(*file, "file")?;
                vec![tag::LEXICAL_BLOCK, scope, file, n(*line), n(*column)]
            }
            DebugAttr::Loc {
                scope,
                file,
                line,
                column,
            } => {
                let scope = self.debug_ref(*scope, "scope")?;
                let file = self.strings.id(file);
                vec![tag::LOC, scope, file, n(*line), n(*column), 0]
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
                let unit = self.debug_ref(*unit, "compile unit")?;
                let names = [self.strings.id(name), self.strings.id(linkage_name)];
                let file = self.debug_ref(*file, "file")?;
                let (line, scope_line) = (n(*line), n(*scope_line));
                vec![
                    tag::SUBPROGRAM,
                    unit,
                    names[0],
                    names[1],
                    file,
                    line,
                    0,
                    scope_line,
                    0,
                ]
            }
            DebugAttr::CallSite { callee, caller } => {
                let callee = self.debug_ref(*callee, "location in a call site")?;
                let caller = self.debug_ref(*caller, "location in a call site")?;
                vec![tag::CALL_SITE, callee, caller]
            }
        };
        let mut out = self.buffer();
        fields.iter().for_each(|f| out.varint(*f));
        Ok(out.data)
    }
}
