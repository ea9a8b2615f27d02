//! The container of the notes: what they say, and the reading chosen where they contradict
//! themselves.
//!
//! A shipped Tile IR assembler was described by others; their text defines a container of its own,
//! close to the public one and not mixed with it. Only version 13.1.x exists. This file has the
//! envelope; the sections are read and written in `read/notes` and `write/notes`.
//!
//! ```text
//! file     ::= magic version dialects descriptor* end-descriptor section* end-marker
//! version  ::= major:varint minor:varint patch:varint
//! dialects ::= count:varint (length:varint name:bytes op-count:varint)*
//! descriptor ::= kind:u8 pad:u8[3] offset:u64 length:u64 alignment:u32      -- 24 bytes, packed
//! section  ::= id|0x80:u8 length:varint alignment:varint padding payload
//! function ::= name type flags:u8 location hints? body-length region
//! record   ::= opcode location:signed results operand-count operands dictionary regions
//! ```
//!
//! | where the notes disagree | reading |
//! |---|---|
//! | integers: a prefix form, and "LEB128" | the prefix form ([`super::prefix`]), for everything they call a VarInt, `uleb128` or a tag; "signed" is zig-zag over it |
//! | the patch is an optional VarInt, but something always follows the version | absent only where the input ends there: the version error then names two numbers |
//! | sections are found by their headers, or by descriptors | both are written; descriptors are followed, and a header that disagrees is refused |
//! | the length in a header covers the payload alone, or alignment and padding as well | header: alignment, padding and payload; descriptor: payload |
//! | descriptors have no count | they end with the one of the end section, whose offset is the last byte of the file |
//! | a descriptor is "24 bytes", a C compiler would make it 32 | packed |
//! | sections STRING, TYPE, CONSTANT, FUNC, GLOBAL, DEBUG by number, but ATTRIBUTE, IR, RESOURCE, DIALECT by name | ATTRIBUTE is the constant section, IR is globals and functions, the dialect list stands in the envelope, resources do not exist |
//! | a location of −1 is the byte `7F`, which zig-zag decodes to −64 | zig-zag; −1 and −64 are both the unknown location, −1 is written |
//! | a location names a debug attribute, or a slot of the function's locations | a slot: the debug section has per function the start of its slots, and per slot an attribute |
//! | a function's location is unsigned | 0 is none, else a debug attribute plus one |
//! | 13 attribute tags, without integer, bool, array, dictionary and hints, "which arrive by another path" | the declared kind of an attribute says which path: strings, symbols, floats, types, tiles, arrays of integers and assumptions are self-contained with the 13 tags, all others are encoded as in the public container, whose tags are the notes' column "upstream" |
//! | the dictionary of a record is a reference into the attribute table, 0 if empty | entry of the constant section plus one; names in it are stored in line, as dialect names are |
//! | a record has one operand count, but groups of operands may be optional | such operations carry MLIR's `operandSegmentSizes` |
//! | bodies are "regions" | a function's body is one region, of one block |
//! | `DenseI64ArrayAttr` has two layouts that differ in memory only | one encoding; A is written, both are read |
//! | a float is a type and an f64, or an arbitrary-precision number | type and bits, zig-zag |
//! | tag 13 is a "packed predicate" | a self-contained attribute of tags 6, 9, 10, 11 or 12 inside |
//! | the flags of `DivByAttr` | bit 0 (verification of the assumption) is ignored, 1 `every`, 2 `along`, as in the specification |
//! | the three bounded tags also have a flags byte | bit 0 lower, bit 1 upper bound present; a tag reads only the bounds it is for |
//! | `f8E8M0FNU` has an extension payload, or none | none |
//! | the file of a `DILocAttr` is a reference, but fails as a file name | a string, as in the public container |
//! | `DICompileUnitAttr` has a producer | that of the module: a string counted from 1, 0 if it is unknown |
//! | debug references count from 0, so that nothing can be left out | no reference is optional but `inlined-at`, which counts from 1 |

use super::container::{Container, SectionId, magic};
use super::cursor::Cursor;
use super::{Context, Format, Result};
use crate::dialect::Version;

/// First bytes of the container.
pub const MAGIC: [u8; 8] = *b"\x06\x03\x80Tile\0";
/// The first three of them, which the notes say all MLIR bytecode shares.
pub(super) const FRAMING: [u8; 3] = *b"\x06\x03\x80";
/// What upstream's files begin with, according to the notes.
const UPSTREAM: [u8; 12] = *b"\x06\x03\x80Tile\nMLIR";
/// The only version.
pub const VERSION: Version = Version::V13_1;
/// The only dialect.
pub(super) const DIALECT: &str = "cuda_tile";
/// Bytes of a section descriptor.
pub(super) const DESCRIPTOR: usize = 24;

/// The name under which operations with several operand groups carry the sizes of these.
pub(super) const SEGMENTS: &str = "operandSegmentSizes";

/// Tags of self-contained attributes.
pub(super) mod tag {
    pub const STRING: u64 = 1;
    pub const FLOAT: u64 = 2;
    pub const TYPE: u64 = 3;
    pub const DENSE: u64 = 4;
    pub const DENSE_STRINGS: u64 = 5;
    pub const DIV_BY: u64 = 6;
    pub const I64S_A: u64 = 7;
    pub const I64S_B: u64 = 8;
    pub const SAME_ELEMENTS: u64 = 9;
    pub const BOUNDED_BELOW: u64 = 10;
    pub const BOUNDED_ABOVE: u64 = 11;
    pub const BOUNDED: u64 = 12;
    pub const ASSUME: u64 = 13;
}

/// Tags of debug attributes; 0 and all others are refused.
pub(super) mod debug_tag {
    pub const COMPILE_UNIT: u64 = 1;
    pub const FILE: u64 = 2;
    pub const LEXICAL_BLOCK: u64 = 3;
    pub const LOC: u64 = 4;
    pub const SUBPROGRAM: u64 = 5;
    pub const CALL_SITE: u64 = 6;
}

/// Opcodes that the table leaves out: 25 to 36 and 52 to 57; 109 is the last.
pub fn is_reserved(opcode: u64) -> bool {
    matches!(opcode, 25..=36 | 52..=57 | 110..)
}

/// Whether the data begins as upstream MLIR bytecode does in the notes' account.
pub(super) fn is_upstream(data: &[u8]) -> bool {
    data.starts_with(&UPSTREAM)
}

/// Where a descriptor says that a payload lies.
struct Descriptor {
    id: SectionId,
    offset: u64,
    length: u64,
    alignment: u32,
}

/// Takes a file apart.
pub(super) fn envelope(data: &[u8]) -> Result<Container<'_>> {
    let mut c = Cursor::new(data, Format::Notes);
    header(&mut c).context(|| "failed to parse bytecode header".into())?;
    let descriptors = descriptors(&mut c, data)?;
    let mut sections = [const { None }; 8];
    for d in &descriptors {
        let whole = Cursor::new(data, Format::Notes);
        // Both were checked to lie in the file.
        sections[d.id as usize] = whole.slice(d.offset as usize, (d.offset + d.length) as usize);
    }
    headers(&mut c, &descriptors).context(|| "failed to parse section header".into())?;
    Ok(Container {
        format: Format::Notes,
        version: VERSION,
        sections,
    })
}

fn header(c: &mut Cursor) -> Result<()> {
    magic(c, MAGIC)?;
    let major = c.varint().context(|| "failed to read major".into())?;
    let minor = c.varint().context(|| "failed to read minor".into())?;
    let patch = match c.is_empty() {
        true => None,
        false => Some(c.varint()?),
    };
    if (major, minor) != (13, 1) {
        let patch = patch.map_or(String::new(), |p| format!(".{p}"));
        return Err(c.error(format!(
            "unsupported Tile version {major}.{minor}{patch}, this reader supports versions [13.1, 13.1]"
        )));
    }
    let dialects = c.count(2, "dialects")?;
    for _ in 0..dialects {
        let at = c.clone();
        let name = string(c)?;
        if name != DIALECT {
            return Err(at.error(format!("unregistered dialect: {name}")));
        }
        c.varint()?;
    }
    Ok(())
}

/// A string in line: its length, its bytes.
pub(super) fn string<'a>(c: &mut Cursor<'a>) -> Result<&'a str> {
    let at = c.clone();
    let len = c.count(1, "string bytes")?;
    std::str::from_utf8(c.bytes(len)?).map_err(|_| at.error("string is not valid UTF-8"))
}

/// The descriptors before that of the end section, each checked by itself and against the others.
fn descriptors(c: &mut Cursor, data: &[u8]) -> Result<Vec<Descriptor>> {
    let mut found: Vec<Descriptor> = Vec::new();
    loop {
        let at = c.clone();
        let d = descriptor(c).context(|| "failed to read section descriptor".into())?;
        let refuse = |message: String| Err(at.error(message));
        if d.id == SectionId::End {
            if d.alignment != 0 {
                return refuse("end section should not have alignment flag set".into());
            }
            if d.offset != data.len() as u64 - 1 || data.last() != Some(&0) {
                return refuse("end section is not the last section".into());
            }
            return Ok(found);
        }
        let end = d.offset.checked_add(d.length);
        if end.is_none_or(|end| end >= data.len() as u64) {
            return refuse(format!(
                "section length {} exceeds remaining data size {}",
                d.length,
                (data.len() as u64).saturating_sub(d.offset)
            ));
        }
        if !d.alignment.is_power_of_two() {
            return refuse(format!("invalid alignment value: {}", d.alignment));
        }
        if d.offset % u64::from(d.alignment) != 0 {
            return refuse(format!(
                "section {} at {} is not aligned to {}",
                d.id as u8, d.offset, d.alignment
            ));
        }
        for other in &found {
            if other.id == d.id {
                return refuse(format!("section {} occurs twice", d.id as u8));
            }
            let apart =
                other.offset + other.length <= d.offset || d.offset + d.length <= other.offset;
            if !apart {
                return refuse(format!(
                    "sections {} and {} overlap",
                    other.id as u8, d.id as u8
                ));
            }
        }
        found.push(d);
    }
}

fn descriptor(c: &mut Cursor) -> Result<Descriptor> {
    let kind = c.u8()?;
    c.bytes(3)?;
    let (offset, length, alignment) = (c.u64()?, c.u64()?, c.u32()?);
    let id = SectionId::ALL.get(usize::from(kind)).copied();
    match id.filter(|id| *id != SectionId::Producer) {
        Some(id) => Ok(Descriptor {
            id,
            offset,
            length,
            alignment,
        }),
        None => Err(c.error(format!("unknown section ID: {kind}"))),
    }
}

/// Reads the section headers after the descriptors and compares the two.
fn headers(c: &mut Cursor, descriptors: &[Descriptor]) -> Result<()> {
    let mut seen = 0;
    loop {
        let byte = c.u8()?;
        if byte & 0x7F == 0 {
            return match (byte, c.remaining(), seen == descriptors.len()) {
                (0, 0, true) => Ok(()),
                (0, 0, false) => Err(c.error("a section descriptor has no section")),
                (0, ..) => Err(c.error("end section is not the last section")),
                _ => Err(c.error("end section should not have alignment flag set")),
            };
        }
        let length = c
            .varint()
            .context(|| "failed to read section length".into())?;
        if length > c.remaining() as u64 {
            return Err(c.error(format!(
                "section length {length} exceeds remaining data size {}",
                c.remaining()
            )));
        }
        let end = c.offset() + length as usize;
        let alignment = match byte & 0x80 {
            0 => 1,
            _ => c.varint()?,
        };
        let agrees = descriptors.iter().any(|d| {
            d.id as u8 == byte & 0x7F
                && u64::from(d.alignment) == alignment
                && d.offset >= c.offset() as u64
                && d.offset + d.length == end as u64
        });
        if !agrees {
            return Err(c.error(format!(
                "header of section {} disagrees with its descriptor",
                byte & 0x7F
            )));
        }
        seen += 1;
        let rest = end.saturating_sub(c.offset());
        c.bytes(rest)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::cuda_tile;

    /// The notes' table: mnemonics of opcodes 0 to 109 in order, without the two holes. Three have
    /// had other names since.
    const MNEMONICS: &str = "absf absi addf addi andi assert assume atomic_cas_tko atomic_rmw_tko \
        bitcast break broadcast cat ceil cmpf cmpi constant continue cos cosh divf divi entry exp \
        exp2 exti extract floor fma for ftof ftoi get_global get_index_space_shape \
        get_num_tile_blocks get_tensor_shape get_tile_block_id global if int_to_ptr iota itof \
        join_tokens load_ptr_tko load_view_tko log log2 loop make_partition_view make_tensor_view \
        make_token maxf maxi minf mini mmaf mmai module mulf mulhii muli negf negi offset ori \
        permute pow print ptr_to_int ptr_to_ptr reduce remf remi reshape return rsqrt scan select \
        shli shri sin sinh sqrt store_ptr_tko store_view_tko subf subi tan tanh trunci xori yield";

    #[test]
    fn the_opcode_table_is_that_of_the_notes() {
        let theirs = (0..110)
            .filter(|&code| !is_reserved(code))
            .zip(MNEMONICS.split_whitespace());
        let mut count = 0;
        for (code, name) in theirs {
            let ours = cuda_tile::TABLE
                .iter()
                .find(|row| row.opcode.map(u64::from) == Some(code));
            let ours = ours.map_or("", |row| row.name);
            let renamed = [("pow", "fpowf"), ("print", "print_tko")];
            assert!(
                ours == name || renamed.contains(&(name, ours)),
                "{code}: {name}, {ours}"
            );
            count += 1;
        }
        assert_eq!(count, 110 - 12 - 6);
        assert_eq!(MNEMONICS.split_whitespace().count(), count);
        let assigned = |code| {
            cuda_tile::TABLE
                .iter()
                .any(|r| r.opcode.map(u64::from) == Some(code))
        };
        assert!((0..110).all(|code| assigned(code) != is_reserved(code)));
    }
}
