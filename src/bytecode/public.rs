//! The public container: magic, version, sections in any order.
//!
//! Nothing in a section's header says that it may be skipped, and NVIDIA's reader refuses identifiers
//! that it does not know; so does this one. What may be unknown is a hint (a warning of the verifier).

use super::container::{Container, SectionId, magic};
use super::cursor::Cursor;
use super::{Context, Format, Result};
use crate::dialect::Version;

/// First bytes of the container.
pub const MAGIC: [u8; 8] = *b"\x7FTileIR\0";

/// Takes a file apart.
pub(super) fn envelope(data: &[u8]) -> Result<Container<'_>> {
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
    Ok(Container {
        format: Format::Public,
        version,
        sections,
    })
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
