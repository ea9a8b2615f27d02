//! Bad binary modules: a valid file with one part damaged, each with its diagnostic and offset.
//!
//! The words are the contract: those that the notes quote appear in both containers wherever the
//! same failure exists. Offsets count from the start of the file ([`At::File`]) or of a section's
//! payload ([`At::In`]).

#[path = "common/binary.rs"]
mod binary;

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
    let tables = [
        envelope::CASES,
        types::CASES,
        functions::CASES,
        attributes::CASES,
        debug::CASES,
    ];
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in tables.into_iter().flatten() {
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
        let errors = tilec::bytecode::read_verified(&bytes).unwrap_err();
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
