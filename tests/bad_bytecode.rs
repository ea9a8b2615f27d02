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
