//! Self-contained attributes: each tag of both containers.

use super::At::In;
use super::binary::{CONSTANT, FUNC, File};
use super::{Case, notes, public};

/// Makes the hints of the function these bytes; they stand at offset 5 of the section.
fn hints(f: &mut File, bytes: &[u8]) {
    f.function.flags = 6;
    f.function.attributes = bytes.to_vec();
}

/// Ends the body within an `assume` whose predicate begins with these bytes, at offset 11.
fn assume(f: &mut File, bytes: &[u8]) {
    f.function.ops[1] = [&[6, 2][..], bytes].concat();
}

/// The notes' container: the constant has this value, at offset 24 of the section.
fn value(f: &mut File, fields: &[u64]) {
    f.constants[0] = f.dictionary(&[("value", f.vars(fields))]);
}

/// The notes' container: an `assume` with these fields after the tag 13, at offset 50.
fn promise(f: &mut File, fields: &[u64], flags: Option<u8>, more: &[u64]) {
    let fields = [
        f.vars(&[13]),
        f.vars(fields),
        flags.into_iter().collect(),
        f.vars(more),
    ]
    .concat();
    f.constants.push(f.dictionary(&[("predicate", fields)]));
    f.function.ops[1] = f.record(6, &[2], &[0], 2);
}

pub const CASES: &[Case] = &[
    public(
        1,
        |f| f.payloads.push((FUNC, vec![1, 0, 3, 6, 0x80, 1])),
        In(FUNC, 6),
        "failed to read AttributeTag for self-contained attribute.",
    ),
    public(
        1,
        |f| hints(f, &[0]),
        In(FUNC, 6),
        "unsupported AttributeTag 0 for self-contained attribute",
    ),
    public(
        1,
        |f| hints(f, &[13]),
        In(FUNC, 6),
        "unsupported AttributeTag 13 for self-contained attribute",
    ),
    public(
        1,
        |f| hints(f, &[1, 1, 0]),
        In(FUNC, 7),
        "failed to read valid IntegerType for IntegerAttr",
    ),
    public(
        1,
        |f| hints(f, &[1, 0, 0x80, 0x80, 0x80, 0x80, 0x20]),
        In(FUNC, 12),
        "value 8589934592 does not fit in 32 bits",
    ),
    public(
        1,
        |f| hints(f, &[2, 0, 0]),
        In(FUNC, 7),
        "failed to read valid FloatType for FloatAttr",
    ),
    public(
        1,
        |f| hints(f, &[2, 8, 0x80, 0x80, 0x10]),
        In(FUNC, 10),
        "failed to cast parsed attribute to FloatAttr",
    ),
    public(
        1,
        |f| hints(f, &[4, 99]),
        In(FUNC, 7),
        "failed to get referenced type for TypeAttr",
    ),
    public(
        1,
        |f| hints(f, &[5, 99]),
        In(FUNC, 7),
        "string index 99 out of bounds",
    ),
    public(
        1,
        |f| hints(f, &[5, 99]),
        In(FUNC, 7),
        "failed to read StringAttr.",
    ),
    public(
        1,
        |f| hints(f, &[6, 99]),
        In(FUNC, 7),
        "failed to read size for ArrayAttr.",
    ),
    public(
        1,
        |f| hints(f, &[6, 1, 50]),
        In(FUNC, 8),
        "failed to parse ArrayAttr element 0",
    ),
    public(
        1,
        |f| hints(f, &[6, 1].repeat(70)),
        In(FUNC, 135),
        "attributes nested deeper than 64",
    ),
    public(
        1,
        |f| hints(f, &[7, 99]),
        In(FUNC, 7),
        "failed to read valid MLIR Type for self-contained DenseElementsAttr",
    ),
    public(
        1,
        |f| hints(f, &[10, 99]),
        In(FUNC, 7),
        "failed to read size for DictionaryAttr",
    ),
    public(
        1,
        |f| hints(f, &[11, 1, 99, 3, 1]),
        In(FUNC, 8),
        "failed to read key for DictionaryAttr element 0",
    ),
    public(
        1,
        |f| hints(f, &[11, 1, 3, 3, 1]),
        In(FUNC, 8),
        "invalid empty attribute name for DictionaryAttr element 0",
    ),
    public(
        1,
        |f| hints(f, &[11, 2, 4, 3, 1, 4, 3, 1]),
        In(FUNC, 11),
        "failed to parse DictionaryAttr, duplicate key found: sm_90",
    ),
    public(
        1,
        |f| hints(f, &[11, 1, 4, 77]),
        In(FUNC, 9),
        "failed to parse DictionaryAttr value for key sm_90",
    ),
    public(
        1,
        |f| assume(f, &[3, 1, 0]),
        In(FUNC, 13),
        "failed to cast parsed attribute to AssumePredicateAttrInterface",
    ),
    public(
        1,
        |f| assume(f, &[]),
        In(FUNC, 11),
        "failed to read AttributeTag for self-contained attribute.",
    ),
    public(
        1,
        |f| assume(f, &[8]),
        In(FUNC, 12),
        "failed to read divisor for DivByAttr",
    ),
    public(
        1,
        |f| assume(f, &[8, 4]),
        In(FUNC, 13),
        "failed to read flags byte for DivByAttr",
    ),
    public(
        1,
        |f| assume(f, &[8, 4, 1]),
        In(FUNC, 14),
        "failed to read value for 'every' in DivByAttr",
    ),
    public(
        1,
        |f| assume(f, &[8, 4, 2]),
        In(FUNC, 14),
        "failed to read value for 'along' in DivByAttr",
    ),
    public(
        1,
        |f| assume(f, &[8, 4, 4, 0]),
        In(FUNC, 14),
        "unknown flags 0x4 of an assume predicate",
    ),
    public(
        1,
        |f| assume(f, &[9, 2]),
        In(FUNC, 13),
        "failed to read DenseI64ArrayAttr for SameElementsAttr",
    ),
    public(
        1,
        |f| assume(f, &[9, 2]),
        In(FUNC, 13),
        "failed to read DenseI64ArrayAttr values.",
    ),
    public(
        1,
        |f| assume(f, &[&[9, 1][..], &i64::MIN.to_le_bytes()].concat()),
        In(FUNC, 21),
        "array contains unsupported value -9223372036854775808",
    ),
    public(
        1,
        |f| assume(f, &[12]),
        In(FUNC, 12),
        "failed to read flags byte for BoundedAttr",
    ),
    public(
        1,
        |f| assume(f, &[12, 1]),
        In(FUNC, 13),
        "failed to read lower bound for BoundedAttr",
    ),
    public(
        1,
        |f| assume(f, &[12, 2]),
        In(FUNC, 13),
        "failed to read upper bound for BoundedAttr",
    ),
    // The notes' thirteen tags.
    notes(
        |f| value(f, &[]),
        In(CONSTANT, 24),
        "failed to read AttributeTag for self-contained attribute.",
    ),
    notes(
        |f| value(f, &[0]),
        In(CONSTANT, 25),
        "unsupported AttributeTag 0 for self-contained attribute",
    ),
    notes(
        |f| value(f, &[14]),
        In(CONSTANT, 25),
        "unsupported AttributeTag 14 for self-contained attribute",
    ),
    notes(
        |f| value(f, &[1, 50]),
        In(CONSTANT, 26),
        "string index 50 out of bounds",
    ),
    notes(
        |f| value(f, &[1, 50]),
        In(CONSTANT, 26),
        "failed to read StringAttr.",
    ),
    notes(
        |f| value(f, &[1]),
        In(CONSTANT, 25),
        "failed to read StringAttr.",
    ),
    notes(
        |f| value(f, &[1, 0]),
        In(CONSTANT, 24),
        "attribute is not of its declared kind",
    ),
    notes(
        |f| value(f, &[2, 0, 0]),
        In(CONSTANT, 26),
        "failed to read valid FloatType for FloatAttr",
    ),
    notes(
        |f| value(f, &[2, 8, 1 << 20]),
        In(CONSTANT, 29),
        "failed to cast parsed attribute to FloatAttr",
    ),
    notes(
        |f| value(f, &[3, 50]),
        In(CONSTANT, 26),
        "failed to get referenced type for TypeAttr",
    ),
    notes(
        |f| value(f, &[4, 0, 50]),
        In(CONSTANT, 27),
        "failed to read valid MLIR Type for self-contained DenseElementsAttr",
    ),
    notes(
        |f| value(f, &[4, 0, 6]),
        In(CONSTANT, 27),
        "failed to read valid MLIR Type for self-contained DenseElementsAttr",
    ),
    notes(
        |f| value(f, &[4, 0, 8, 1, 1 << 18]),
        In(CONSTANT, 31),
        "array contains unsupported value 131072",
    ),
    notes(
        |f| value(f, &[4, 1, 8, 0, 2, 0, 0]),
        In(CONSTANT, 29),
        "2 elements for a shape of Some(4)",
    ),
    notes(
        |f| value(f, &[5, 0]),
        In(CONSTANT, 26),
        "failed to read number of string attrs in DenseElementsAttr",
    ),
    notes(
        |f| value(f, &[5, 0, 1, 9]),
        In(CONSTANT, 28),
        "failed to read string in DenseElementsAttr",
    ),
    notes(
        |f| value(f, &[7, 9]),
        In(CONSTANT, 26),
        "failed to read DenseI64ArrayAttr values.",
    ),
    notes(
        |f| value(f, &[8, 9]),
        In(CONSTANT, 26),
        "failed to read DenseI64ArrayAttr values.",
    ),
    notes(
        |f| promise(f, &[3, 0], None, &[]),
        In(CONSTANT, 51),
        "unsupported AttributeTag 3 for self-contained attribute",
    ),
    notes(
        |f| promise(f, &[6], None, &[]),
        In(CONSTANT, 51),
        "failed to read divisor for DivByAttr",
    ),
    notes(
        |f| promise(f, &[6, 4], None, &[]),
        In(CONSTANT, 52),
        "failed to read flags byte for DivByAttr",
    ),
    notes(
        |f| promise(f, &[6, 4], Some(2), &[]),
        In(CONSTANT, 53),
        "failed to read value for 'every' in DivByAttr",
    ),
    notes(
        |f| promise(f, &[6, 4], Some(4), &[]),
        In(CONSTANT, 53),
        "failed to read value for 'along' in DivByAttr",
    ),
    notes(
        |f| promise(f, &[9, 7], None, &[]),
        In(CONSTANT, 52),
        "failed to read DenseI64ArrayAttr for SameElementsAttr",
    ),
    notes(
        |f| promise(f, &[10], None, &[]),
        In(CONSTANT, 51),
        "failed to read flags byte for BoundedAttr",
    ),
    notes(
        |f| promise(f, &[10], Some(2), &[1]),
        In(CONSTANT, 52),
        "failed to read flags byte for BoundedAttr",
    ),
    notes(
        |f| promise(f, &[10], Some(1), &[]),
        In(CONSTANT, 52),
        "failed to read lower bound for BoundedAttr",
    ),
    notes(
        |f| promise(f, &[11], Some(2), &[]),
        In(CONSTANT, 52),
        "failed to read upper bound for BoundedAttr",
    ),
    notes(
        |f| promise(f, &[12], Some(3), &[]),
        In(CONSTANT, 52),
        "failed to read lower bound for BoundedAttr",
    ),
    notes(
        |f| promise(f, &[12], Some(3), &[2]),
        In(CONSTANT, 53),
        "failed to read upper bound for BoundedAttr",
    ),
];
