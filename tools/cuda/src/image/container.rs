//! Opening images: telling kinds apart, and getting at what containers hold.

use super::fatbin::{FATBIN, Kind, members};
use super::{Refusal, Source, manifest};
use crate::settings::settings;
use crate::status::Status;
use tilec::launch::MANIFEST_SYMBOL;

type Opened = std::result::Result<Source, Refusal>;

/// What is in an image.
pub fn open(image: &[u8]) -> Opened {
    if tilec::bytecode::is_bytecode(image) {
        return Ok(Source::Tile(image.to_vec()));
    }
    if image.starts_with(b"\x7fELF") {
        return elf(image);
    }
    if image.starts_with(&FATBIN.to_le_bytes()) {
        return fatbin(image);
    }
    let text = std::str::from_utf8(image).ok();
    match text.filter(|t| t.contains(".version")) {
        Some(text) => Ok(Source::Ptx(text.trim_end_matches('\0').to_owned())),
        None => Err((
            Status::INVALID_IMAGE,
            "the image is neither Tile IR bytecode, PTX, a cubin nor a fatbin".into(),
        )),
    }
}

pub(super) fn number(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(count)?)?;
    Some(bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
}

pub(super) fn range(bytes: &[u8], at: u64, count: u64) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(usize::try_from(count).ok()?)?)
}

/// A section of a cubin.
struct Section<'a> {
    name: String,
    bytes: &'a [u8],
    link: u64,
}

fn string(table: &[u8], at: u64) -> Option<String> {
    let rest = table.get(usize::try_from(at).ok()?..)?;
    let end = rest.iter().position(|&b| b == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

fn sections(image: &[u8]) -> Option<Vec<Section<'_>>> {
    let (offset, size) = (number(image, 0x28, 8)?, number(image, 0x3a, 2)?);
    let (count, names) = (number(image, 0x3c, 2)?, number(image, 0x3e, 2)?);
    let header = |i: u64| range(image, offset.checked_add(i * size)?, size);
    let content = |h: &[u8]| range(image, number(h, 0x18, 8)?, number(h, 0x20, 8)?);
    let names = content(header(names)?)?;
    let mut all = Vec::new();
    for i in 0..count {
        let h = header(i)?;
        const NOBITS: u64 = 8;
        let empty = number(h, 4, 4)? == NOBITS;
        all.push(Section {
            name: string(names, number(h, 0, 4)?)?,
            bytes: if empty { &[] } else { content(h)? },
            link: number(h, 0x28, 4)?,
        });
    }
    Some(all)
}

/// The bytes of a symbol of a cubin.
fn symbol(sections: &[Section<'_>], wanted: &str) -> Option<Vec<u8>> {
    let table = sections.iter().find(|s| s.name == ".symtab")?;
    let names = sections.get(usize::try_from(table.link).ok()?)?;
    for entry in table.bytes.chunks_exact(24) {
        if string(names.bytes, number(entry, 0, 4)?)? == wanted {
            let home = sections.get(usize::try_from(number(entry, 6, 2)?).ok()?)?;
            let bytes = range(home.bytes, number(entry, 8, 8)?, number(entry, 16, 8)?)?;
            return Some(bytes.to_vec());
        }
    }
    None
}

/// A cubin: machine code cannot be emulated, but what it was assembled from may be in it.
fn elf(image: &[u8]) -> Opened {
    let broken = || {
        let why = "the cubin's sections contradict each other";
        (Status::INVALID_IMAGE, why.to_owned())
    };
    let sections = sections(image).ok_or_else(broken)?;
    let named = |name: &str| sections.iter().find(|s| s.name == name);
    if let Some(tile) = named(".tilec.bytecode") {
        return Ok(Source::Tile(tile.bytes.to_vec()));
    }
    let text = named(".tilec.ptx").or_else(|| named(".nv_debug_ptx_txt"));
    if let Some(text) = text.filter(|t| !t.bytes.is_empty()) {
        // One string per line.
        let lines = text.bytes.strip_suffix(&[0]).unwrap_or(text.bytes);
        let mut ptx = String::from_utf8_lossy(lines).replace('\0', "\n");
        if !ptx.contains(MANIFEST_SYMBOL)
            && let Some(json) = symbol(&sections, MANIFEST_SYMBOL)
        {
            ptx.push_str(&tilec::ptx::constant(MANIFEST_SYMBOL, &json));
        }
        return Ok(Source::Ptx(ptx));
    }
    Err((
        Status::NO_BINARY_FOR_GPU,
        "the cubin holds machine code alone, which cannot be emulated; have PTX or Tile IR bytecode in it (with \
         `tilec emulate`, the `tileiras` that is found first must be tilec's)"
            .into(),
    ))
}

/// A fatbin: of its members that can be opened the one that says most, Tile IR before PTX before machine code, and of
/// PTX the newest that the device may run. `fatbin.rs` has the layout.
fn fatbin(image: &[u8]) -> Opened {
    // Of the member that would have been best.
    let mut refusal = None;
    let sm = u64::from(settings().target.sm);
    let mut members = members(image);
    members.sort_by_key(|m| match m.kind {
        Kind::TileIr => (0, 0),
        Kind::Ptx if m.sm <= sm => (1, sm - m.sm),
        Kind::Ptx => (2, m.sm),
        Kind::Other => (3, 0),
    });
    for member in members {
        match member.content().map(|bytes| open(&bytes)) {
            Ok(Ok(source)) => return Ok(source),
            Ok(Err(found)) => _ = refusal.get_or_insert(found),
            Err(why) => _ = refusal.get_or_insert((Status::NO_BINARY_FOR_GPU, why)),
        }
    }
    let none = "the fatbin has no member that can be emulated";
    Err(refusal.unwrap_or((Status::NO_BINARY_FOR_GPU, none.into())))
}

/// The Tile IR in an image.
pub enum Tile {
    /// none
    None,
    /// the image is nothing else
    Alone(Vec<u8>),
    /// the image has other members, too
    Beside(Vec<u8>),
}

/// The Tile IR in an image.
pub fn tile(image: &[u8]) -> Tile {
    if image.starts_with(&FATBIN.to_le_bytes()) {
        let mut tiles = members(image)
            .into_iter()
            .filter(|m| m.kind == Kind::TileIr);
        return match tiles.next().map(|member| member.content()) {
            Some(Ok(bytes)) => Tile::Beside(bytes.into_owned()),
            _ => Tile::None,
        };
    }
    match tilec::bytecode::is_bytecode(image) {
        true => Tile::Alone(image.to_vec()),
        false => Tile::None,
    }
}

/// The JSON of the manifest in a cubin, or in one of a fatbin.
pub fn manifest_of_cubin(image: &[u8]) -> Option<String> {
    if image.starts_with(b"\x7fELF") {
        let json = symbol(&sections(image)?, MANIFEST_SYMBOL)?;
        return String::from_utf8(json).ok();
    }
    if image.starts_with(&FATBIN.to_le_bytes()) {
        let contents = members(image).into_iter().map(|m| m.content());
        return contents
            .flatten()
            .find_map(|bytes| match bytes.starts_with(b"\x7fELF") {
                true => manifest_of_cubin(&bytes),
                false => manifest::split(std::str::from_utf8(&bytes).ok()?).map(|s| s.1),
            });
    }
    None
}
