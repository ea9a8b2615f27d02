//! Opening images: telling kinds apart, and getting at what containers hold.

use super::bytes::{number, range};
use super::fatbin::{FATBIN, Kind, members};
use super::{Refusal, Source, manifest};
use crate::settings::settings;
use crate::status::Status;
use tilec::launch::MANIFEST_SYMBOL;

/// What an image holds, and whether tilec's `tileiras` packed it in the place of machine code, for the emulated driver.
pub struct Opened {
    /// what it holds
    pub source: Source,
    /// whether the emulated driver alone knows what it is
    pub packed: bool,
}

impl From<Source> for Opened {
    fn from(source: Source) -> Self {
        Opened {
            source,
            packed: false,
        }
    }
}

type Result = std::result::Result<Opened, Refusal>;

/// What is in an image.
pub fn open(image: &[u8]) -> Result {
    if tilec::bytecode::is_bytecode(image) {
        return Ok(Source::Tile(image.to_vec()).into());
    }
    if image.starts_with(b"\x7fELF") {
        return elf(image);
    }
    if image.starts_with(&FATBIN.to_le_bytes()) {
        return fatbin(image);
    }
    let text = std::str::from_utf8(image).ok();
    match text.filter(|t| t.contains(".version")) {
        Some(text) => Ok(Source::Ptx(text.trim_end_matches('\0').to_owned()).into()),
        None => Err((
            Status::INVALID_IMAGE,
            "the image is neither Tile IR bytecode, PTX, a cubin nor a fatbin".into(),
        )),
    }
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

/// What tilec's `tileiras` writes in the place of machine code (`src/driver/dropin/container.rs`).
fn content(sections: &[Section<'_>]) -> Option<Source> {
    sections.iter().find_map(|section| match &*section.name {
        ".tilec.bytecode" => Some(Source::Tile(section.bytes.to_vec())),
        ".tilec.ptx" => {
            let text = String::from_utf8_lossy(section.bytes);
            Some(Source::Ptx(text.into_owned()))
        }
        _ => None,
    })
}

/// What an image without machine code holds, which tilec's `tileiras` wrote for the emulated driver: alone, or as a member
/// of a fatbin.
pub fn packed(image: &[u8]) -> Option<Source> {
    if image.starts_with(&FATBIN.to_le_bytes()) {
        let contents = members(image).into_iter().map(|m| m.content());
        return contents.flatten().find_map(|bytes| packed(&bytes));
    }
    match image.starts_with(b"\x7fELF") {
        true => content(&sections(image)?),
        false => None,
    }
}

/// A cubin: machine code cannot be emulated, but what it was assembled from may be in it.
fn elf(image: &[u8]) -> Result {
    let broken = || {
        let why = "the cubin's sections contradict each other";
        (Status::INVALID_IMAGE, why.to_owned())
    };
    let sections = sections(image).ok_or_else(broken)?;
    if let Some(source) = content(&sections) {
        return Ok(Opened {
            source,
            packed: true,
        });
    }
    let text = sections.iter().find(|s| s.name == ".nv_debug_ptx_txt");
    if let Some(text) = text.filter(|t| !t.bytes.is_empty()) {
        // One string per line.
        let lines = text.bytes.strip_suffix(&[0]).unwrap_or(text.bytes);
        let mut ptx = String::from_utf8_lossy(lines).replace('\0', "\n");
        if !ptx.contains(MANIFEST_SYMBOL)
            && let Some(json) = symbol(&sections, MANIFEST_SYMBOL)
        {
            ptx.push_str(&tilec::ptx::constant(MANIFEST_SYMBOL, &json));
        }
        return Ok(Source::Ptx(ptx).into());
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
fn fatbin(image: &[u8]) -> Result {
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
            Ok(Ok(opened)) => return Ok(opened),
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

#[cfg(test)]
mod tests {
    use super::{Source, open, packed};

    /// An ELF file of one section, and the section of names.
    fn elf(name: &str, bytes: &[u8]) -> Vec<u8> {
        let names = format!("\0{name}\0");
        let headers = 64 + bytes.len() + names.len();
        let mut image = vec![0; 64];
        image[..6].copy_from_slice(b"\x7fELF\x02\x01");
        image[0x28..0x30].copy_from_slice(&(headers as u64).to_le_bytes());
        image[0x3a..0x40].copy_from_slice(&[64, 0, 2, 0, 1, 0]);
        image.extend(bytes);
        image.extend(names.as_bytes());
        for (at, of, length) in [(64, 1u32, bytes.len()), (64 + bytes.len(), 0, names.len())] {
            let mut header = [0; 64];
            header[..4].copy_from_slice(&of.to_le_bytes());
            header[4] = 1;
            header[0x18..0x20].copy_from_slice(&(at as u64).to_le_bytes());
            header[0x20..0x28].copy_from_slice(&(length as u64).to_le_bytes());
            image.extend(header);
        }
        image
    }

    #[test]
    fn what_stands_for_machine_code_is_found() {
        let text = ".version 9.0\n";
        let image = elf(".tilec.ptx", text.as_bytes());
        assert!(matches!(packed(&image), Some(Source::Ptx(found)) if found == text));
        assert!(
            matches!(open(&image), Ok(o) if o.packed && o.source == Source::Ptx(text.to_owned()))
        );
        let image = elf(".tilec.bytecode", b"tile");
        assert!(matches!(packed(&image), Some(Source::Tile(found)) if found == b"tile"));
        let image = elf(".text.kernel", b"code");
        assert!(packed(&image).is_none() && open(&image).is_err());
    }
}
