//! The debug section.

use super::Writer;
use super::buffer::Buffer;
use crate::bytecode::Format;
use crate::dialect::Version;
use crate::ir::{DebugAttr, LocId};

impl Writer<'_> {
    pub fn debug_section(&mut self) -> Buffer {
        let mut items = Vec::new();
        for (id, attr) in self.module.locs.iter() {
            // Entry 0 is the unknown location, which every file has unwritten.
            if id.0 > 0 {
                items.push(self.debug_attr(attr));
            }
        }
        if items.is_empty() {
            // Real readers fail on an empty table.
            items.push(vec![0]);
        }
        let mut out = Buffer::new(Format::Public);
        out.varint(self.locations.len() as u64);
        out.align(4);
        let mut start = 0u32;
        for function in &self.locations {
            out.bytes(&start.to_le_bytes());
            start += function.len() as u32;
        }
        out.varint(u64::from(start));
        out.align(8);
        for &index in self.locations.iter().flatten() {
            out.bytes(&u64::from(index).to_le_bytes());
        }
        out.table(&items, 4);
        out
    }

    fn debug_attr(&mut self, attr: &DebugAttr) -> Vec<u8> {
        let mut out = Buffer::new(Format::Public);
        let mut put = |tag: u8, fields: &[u64]| {
            out.byte(tag);
            fields.iter().for_each(|f| out.varint(*f));
        };
        let n = u64::from;
        match attr {
            // Only text has locations without a scope; bytecode has no place for them.
            DebugAttr::Unknown
            | DebugAttr::Loc {
                scope: LocId::UNKNOWN,
                ..
            } => put(0, &[]),
            DebugAttr::CompileUnit { file } => put(1, &[n(file.0)]),
            DebugAttr::File { name, directory } => {
                put(2, &[self.strings.id(name), self.strings.id(directory)]);
            }
            DebugAttr::LexicalBlock {
                scope,
                file,
                line,
                column,
            } => put(3, &[n(scope.0), n(file.0), n(*line), n(*column)]),
            DebugAttr::Loc {
                scope,
                file,
                line,
                column,
            } => put(
                4,
                &[n(scope.0), self.strings.id(file), n(*line), n(*column)],
            ),
            DebugAttr::Subprogram {
                file,
                line,
                name,
                linkage_name,
                unit,
                scope_line,
                ..
            } => {
                let names = [self.strings.id(name), self.strings.id(linkage_name)];
                put(
                    5,
                    &[
                        n(file.0),
                        n(*line),
                        names[0],
                        names[1],
                        n(unit.0),
                        n(*scope_line),
                    ],
                );
                if self.version >= Version::V13_5 {
                    out.varint(0);
                }
            }
            DebugAttr::CallSite { callee, caller } => put(6, &[n(callee.0), n(caller.0)]),
        }
        out.data
    }
}
