//! Debug attributes: each field of each tag of both containers, kinds, cycles.

use super::At::In;
use super::binary::{DEBUG, FUNC, File};
use super::{Case, notes, public};

/// Attributes 1 to 3 of the file: a file, its compile unit, a subprogram. Numbers count from 1 in
/// the public container, from 0 in the notes'.
fn scopes(f: &mut File, last: &[u64]) {
    use super::binary::Kind;
    let fields: [&[u64]; 3] = match (f.kind, f.minor) {
        (Kind::Public, 5) => [&[2, 1, 2], &[1, 1], &[5, 1, 7, 0, 0, 2, 8, 0]],
        (Kind::Public, _) => [&[2, 1, 2], &[1, 1], &[5, 1, 7, 0, 0, 2, 8]],
        (Kind::Notes, _) => [&[2, 1, 2], &[1, 0, 0, 0], &[5, 1, 0, 0, 0, 7, 0, 8, 0]],
    };
    f.debug = fields
        .into_iter()
        .chain([last])
        .map(|fields| f.vars(fields))
        .collect();
}

pub const CASES: &[Case] = &[
    // One location for a function of two operations, which has one itself.
    public(
        1,
        |f| {
            let head = [1, 0xCB, 0xCB, 0xCB, 0, 0, 0, 0, 1];
            let section = [&head[..], &[0xCB; 7], &[0; 8], &[0]].concat();
            f.payloads.push((DEBUG, section));
            f.function.location = 1;
        },
        In(FUNC, 7),
        "failed to read operation location.",
    ),
    public(
        1,
        |f| scopes(f, &[]),
        In(DEBUG, 72),
        "failed to read kind tag",
    ),
    public(
        1,
        |f| scopes(f, &[9]),
        In(DEBUG, 73),
        "unsupported DebugTag 9",
    ),
    public(
        1,
        |f| scopes(f, &[1]),
        In(DEBUG, 73),
        "failed to read file attribute when parsing DICompileUnitAttr",
    ),
    public(
        1,
        |f| scopes(f, &[1, 3]),
        In(DEBUG, 72),
        "failed to read file attribute when parsing DICompileUnitAttr",
    ),
    public(
        1,
        |f| scopes(f, &[2]),
        In(DEBUG, 73),
        "failed to read file name attribute when parsing DIFileAttr",
    ),
    public(
        1,
        |f| scopes(f, &[2, 99]),
        In(DEBUG, 74),
        "string index 99 out of bounds",
    ),
    public(
        1,
        |f| scopes(f, &[2, 1]),
        In(DEBUG, 74),
        "failed to read directory attribute when parsing DIFileAttr",
    ),
    public(
        1,
        |f| scopes(f, &[3]),
        In(DEBUG, 73),
        "failed to read scope attribute when parsing DILexicalBlockAttr",
    ),
    public(
        1,
        |f| scopes(f, &[3, 1, 1, 1, 1]),
        In(DEBUG, 72),
        "failed to read scope attribute when parsing DILexicalBlockAttr",
    ),
    public(
        1,
        |f| scopes(f, &[3, 3]),
        In(DEBUG, 74),
        "failed to read file attribute when parsing DILexicalBlockAttr",
    ),
    public(
        1,
        |f| scopes(f, &[3, 3, 9, 1, 1]),
        In(DEBUG, 72),
        "failed to read file attribute when parsing DILexicalBlockAttr",
    ),
    public(
        1,
        |f| scopes(f, &[3, 3, 1]),
        In(DEBUG, 75),
        "failed to read line number when parsing DILexicalBlockAttr",
    ),
    public(
        1,
        |f| scopes(f, &[3, 3, 1, 4]),
        In(DEBUG, 76),
        "failed to read column number when parsing DILexicalBlockAttr",
    ),
    public(
        1,
        |f| scopes(f, &[4]),
        In(DEBUG, 73),
        "failed to read scope attribute when parsing DILocAttr",
    ),
    public(
        1,
        |f| scopes(f, &[4, 1, 1, 4, 4]),
        In(DEBUG, 72),
        "failed to read scope attribute when parsing DILocAttr",
    ),
    public(
        1,
        |f| scopes(f, &[4, 3]),
        In(DEBUG, 74),
        "failed to read file name attribute when parsing FileLineColLoc",
    ),
    public(
        1,
        |f| scopes(f, &[4, 3, 1]),
        In(DEBUG, 75),
        "failed to read line number when parsing FileLineColLoc",
    ),
    public(
        1,
        |f| scopes(f, &[4, 3, 1, 1 << 40]),
        In(DEBUG, 81),
        "failed to read line number when parsing FileLineColLoc",
    ),
    public(
        1,
        |f| scopes(f, &[4, 3, 1, 4]),
        In(DEBUG, 76),
        "failed to read column number when parsing FileLineColLoc",
    ),
    public(
        1,
        |f| scopes(f, &[5]),
        In(DEBUG, 73),
        "failed to read file attribute when parsing DISubprogramAttr",
    ),
    public(
        5,
        |f| scopes(f, &[5, 1, 7, 0, 0, 2, 8, 1]),
        In(DEBUG, 81),
        "unknown flags 0x1 of DISubprogramAttr",
    ),
    public(
        1,
        |f| scopes(f, &[6]),
        In(DEBUG, 73),
        "failed to read callee attribute when parsing CallSiteLoc",
    ),
    public(
        1,
        |f| scopes(f, &[6, 3, 3]),
        In(DEBUG, 72),
        "failed to read callee attribute when parsing CallSiteLoc",
    ),
    public(
        1,
        |f| scopes(f, &[6, 0]),
        In(DEBUG, 74),
        "failed to read caller attribute when parsing CallSiteLoc",
    ),
    public(
        1,
        |f| scopes(f, &[6, 4, 4]),
        In(DEBUG, 72),
        "cyclic debug attribute reference at index 3",
    ),
    public(
        1,
        |f| scopes(f, &[3, 4, 1, 1, 1]),
        In(DEBUG, 72),
        "cyclic debug attribute reference at index 3",
    ),
    public(
        1,
        |f| {
            scopes(f, &[3, 5, 1, 1, 1]);
            f.debug.push(vec![3, 4, 1, 1, 1]);
        },
        In(DEBUG, 76),
        "cyclic debug attribute reference at index 3",
    ),
    notes(|f| scopes(f, &[]), In(DEBUG, 60), "failed to read kind tag"),
    notes(
        |f| scopes(f, &[0]),
        In(DEBUG, 61),
        "unknown debug attribute tag",
    ),
    notes(|f| scopes(f, &[7]), In(DEBUG, 61), "unsupported DebugTag 7"),
    notes(
        |f| scopes(f, &[1]),
        In(DEBUG, 61),
        "failed to read file attribute when parsing DICompileUnitAttr",
    ),
    notes(
        |f| scopes(f, &[1, 0]),
        In(DEBUG, 62),
        "failed to read producer for DICompileUnitAttr",
    ),
    notes(
        |f| scopes(f, &[1, 0, 60]),
        In(DEBUG, 63),
        "failed to read producer for DICompileUnitAttr",
    ),
    notes(
        |f| scopes(f, &[2]),
        In(DEBUG, 61),
        "failed to read file name attribute when parsing DIFileAttr",
    ),
    notes(
        |f| scopes(f, &[2, 60]),
        In(DEBUG, 62),
        "string index 60 out of bounds",
    ),
    notes(
        |f| scopes(f, &[2, 1]),
        In(DEBUG, 62),
        "failed to read directory attribute when parsing DIFileAttr",
    ),
    notes(
        |f| scopes(f, &[3]),
        In(DEBUG, 61),
        "failed to read scope attribute when parsing DILexicalBlockAttr",
    ),
    notes(
        |f| scopes(f, &[3, 2]),
        In(DEBUG, 62),
        "failed to read file attribute when parsing DILexicalBlockAttr",
    ),
    notes(
        |f| scopes(f, &[3, 2, 0]),
        In(DEBUG, 63),
        "failed to read line number when parsing DILexicalBlockAttr",
    ),
    notes(
        |f| scopes(f, &[3, 2, 0, 4]),
        In(DEBUG, 64),
        "failed to read column number when parsing DILexicalBlockAttr",
    ),
    notes(
        |f| scopes(f, &[4]),
        In(DEBUG, 61),
        "failed to read scope attribute when parsing DILocAttr",
    ),
    notes(
        |f| scopes(f, &[4, 2]),
        In(DEBUG, 62),
        "failed to read file name attribute when parsing FileLineColLoc",
    ),
    notes(
        |f| scopes(f, &[4, 2, 1]),
        In(DEBUG, 63),
        "failed to read line number when parsing FileLineColLoc",
    ),
    notes(
        |f| scopes(f, &[4, 2, 1, 4]),
        In(DEBUG, 64),
        "failed to read column number when parsing FileLineColLoc",
    ),
    notes(
        |f| scopes(f, &[6]),
        In(DEBUG, 61),
        "failed to read callee attribute when parsing CallSiteLoc",
    ),
    notes(
        |f| scopes(f, &[6, 3]),
        In(DEBUG, 62),
        "failed to read caller attribute when parsing CallSiteLoc",
    ),
    // The notes' own example of a cycle: a block that is its own scope.
    notes(
        |f| f.debug = vec![f.vars(&[3, 0, 1, 42, 0]), f.vars(&[2, 1, 2])],
        In(DEBUG, 36),
        "cyclic debug attribute reference at index 0",
    ),
    notes(
        |f| scopes(f, &[6, 3, 3]),
        In(DEBUG, 60),
        "cyclic debug attribute reference at index 3",
    ),
];
