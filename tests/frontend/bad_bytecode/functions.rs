//! Functions, globals, operations, regions.

use super::At::In;
use super::binary::{CONSTANT, FUNC, File, GLOBAL};
use super::{Case, notes, public};

/// Replaces the constant by other bytes; they stand at offset 6 of the section (8 in 13.5).
fn first(f: &mut File, bytes: &[u8]) {
    f.function.ops[0] = bytes.to_vec();
}

/// Puts bytes after the constant.
fn then(f: &mut File, bytes: &[u8]) {
    f.function.ops.insert(1, bytes.to_vec());
}

pub const CASES: &[Case] = &[
    public(
        1,
        |f| f.function.name = 99,
        In(FUNC, 2),
        "string index 99 out of bounds",
    ),
    public(
        1,
        |f| f.function.name = 3,
        In(FUNC, 2),
        "function name is empty",
    ),
    public(
        1,
        |f| f.function.signature = 99,
        In(FUNC, 3),
        "failed to parse signature of function 'k'",
    ),
    public(
        1,
        |f| f.function.signature = 0,
        In(FUNC, 3),
        "function signature index does not refer to a function type for function 'k'",
    ),
    public(
        1,
        |f| f.function.flags = 0x12,
        In(FUNC, 4),
        "unknown flags 0x10 of function 'k'",
    ),
    public(
        5,
        |f| f.function.flags = 0x06,
        In(FUNC, 4),
        "unknown flags 0x4 of function 'k'",
    ),
    public(
        1,
        |f| f.function.flags = 0,
        In(FUNC, 5),
        "un-expected non-entry function 'k'",
    ),
    public(
        1,
        |f| f.function.location = 7,
        In(FUNC, 6),
        "function location index 7 out of bounds",
    ),
    public(
        1,
        |f| f.function.excess = 1,
        In(FUNC, 6),
        "function body length 7 exceeds remaining bytecode data (6 bytes)",
    ),
    public(
        1,
        |f| {
            f.payloads.push((
                FUNC,
                [&f.vars(&[1, 0, 3])[..], &[2, 0, 3, 92, 0, 0, 7]].concat(),
            ))
        },
        In(FUNC, 9),
        "1 bytes after the last function of its section",
    ),
    public(
        1,
        |f| {
            f.function.flags = 6;
            f.function.attributes = vec![3, 1];
        },
        In(FUNC, 7),
        "invalid optimization hints attribute for function",
    ),
    public(
        5,
        |f| f.function.attributes = vec![11, 0, 3, 1],
        In(FUNC, 9),
        "invalid argument attributes for function",
    ),
    // Operations.
    public(
        1,
        |f| first(f, &[25]),
        In(FUNC, 7),
        "unknown or unimplemented opcode: 25",
    ),
    public(
        1,
        |f| first(f, &[57]),
        In(FUNC, 7),
        "unknown or unimplemented opcode: 57",
    ),
    public(
        5,
        |f| first(f, &[126]),
        In(FUNC, 11),
        "unknown or unimplemented opcode: 126",
    ),
    public(
        1,
        |f| f.function.ops = vec![vec![0x80]],
        In(FUNC, 7),
        "failed to read operation opcode.",
    ),
    public(
        1,
        |f| first(f, &[110, 4, 0, 0]),
        In(FUNC, 7),
        "unsupported opcode 110 for bytecode version 13.1",
    ),
    public(
        2,
        |f| first(f, &[114]),
        In(FUNC, 7),
        "unsupported opcode 114 for bytecode version 13.2",
    ),
    public(
        3,
        |f| first(f, &[118]),
        In(FUNC, 7),
        "unsupported opcode 118 for bytecode version 13.3",
    ),
    public(
        4,
        |f| first(f, &[123]),
        In(FUNC, 7),
        "unsupported opcode 123 for bytecode version 13.4",
    ),
    public(
        1,
        |f| first(f, &[0x16]),
        In(FUNC, 7),
        "cannot occur in a function body",
    ),
    public(
        1,
        |f| first(f, &[0x31]),
        In(FUNC, 7),
        "cannot occur in a function body",
    ),
    public(
        1,
        |f| then(f, &[3, 2, 0, 0, 9]),
        In(FUNC, 14),
        "operand index 9 out of bounds (size=1)",
    ),
    public(
        1,
        |f| first(f, &[16, 70, 0]),
        In(FUNC, 8),
        "type index 70 out of bounds",
    ),
    public(
        1,
        |f| then(f, &[0x18, 2, 2, 0]),
        In(FUNC, 12),
        "unknown optional fields (flags 0x2)",
    ),
    public(
        1,
        |f| then(f, &[92, 1, 2, 0]),
        In(FUNC, 11),
        "expects 0 results, got 1",
    ),
    public(
        1,
        |f| then(f, &[3, 2, 9, 0, 0]),
        In(FUNC, 12),
        "invalid integer value for enum type: 9",
    ),
    public(
        3,
        |f| then(f, &[2, 4, 0, 7, 0, 0]),
        In(FUNC, 13),
        "case 'nearest_away' of 'rounding' is not available in bytecode version 13.3 (since 13.4)",
    ),
    public(
        1,
        |f| then(f, &[0x32, 0, 0, 1]),
        In(FUNC, 13),
        "op expected 2 regions, got 1",
    ),
    public(
        1,
        |f| then(f, &[0x41, 0, 0, 1, 99]),
        In(FUNC, 14),
        "failed to read region block count",
    ),
    public(
        1,
        |f| then(f, &[0x41, 0, 0, 1, 1, 99, 0]),
        In(FUNC, 15),
        "failed to read block argument count.",
    ),
    public(
        1,
        |f| then(f, &[0x41, 0, 0, 1, 1, 0, 99]),
        In(FUNC, 16),
        "failed to read block operation count.",
    ),
    public(
        1,
        |f| then(f, &[0x41, 0, 0, 1, 1, 1, 88, 0]),
        In(FUNC, 16),
        "type index 88 out of bounds",
    ),
    public(
        1,
        |f| {
            let nested = [0x41, 0, 0, 1, 1, 0, 1].repeat(130);
            then(f, &nested);
        },
        In(FUNC, 909),
        "regions nested deeper than 128",
    ),
    public(
        4,
        |f| then(f, &[0x78, 6, 2, 0, 0]),
        In(FUNC, 12),
        "expects at most one 'token'",
    ),
    public(
        1,
        |f| then(f, &[0x2C, 2, 3]),
        In(FUNC, 12),
        "empty symbol reference is invalid",
    ),
    public(
        1,
        |f| then(f, &[5, 99, 0]),
        In(FUNC, 11),
        "string index 99 out of bounds",
    ),
    public(
        1,
        |f| then(f, &[0x53, 2, 9]),
        In(FUNC, 12),
        "failed to read DenseI32ArrayAttr values.",
    ),
    public(
        4,
        |f| then(f, &[0x3E, 2, 4, 6, 0, 0, 9]),
        In(FUNC, 16),
        "failed to read DenseBoolArrayAttr values.",
    ),
    public(
        4,
        |f| then(f, &[0x3E, 2, 4, 6, 0, 0, 1, 3]),
        In(FUNC, 17),
        "array contains unsupported value 3",
    ),
    // Constants.
    public(
        1,
        |f| first(f, &[16, 2, 5]),
        In(FUNC, 9),
        "constant index 5 out of bounds",
    ),
    public(
        1,
        |f| f.constants[0] = vec![3, 0, 0, 0],
        In(CONSTANT, 16),
        "failed to validate buffer size and format",
    ),
    public(
        1,
        |f| f.constants[0] = vec![4, 0, 0, 0, 0, 0],
        In(CONSTANT, 21),
        "1 bytes after the constant's data",
    ),
    public(
        1,
        |f| f.constants[0] = vec![9, 0],
        In(CONSTANT, 17),
        "number of data bytes (9) exceeds the maximum of 1",
    ),
    public(
        1,
        |f| first(f, &[16, 6, 0]),
        In(CONSTANT, 16),
        "expect Cuda Tile integer or float type for constant data",
    ),
    // Globals.
    public(
        1,
        |f| f.globals.push(vec![3, 2, 0, 4]),
        In(GLOBAL, 2),
        "global symbol name is empty",
    ),
    public(
        1,
        |f| f.globals.push(vec![1, 2, 7, 4]),
        In(GLOBAL, 4),
        "failed to create global from bytecode",
    ),
    public(
        3,
        |f| f.globals.push(vec![1, 2, 0, 4, 7, 0]),
        In(GLOBAL, 6),
        "invalid symbol visibility value: 7",
    ),
    public(
        1,
        |f| f.globals.push(vec![1, 2, 0, 4, 0]),
        In(GLOBAL, 5),
        "1 bytes after the last global of its section",
    ),
    // The same in the notes' container, whose function stands at 5, its region's operations at 9.
    notes(
        |f| f.function.name = 60,
        In(FUNC, 2),
        "string index 60 out of bounds",
    ),
    notes(
        |f| f.function.name = 3,
        In(FUNC, 2),
        "function name is empty",
    ),
    notes(
        |f| f.function.signature = 0,
        In(FUNC, 3),
        "function signature index does not refer to a function type for function 'k'",
    ),
    notes(
        |f| f.function.flags = 0,
        In(FUNC, 4),
        "unknown flags 0x0 of function 'k'",
    ),
    notes(
        |f| f.function.location = 3,
        In(FUNC, 5),
        "function location index 3 out of bounds",
    ),
    notes(
        |f| f.function.excess = 1,
        In(FUNC, 6),
        "exceeds remaining bytecode data",
    ),
    notes(
        |f| f.function.body = Some(f.vars(&[2, 0, 0, 0, 0])),
        In(FUNC, 11),
        "a function's body is one block with the parameters of its type",
    ),
    notes(
        |f| f.function.body = Some(f.vars(&[1, 0, 0, 0])),
        In(FUNC, 9),
        "1 bytes after the function's body",
    ),
    notes(
        |f| f.function.ops[0] = f.record(30, &[2], &[], 1),
        In(FUNC, 10),
        "unknown or unimplemented opcode: 30",
    ),
    notes(
        |f| f.function.ops[0] = f.record(110, &[2], &[], 1),
        In(FUNC, 10),
        "unknown or unimplemented opcode: 110",
    ),
    notes(
        |f| f.function.body = Some(f.vars(&[1, 0, 1, 1 << 20])[..4].to_vec()),
        In(FUNC, 10),
        "failed to read operation opcode.",
    ),
    notes(
        |f| f.function.ops[0] = [f.var(16), f.signed(4), f.vars(&[2, 0, 1])].concat(),
        In(FUNC, 11),
        "failed to read operation location.",
    ),
    notes(
        |f| f.function.ops[0] = f.record(16, &[2], &[7], 1),
        In(FUNC, 14),
        "operand index 7 out of bounds (size=0)",
    ),
    notes(
        |f| f.function.ops[0] = f.record(16, &[2], &[], 9),
        In(FUNC, 14),
        "attribute index 8 out of bounds",
    ),
    notes(
        |f| f.constants[0] = f.dictionary(&[("valve", f.vars(&[1, 0]))]),
        In(CONSTANT, 24),
        "has no attribute 'valve'",
    ),
    notes(
        |f| {
            f.constants[0] = f.dictionary(&[
                ("value", f.vars(&[4, 0, 0, 1, 2])),
                ("value", f.vars(&[4, 0, 0, 1, 2])),
            ])
        },
        In(CONSTANT, 35),
        "failed to parse DictionaryAttr, duplicate key found: value",
    ),
    notes(
        |f| f.constants[0] = f.vars(&[7, 0]),
        In(CONSTANT, 17),
        "attributes of an operation must be a dictionary",
    ),
    notes(
        |f| f.constants[0] = f.vars(&[10, 60]),
        In(CONSTANT, 18),
        "failed to read size for DictionaryAttr",
    ),
    notes(
        |f| f.constants[0] = f.vars(&[10, 1, 60]),
        In(CONSTANT, 19),
        "failed to read key for DictionaryAttr element 0",
    ),
    notes(
        |f| f.constants[0].push(0),
        In(CONSTANT, 29),
        "1 bytes after the dictionary",
    ),
    notes(
        |f| {
            let load = f.record(61, &[2, 6], &[], 0);
            f.function.ops[0] = load;
        },
        In(FUNC, 15),
        "requires attribute 'operandSegmentSizes'",
    ),
    notes(
        |f| {
            f.constants
                .push(f.dictionary(&[("operandSegmentSizes", f.vars(&[7, 4, 2, 2, 0, 0]))]));
            f.function.ops[1] = f.record(61, &[2, 6], &[0], 2);
        },
        In(FUNC, 21),
        "1 operands do not fit its operand groups",
    ),
    notes(
        |f| f.function.ops[1] = [f.record(65, &[0], &[], 0), f.var(2)].concat(),
        In(FUNC, 20),
        "op expected 1 regions",
    ),
    notes(
        |f| f.globals.push(f.vars(&[3, 2, 0, 4])),
        In(GLOBAL, 2),
        "global symbol name is empty",
    ),
    notes(
        |f| {
            f.constants.push(f.vars(&[1, 0]));
            f.globals.push(f.vars(&[1, 2, 1, 4]));
        },
        In(GLOBAL, 4),
        "the initial value of a global must be numbers of the global's type",
    ),
    notes(
        |f| f.globals.push(f.vars(&[1, 2, 9, 4])),
        In(GLOBAL, 4),
        "constant index 9 out of bounds",
    ),
];
