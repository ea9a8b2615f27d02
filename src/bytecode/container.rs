//! The envelope: magic, version, sections in any order.
//!
//! Nothing in a section's header says that it may be skipped, and NVIDIA's reader refuses identifiers
//! that it does not know; so does this one. What may be unknown is a hint (a warning of the verifier).

use super::cursor::Cursor;
use super::{Context, Format, Result, notes};
use crate::dialect::Version;

/// First bytes of the public container.
pub const MAGIC: [u8; 8] = *b"\x7FTileIR\0";
/// First bytes of upstream MLIR bytecode.
const MLIR_MAGIC: [u8; 4] = *b"ML\xEFR";

/// Whether the data begins as any of the containers, or as upstream MLIR bytecode, does.
pub fn is_bytecode(data: &[u8]) -> bool {
    data.starts_with(&MAGIC) || data.starts_with(&notes::FRAMING) || data.starts_with(&MLIR_MAGIC)
}

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
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        if notes::is_upstream(data) || data.starts_with(&MLIR_MAGIC) {
            return Err(Cursor::new(data, Format::Public).error(
                "input is upstream MLIR bytecode, not Tile IR bytecode: export the module as Tile IR bytecode",
            ));
        }
        match data.starts_with(&notes::FRAMING) {
            true => notes::envelope(data),
            false => Self::parse_public(data),
        }
    }

    fn parse_public(data: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(data, Format::Public);
        let version = header(&mut cursor).context(|| "failed to parse bytecode header".into())?;
        let mut sections = [const { None }; 8];
        loop {
            let (id, payload) =
                section(&mut cursor).context(|| "failed to parse section header".into())?;
            if id == SectionId::End {
                break;
            }
            let slot = &mut sections[id as usize];
            if slot.is_some() {
                return Err(cursor.error(format!("section {} occurs twice", id as u8)));
            }
            *slot = Some(payload);
        }
        if !cursor.is_empty() {
            return Err(cursor.error("end section is not the last section"));
        }
        Ok(Self {
            format: Format::Public,
            version,
            sections,
        })
    }

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

fn header(cursor: &mut Cursor) -> Result<Version> {
    magic(cursor, MAGIC)?;
    let (major, minor, tag) = (cursor.u8()?, cursor.u8()?, cursor.u16()?);
    let version = Version(major, minor);
    if !(Version::V13_1..=Version::V13_5).contains(&version) {
        return Err(cursor.error(format!(
            "unsupported Tile version {major}.{minor}.{tag}, this reader supports versions [13.1 - 13.5]"
        )));
    }
    // Bit 0 marks the preview dialect, which has no published encoding.
    match tag {
        0 => Ok(version),
        1 => {
            Err(cursor
                .error("public-preview bytecode requires at least one enabled preview feature"))
        }
        _ => Err(cursor.error(format!(
            "header has unrecognized version tag bits ({:#x});",
            tag & !1
        ))),
    }
}

fn section<'a>(cursor: &mut Cursor<'a>) -> Result<(SectionId, Cursor<'a>)> {
    if cursor.is_empty() {
        return Err(cursor.error("unexpected end of data while reading section header"));
    }
    let byte = cursor.u8()?;
    let aligned = byte & 0x80 != 0;
    let Some(&id) = SectionId::ALL.get(usize::from(byte & 0x7F)) else {
        return Err(cursor.error(format!("unknown section ID: {}", byte & 0x7F)));
    };
    if id == SectionId::End {
        return match aligned {
            true => Err(cursor.error("end section should not have alignment flag set")),
            false => Ok((id, cursor.split(0)?)),
        };
    }
    let length = cursor
        .varint()
        .context(|| "failed to read section length".into())?;
    if length > cursor.remaining() as u64 {
        return Err(cursor.error(format!(
            "section length {length} exceeds remaining data size {}",
            cursor.remaining()
        )));
    }
    let alignment = if aligned { cursor.varint()? } else { 1 };
    if !alignment.is_power_of_two() {
        return Err(cursor.error(format!("invalid alignment value: {alignment}")));
    }
    if alignment % id.alignment() != 0 {
        let has = match aligned {
            true => format!("has alignment of {alignment}"),
            false => "has no alignment flag set".into(),
        };
        return Err(cursor.error(format!(
            "section {} must have alignment that is a multiple of {} bytes, but {has}",
            id as u8,
            id.alignment()
        )));
    }
    if alignment > (cursor.offset() + cursor.remaining()) as u64 {
        return Err(cursor.error(format!("section alignment {alignment} exceeds the file")));
    }
    cursor.align(alignment as usize)?;
    Ok((id, cursor.split(length as usize)?))
}
