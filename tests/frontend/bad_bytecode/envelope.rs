//! Headers, section headers, tables of strings and constants.

use super::At::{File as Start, In, Nowhere};
use super::binary::{CONSTANT, DEBUG, FUNC, GLOBAL, PRODUCER, STRING, TYPE};
use super::{Case, notes, public};

const MAGIC: &[u8] = b"\x7FTileIR\0";
const NOTES: &[u8] = b"\x06\x03\x80Tile\0";

fn header(rest: &[u8]) -> Option<Vec<u8>> {
    Some([MAGIC, rest].concat())
}

pub const CASES: &[Case] = &[
    // Magic and version.
    public(
        1,
        |f| f.header = Some(b"\x7FTiXeIR\0\x0D\x01\0\0".to_vec()),
        Start(4),
        "invalid magic number at position 3, got 88 expected 108",
    ),
    public(
        1,
        |f| f.patch = |b| b.truncate(5),
        Start(5),
        "failed to read magic",
    ),
    public(
        1,
        |f| f.patch = |b| b.truncate(9),
        Start(9),
        "failed to parse bytecode header",
    ),
    public(
        1,
        |f| f.header = header(&[12, 9, 0, 0]),
        Start(12),
        "unsupported Tile version 12.9.0, this reader supports versions [13.1 - 13.5]",
    ),
    public(
        1,
        |f| f.header = header(&[13, 0, 0, 0]),
        Start(12),
        "unsupported Tile version 13.0.0",
    ),
    public(
        1,
        |f| f.header = header(&[13, 6, 0, 0]),
        Start(12),
        "unsupported Tile version 13.6.0",
    ),
    public(
        1,
        |f| f.header = header(&[14, 1, 2, 0]),
        Start(12),
        "unsupported Tile version 14.1.2",
    ),
    public(
        5,
        |f| f.header = header(&[13, 5, 1, 0]),
        Start(12),
        "public-preview bytecode requires at least one enabled preview feature",
    ),
    public(
        5,
        |f| f.header = header(&[13, 5, 2, 0]),
        Start(12),
        "header has unrecognized version tag bits (0x2);",
    ),
    public(
        1,
        |f| f.header = Some(b"ML\xEFR\x01".to_vec()),
        Start(0),
        "upstream MLIR bytecode",
    ),
    notes(
        |f| f.header = Some(b"\x06\x03\x80Tile\nMLIR".to_vec()),
        Start(0),
        "upstream MLIR bytecode",
    ),
    notes(
        |f| f.header = Some(b"\x06\x03\x80TILE\0".to_vec()),
        Start(5),
        "invalid magic number at position 4, got 73 expected 105",
    ),
    notes(
        |f| f.patch = |b| b.truncate(6),
        Start(6),
        "failed to read magic",
    ),
    notes(
        |f| f.patch = |b| b.truncate(8),
        Start(8),
        "failed to read major",
    ),
    notes(
        |f| f.patch = |b| b.truncate(9),
        Start(9),
        "failed to read minor",
    ),
    notes(
        |f| f.header = Some([NOTES, &f.vars(&[13, 2, 0])].concat()),
        Start(11),
        "unsupported Tile version 13.2.0, this reader supports versions [13.1, 13.1]",
    ),
    notes(
        |f| {
            f.patch = |b| {
                b.truncate(10);
                b[9] = 4;
            }
        },
        Start(10),
        "unsupported Tile version 13.2, this reader supports versions [13.1, 13.1]",
    ),
    notes(
        |f| f.header = Some([NOTES, &f.vars(&[12, 1, 7])].concat()),
        Start(11),
        "unsupported Tile version 12.1.7",
    ),
    notes(
        |f| f.patch = |b| b[13] = b'C',
        Start(12),
        "unregistered dialect: Cuda_tile",
    ),
    // Section headers.
    public(
        1,
        |f| f.payloads.push((9, vec![1])),
        In(STRING, 37),
        "unknown section ID: 9",
    ),
    public(
        1,
        |f| f.payloads.extend([(GLOBAL, vec![0]), (GLOBAL, vec![0])]),
        In(GLOBAL, 1),
        "section 6 occurs twice",
    ),
    public(
        1,
        |f| {
            f.patch = |b| {
                b.pop();
                b.push(0x80);
            }
        },
        In(STRING, 37),
        "end section should not have alignment flag set",
    ),
    public(
        1,
        |f| f.patch = |b| b.push(0),
        In(STRING, 37),
        "end section is not the last section",
    ),
    public(
        1,
        |f| {
            f.patch = |b| {
                b.pop();
            }
        },
        In(STRING, 36),
        "unexpected end of data while reading section header",
    ),
    public(
        1,
        |f| {
            f.patch = |b| {
                b.insert(14, 1);
                b[13] = 0xFF;
            }
        },
        Start(15),
        "section length 255 exceeds remaining data size",
    ),
    public(
        1,
        |f| f.patch = |b| b[14] = 6,
        Start(15),
        "invalid alignment value: 6",
    ),
    public(
        1,
        |f| f.patch = |b| b[14] = 0,
        Start(15),
        "invalid alignment value: 0",
    ),
    public(
        1,
        |f| f.patch = |b| b[14] = 4,
        Start(15),
        "section 2 must have alignment that is a multiple of 8 bytes, but has alignment of 4",
    ),
    public(
        1,
        |f| f.patch = |b| b[12] = 2,
        Start(14),
        "section 2 must have alignment that is a multiple of 8 bytes, but has no alignment flag set",
    ),
    public(
        1,
        |f| {
            f.patch = |b| {
                b[13] |= 0x80;
                b.insert(14, 0);
            }
        },
        Start(13),
        "non-canonical VarInt",
    ),
    public(
        1,
        |f| {
            f.patch = |b| {
                b.splice(13..14, [0xFF; 10]);
            }
        },
        Start(13),
        "over-long VarInt",
    ),
    public(
        1,
        |f| f.without.push(STRING),
        Nowhere,
        "string section is mandatory",
    ),
    public(
        1,
        |f| f.without.push(FUNC),
        Nowhere,
        "function section is mandatory",
    ),
    notes(
        |f| f.without.push(STRING),
        Nowhere,
        "string section is mandatory",
    ),
    notes(
        |f| f.without.push(FUNC),
        Nowhere,
        "function section is mandatory",
    ),
    notes(
        |f| f.payloads.push((PRODUCER, vec![0])),
        Start(143),
        "unknown section ID: 7",
    ),
    notes(
        |f| f.payloads.extend([(GLOBAL, vec![0]), (GLOBAL, vec![0])]),
        Start(143),
        "section 6 occurs twice",
    ),
    notes(
        |f| f.patch = |b| b[23 + 24 * 4 + 20] = 1,
        Start(119),
        "end section should not have alignment flag set",
    ),
    notes(
        |f| f.patch = |b| b.push(0),
        Start(119),
        "end section is not the last section",
    ),
    notes(
        |f| f.patch = |b| b[23 + 12 + 1] = 0xFF,
        Start(23),
        "section length",
    ),
    notes(
        |f| f.patch = |b| b[23 + 20] = 6,
        Start(23),
        "invalid alignment value: 6",
    ),
    notes(
        |f| f.patch = |b| b[23 + 4] += 4,
        Start(23),
        "is not aligned to 8",
    ),
    notes(
        |f| {
            f.patch = |b| {
                let own = b[23 + 4..23 + 12].to_vec();
                b[47 + 4..47 + 12].copy_from_slice(&own);
            }
        },
        Start(47),
        "sections 2 and 4 overlap",
    ),
    notes(
        |f| f.patch = |b| b[23 + 12] -= 1,
        Start(147),
        "header of section 2 disagrees with its descriptor",
    ),
    notes(
        |f| f.patch = |b| b[23] = 0x21,
        Start(47),
        "unknown section ID: 33",
    ),
    notes(
        |f| f.patch = |b| b.truncate(41),
        Start(35),
        "failed to read section descriptor",
    ),
    notes(
        |f| {
            f.patch = |b| {
                b[8] = 0x35;
                b.insert(9, 0);
            }
        },
        Start(8),
        "non-canonical VarInt",
    ),
    // Tables.
    public(
        1,
        |f| f.payloads.push((STRING, vec![0x7F])),
        In(STRING, 1),
        "number of strings (127) exceeds the maximum of 0 that can fit",
    ),
    public(
        1,
        |f| {
            f.payloads.push((
                STRING,
                [
                    &[2, 0xCB, 0xCB, 0xCB, 5, 0, 0, 0, 1, 0, 0, 0][..],
                    b"abcdef",
                ]
                .concat(),
            ))
        },
        In(STRING, 12),
        "invalid start indices of strings: end (1) is less than start (5) for item 0",
    ),
    public(
        1,
        |f| {
            f.payloads.push((
                STRING,
                [
                    &[2, 0xCB, 0xCB, 0xCB, 0, 0, 0, 0, 9, 0, 0, 0][..],
                    b"abcdef",
                ]
                .concat(),
            ))
        },
        In(STRING, 12),
        "item 0 of strings extends beyond available data: start=0, end=9, total data size=6",
    ),
    public(
        1,
        |f| f.strings[1] = vec![0xFF],
        In(STRING, 25),
        "string 1 is not valid UTF-8",
    ),
    public(
        1,
        |f| f.payloads.push((TYPE, vec![0xFF, 0xFF, 0x03])),
        In(TYPE, 3),
        "failed to parse type section",
    ),
    public(
        1,
        |f| f.payloads.push((CONSTANT, vec![0x40])),
        In(CONSTANT, 1),
        "failed to parse constant section",
    ),
    public(
        1,
        |f| f.payloads.push((DEBUG, vec![0x40])),
        In(DEBUG, 1),
        "failed to parse debug section",
    ),
    public(
        1,
        |f| f.payloads.push((GLOBAL, vec![0x40])),
        In(GLOBAL, 1),
        "number of globals (64) exceeds the maximum",
    ),
    public(
        1,
        |f| f.payloads.push((FUNC, vec![0x40])),
        In(FUNC, 1),
        "number of functions (64) exceeds the maximum",
    ),
    public(
        3,
        |f| f.payloads.push((PRODUCER, vec![99])),
        In(PRODUCER, 1),
        "failed to parse producer section",
    ),
    notes(
        |f| f.payloads.push((STRING, vec![0x7E])),
        In(STRING, 1),
        "number of strings (63) exceeds the maximum of 0 that can fit",
    ),
    notes(
        |f| f.payloads.push((CONSTANT, vec![0x7E])),
        In(CONSTANT, 1),
        "failed to parse constant section",
    ),
];
