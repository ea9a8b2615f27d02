//! Bad binary modules: a valid file with one part damaged, each with its diagnostic and offset.
//!
//! The words are the contract: those that the notes quote appear in both containers wherever the
//! same failure exists. Offsets count from the start of the file ([`At::File`]) or of a section's
//! payload ([`At::In`]).

use crate::binary;
#[path = "bad_bytecode/attributes.rs"]
mod attributes;
#[path = "bad_bytecode/debug.rs"]
mod debug;
#[path = "bad_bytecode/envelope.rs"]
mod envelope;
#[path = "bad_bytecode/functions.rs"]
mod functions;
#[path = "bad_bytecode/types.rs"]
mod types;

use binary::{File, Kind};
use tilec::ir::Place;

const TABLES: [&[Case]; 5] = [
    envelope::CASES,
    types::CASES,
    functions::CASES,
    attributes::CASES,
    debug::CASES,
];

/// Where a diagnostic points.
#[derive(Clone, Copy, Debug)]
enum At {
    File(usize),
    In(u8, usize),
    Nowhere,
}

/// One bad module.
struct Case {
    kind: Kind,
    minor: u8,
    edit: fn(&mut File),
    at: At,
    /// Part of the message or of a note.
    message: &'static str,
}

const fn public(minor: u8, edit: fn(&mut File), at: At, message: &'static str) -> Case {
    Case {
        kind: Kind::Public,
        minor,
        edit,
        at,
        message,
    }
}

const fn notes(edit: fn(&mut File), at: At, message: &'static str) -> Case {
    Case {
        kind: Kind::Notes,
        minor: 1,
        edit,
        at,
        message,
    }
}

#[test]
fn the_undamaged_files_are_valid() {
    for (kind, minors) in [(Kind::Public, 1..=5), (Kind::Notes, 1..=1)] {
        for minor in minors {
            let module = tilec::bytecode::read(&File::new(kind, minor).encode())
                .unwrap_or_else(|e| panic!("{kind:?} 13.{minor}: {e}"));
            tilec::verify::verify(&module).unwrap();
            let text = tilec::asm::print_pretty(&module);
            assert!(text.contains("constant <i32: 1> : tile<i32>"), "{text}");
        }
    }
}

fn check(case: &Case) -> Result<(), String> {
    let mut file = File::new(case.kind, case.minor);
    (case.edit)(&mut file);
    let (bytes, sections) = file.encode_with_offsets();
    let error = match tilec::bytecode::read(&bytes) {
        Ok(_) => return Err("was read".into()),
        Err(error) => error,
    };
    let start = |id: u8| sections.iter().rev().find(|s| s.0 == id).map_or(0, |s| s.1);
    let place = match case.at {
        At::File(offset) => Place::Offset(offset),
        At::In(id, offset) => Place::Offset(start(id) + offset),
        At::Nowhere => Place::Nowhere,
    };
    let said = error.message.contains(case.message)
        || error.notes.iter().any(|n| n.contains(case.message));
    if said && error.place == place {
        return Ok(());
    }
    let within = match error.place {
        Place::Offset(at) => sections
            .iter()
            .filter(|s| s.1 <= at)
            .max_by_key(|s| s.1)
            .map(|s| format!("In({}, {})", s.0, at - s.1)),
        _ => None,
    };
    Err(format!("at {within:?}: {error}"))
}

#[test]
fn each_has_its_diagnostic() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in TABLES.iter().copied().flatten() {
        count += 1;
        if let Err(got) = check(case) {
            let Case {
                kind,
                minor,
                at,
                message,
                ..
            } = case;
            wrong.push(format!(
                "{kind:?} 13.{minor} {at:?} {message}\n   got {got}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count >= 150, "{count} cases");
}

/// The diagnostics that the notes quote, and whether the failure exists in the public container, in
/// the notes', or in both. Variable parts are left out.
#[rustfmt::skip]
const QUOTED: &[(&str, &[Kind])] = {
    const PUBLIC: &[Kind] = &[Kind::Public];
    const NOTES: &[Kind] = &[Kind::Notes];
    const BOTH: &[Kind] = &[Kind::Public, Kind::Notes];
    &[
        // The header.
        ("failed to read magic", BOTH),
        ("invalid magic number at position ", BOTH),
        (", got ", BOTH),
        (" expected ", BOTH),
        // The public container has bytes there, and no list of dialects.
        ("failed to read major", NOTES),
        ("failed to read minor", NOTES),
        ("unsupported Tile version ", BOTH),
        ("this reader supports versions [", BOTH),
        ("unregistered dialect: ", NOTES),
        // Sections and integers. Nine bytes cannot be too long in the notes' form.
        ("end section should not have alignment flag set", BOTH),
        ("end section is not the last section", BOTH),
        ("non-canonical VarInt", BOTH),
        ("over-long VarInt", PUBLIC),
        // Operations.
        ("failed to read operation opcode.", BOTH),
        ("failed to read operation location.", BOTH),
        ("unknown or unimplemented opcode: ", BOTH),
        // Attributes. Constants of the public container are numbers only.
        ("failed to read AttributeTag for self-contained attribute.", BOTH),
        ("string index ", BOTH),
        ("failed to read StringAttr.", BOTH),
        ("failed to read valid FloatType for FloatAttr", BOTH),
        ("failed to cast parsed attribute to FloatAttr", BOTH),
        ("failed to get referenced type for TypeAttr", BOTH),
        ("failed to read valid MLIR Type for self-contained DenseElementsAttr", BOTH),
        ("array contains unsupported value ", BOTH),
        ("failed to read number of string attrs in DenseElementsAttr", NOTES),
        ("failed to read string in DenseElementsAttr", NOTES),
        ("failed to read divisor for DivByAttr", BOTH),
        ("failed to read flags byte for DivByAttr", BOTH),
        ("failed to read value for 'every' in DivByAttr", BOTH),
        ("failed to read value for 'along' in DivByAttr", BOTH),
        ("failed to read DenseI64ArrayAttr values.", BOTH),
        ("failed to read DenseI64ArrayAttr for SameElementsAttr", BOTH),
        ("failed to read flags byte for BoundedAttr", BOTH),
        ("failed to read lower bound for BoundedAttr", BOTH),
        ("failed to read upper bound for BoundedAttr", BOTH),
        ("unsupported AttributeTag ", BOTH),
        (" for self-contained attribute", BOTH),
        // Debug attributes. Tag 0 is the unknown location in the public container, whose compile
        // units have no producer.
        ("failed to read kind tag", BOTH),
        ("unknown debug attribute tag", NOTES),
        ("unsupported DebugTag ", BOTH),
        ("failed to read file attribute when parsing DICompileUnitAttr", BOTH),
        ("failed to read producer for DICompileUnitAttr", NOTES),
        ("failed to read file name attribute when parsing DIFileAttr", BOTH),
        ("failed to read directory attribute when parsing DIFileAttr", BOTH),
        ("failed to read scope attribute when parsing DILexicalBlockAttr", BOTH),
        ("failed to read file attribute when parsing DILexicalBlockAttr", BOTH),
        ("failed to read line number when parsing DILexicalBlockAttr", BOTH),
        ("failed to read column number when parsing DILexicalBlockAttr", BOTH),
        ("failed to read scope attribute when parsing DILocAttr", BOTH),
        ("failed to read file name attribute when parsing FileLineColLoc", BOTH),
        ("failed to read line number when parsing FileLineColLoc", BOTH),
        ("failed to read column number when parsing FileLineColLoc", BOTH),
        ("failed to read callee attribute when parsing CallSiteLoc", BOTH),
        ("failed to read caller attribute when parsing CallSiteLoc", BOTH),
        ("cyclic debug attribute reference at index ", BOTH),
    ]
};

/// Each of them is what some case here expects, in each container that has the failure.
#[test]
fn every_quoted_diagnostic_has_a_case() {
    for (words, kinds) in QUOTED {
        for kind in *kinds {
            let mut all = TABLES.iter().copied().flatten();
            let found = all.any(|case| case.kind == *kind && case.message.contains(words));
            assert!(found, "{kind:?}: {words}");
        }
    }
}

/// What only the verifier finds points at the operation's record.
#[test]
fn verification_errors_have_offsets() {
    for (kind, record, at) in [
        // `iota` into a scalar tile, after the constant.
        (Kind::Public, vec![0x3A, 2], 9),
        (
            Kind::Notes,
            File::new(Kind::Notes, 1).record(0x3A, &[2], &[], 0),
            14,
        ),
    ] {
        let mut file = File::new(kind, 1);
        file.function.ops.insert(1, record);
        let (bytes, sections) = file.encode_with_offsets();
        let start = sections.iter().find(|s| s.0 == binary::FUNC).unwrap().1;
        let errors = tilec::input::bytecode(&bytes).unwrap_err();
        let error = &errors.0[0];
        let words = "failed to create operation 'cuda_tile.iota' due to verification error.";
        assert!(error.notes.iter().any(|n| n == words), "{error}");
        assert!(
            error.message.contains("expects result type to be 1-d tile"),
            "{error}"
        );
        // The public record's offset is that after its opcode.
        assert_eq!(error.place, Place::Offset(start + at + 1), "{error}");
    }
}

/// The order of sections is the producer's choice.
#[test]
fn sections_stand_in_any_order() {
    for kind in [Kind::Public, Kind::Notes] {
        let mut file = File::new(kind, 1);
        file.globals.push(match kind {
            Kind::Public => vec![1, 2, 0, 4],
            Kind::Notes => {
                file.constants.push(file.vars(&[4, 0, 0, 1, 2]));
                file.vars(&[1, 2, 1, 4])
            }
        });
        let text = |file: &File| {
            let module = tilec::bytecode::read(&file.encode()).unwrap_or_else(|e| panic!("{e}"));
            tilec::asm::print_generic(&module)
        };
        let expected = text(&file);
        for turn in 1..5 {
            file.rotation = turn;
            assert_eq!(text(&file), expected, "{kind:?}");
        }
    }
}
