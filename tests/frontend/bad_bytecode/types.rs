//! The type section: each tag, each version rule.

use super::At::In;
use super::binary::{File, TYPE};
use super::{Case, notes, public};

/// Replaces type 2, which the function uses; it stands at offset 42 of the section.
fn second(f: &mut File, bytes: &[u8]) {
    f.types[2] = bytes.to_vec();
}

/// A number of elements and so many of four bytes.
fn words(values: &[i32]) -> Vec<u8> {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes());
    std::iter::once(values.len() as u8).chain(bytes).collect()
}

fn longs(values: &[i64]) -> Vec<u8> {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes());
    std::iter::once(values.len() as u8).chain(bytes).collect()
}

pub const CASES: &[Case] = &[
    public(
        5,
        |f| second(f, &[99]),
        In(TYPE, 43),
        "unknown type tag: 99",
    ),
    public(
        1,
        |f| second(f, &[18]),
        In(TYPE, 43),
        "type tag 18 is not available in bytecode version 13.1 (since 13.2)",
    ),
    public(
        2,
        |f| second(f, &[19]),
        In(TYPE, 43),
        "type tag 19 is not available in bytecode version 13.2 (since 13.3)",
    ),
    public(
        2,
        |f| second(f, &[22]),
        In(TYPE, 43),
        "type tag 22 is not available in bytecode version 13.2 (since 13.3)",
    ),
    public(
        3,
        |f| second(f, &[0x82, 1]),
        In(TYPE, 44),
        "type tag 130 is not available in bytecode version 13.3 (since 13.4)",
    ),
    public(
        2,
        |f| second(f, &[20]),
        In(TYPE, 43),
        "type tag 20 is not available in bytecode version 13.2 (since 13.3)",
    ),
    public(
        2,
        |f| second(f, &[21]),
        In(TYPE, 43),
        "type tag 21 is not available in bytecode version 13.2 (since 13.3)",
    ),
    public(
        1,
        |f| second(f, &[]),
        In(TYPE, 42),
        "unexpected end of data",
    ),
    public(
        1,
        |f| second(f, &[12, 99]),
        In(TYPE, 44),
        "type index 99 out of bounds",
    ),
    public(
        1,
        |f| second(f, &[12, 2]),
        In(TYPE, 42),
        "type 2 refers to itself",
    ),
    public(
        1,
        |f| second(f, &[13, 77, 0]),
        In(TYPE, 44),
        "type index 77 out of bounds",
    ),
    public(
        1,
        |f| second(f, &[13, 0, 3]),
        In(TYPE, 45),
        "number of elements (3) exceeds the maximum of 0",
    ),
    public(
        1,
        |f| second(f, &[&[13, 0][..], &longs(&[-4])].concat()),
        In(TYPE, 53),
        "all dimensions must be positive constants, got -4",
    ),
    public(
        1,
        |f| second(f, &[&[13, 0][..], &longs(&[0])].concat()),
        In(TYPE, 53),
        "all dimensions must be positive constants, got 0",
    ),
    public(
        1,
        |f| second(f, &[&[14, 1][..], &longs(&[4]), &[1]].concat()),
        In(TYPE, 54),
        "number of elements (1) exceeds the maximum of 0",
    ),
    public(
        1,
        |f| second(f, &[&[15][..], &words(&[4]), &[77]].concat()),
        In(TYPE, 49),
        "type index 77 out of bounds",
    ),
    public(
        1,
        |f| {
            second(
                f,
                &[&[15][..], &words(&[4]), &[0], &words(&[0]), &[2]].concat(),
            )
        },
        In(TYPE, 55),
        "invalid presence byte for optional attribute: 2",
    ),
    public(
        1,
        |f| {
            second(
                f,
                &[&[15][..], &words(&[4]), &[0], &words(&[0]), &[1, 9]].concat(),
            )
        },
        In(TYPE, 56),
        "invalid integer value for enum type: 9",
    ),
    public(
        3,
        |f| second(f, &[15, 2]),
        In(TYPE, 44),
        "unknown optional type parameters (flags 0x2)",
    ),
    public(
        4,
        |f| second(f, &[12, 4]),
        In(TYPE, 44),
        "unknown optional type parameters (flags 0x4)",
    ),
    public(
        4,
        |f| second(f, &[12, 1, 1, 7]),
        In(TYPE, 46),
        "invalid integer value for enum type: 7",
    ),
    public(
        4,
        |f| second(f, &[12, 1, 1, 2]),
        In(TYPE, 46),
        "enum value 2 is not available in bytecode version 13.4",
    ),
    public(
        4,
        |f| second(f, &[14, 8]),
        In(TYPE, 44),
        "unknown optional type parameters (flags 0x8)",
    ),
    public(
        3,
        |f| {
            second(
                f,
                &[
                    &[20, 0][..],
                    &words(&[4]),
                    &[0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
                ]
                .concat(),
            )
        },
        In(TYPE, 55),
        "sparse dimension 4294967295 out of range",
    ),
    public(
        3,
        |f| second(f, &[&[20, 1][..], &words(&[4]), &[0, 0, 8]].concat()),
        In(TYPE, 52),
        "invalid integer value for enum type: 8",
    ),
    public(
        3,
        |f| second(f, &[&[21, 0][..], &words(&[4]), &[9]].concat()),
        In(TYPE, 50),
        "number of elements (9) exceeds the maximum of 0",
    ),
    public(
        1,
        |f| second(f, &[16, 9]),
        In(TYPE, 44),
        "number of parameters (9) exceeds the maximum of 0",
    ),
    public(
        1,
        |f| second(f, &[16, 1, 88, 0]),
        In(TYPE, 45),
        "type index 88 out of bounds",
    ),
    public(
        1,
        |f| second(f, &[16, 0, 5]),
        In(TYPE, 45),
        "number of results (5) exceeds the maximum of 0",
    ),
    public(
        1,
        |f| {
            f.types[2] = vec![12, 9];
            f.types.extend((9u8..100).map(|i| vec![12, i + 1]));
        },
        In(TYPE, 554),
        "types nested deeper than 64",
    ),
    notes(
        |f| f.types[2] = f.var(19),
        In(TYPE, 43),
        "unknown type tag: 19",
    ),
    notes(
        |f| f.types[2] = f.vars(&[12, 60]),
        In(TYPE, 44),
        "type index 60 out of bounds",
    ),
    notes(
        |f| f.types[2] = f.vars(&[12, 2]),
        In(TYPE, 42),
        "type 2 refers to itself",
    ),
    notes(
        |f| f.types[2] = [f.vars(&[13, 0, 1]), f.signed(-4)].concat(),
        In(TYPE, 44),
        "all dimensions must be positive constants, got -4",
    ),
    notes(
        |f| f.types[2] = f.vars(&[14, 1, 5]),
        In(TYPE, 45),
        "number of elements (5) exceeds the maximum of 0",
    ),
    notes(
        |f| f.types[2] = [f.vars(&[15, 0, 1]), f.signed(1 << 40)].concat(),
        In(TYPE, 51),
        "array contains unsupported value 1099511627776",
    ),
    notes(
        |f| f.types[2] = [f.vars(&[15, 0, 1, 8, 1, 0]), vec![9]].concat(),
        In(TYPE, 49),
        "invalid integer value for enum type: 8",
    ),
    notes(
        |f| f.types[2] = f.vars(&[16, 1, 50, 0]),
        In(TYPE, 45),
        "type index 50 out of bounds",
    ),
];
