//! A file taken apart: its format, version and sections.

use super::cursor::Cursor;
use super::{Context, Format, Result};
use crate::dialect::Version;

/// Section identifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum SectionId {
    End = 0,
    String = 1,
    Func = 2,
    Debug = 3,
    Constant = 4,
    Type = 5,
    Global = 6,
    Producer = 7,
}

impl SectionId {
    pub const ALL: [SectionId; 8] = [
        SectionId::End,
        SectionId::String,
        SectionId::Func,
        SectionId::Debug,
        SectionId::Constant,
        SectionId::Type,
        SectionId::Global,
        SectionId::Producer,
    ];

    /// The alignment that the reader of the section's tables relies on.
    pub const fn alignment(self) -> u64 {
        match self {
            SectionId::String | SectionId::Type => 4,
            SectionId::Func | SectionId::Debug | SectionId::Constant => 8,
            SectionId::End | SectionId::Global | SectionId::Producer => 1,
        }
    }
}

/// A file taken apart, its sections not yet decoded.
pub struct Container<'a> {
    pub format: Format,
    pub version: Version,
    pub(super) sections: [Option<Cursor<'a>>; 8],
}

impl<'a> Container<'a> {
    /// The payload of a section, if the file has it.
    pub fn section(&self, id: SectionId) -> Option<Cursor<'a>> {
        self.sections[id as usize].clone()
    }
}

/// Reads and compares the first bytes of a container.
pub(super) fn magic(cursor: &mut Cursor, magic: [u8; 8]) -> Result<()> {
    for (i, expected) in magic.into_iter().enumerate() {
        let got = cursor.u8().context(|| "failed to read magic".into())?;
        if got != expected {
            return Err(cursor
                .error(format!(
                    "invalid magic number at position {i}, got {got} expected {expected}"
                ))
                .note("input does not correspond to Tile IR bytecode"));
        }
    }
    Ok(())
}
