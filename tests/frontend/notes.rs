//! The notes' container: what can be there converts there and back to the same bytes.

use crate::ssa;
use tilec::bytecode::{self, Format};
use tilec::dialect::Version;
use tilec::{asm, verify};

/// The cuda-tile encoder writes negative f64 attributes with 65-bit varints, which is not
/// canonical: such files are equivalent, not equal.
fn is_canonical(text: &str) -> bool {
    !text.contains("0xFFF0000000000000 : f64")
}

/// What only later versions than 13.1 have is refused by its name.
const REFUSALS: [&str; 2] = [
    "requires bytecode version 13.",
    "which version 13.1 does not encode",
];

#[test]
fn the_corpus_converts_there_and_back() {
    let (mut converted, mut old) = (0, 0);
    for path in ssa::bytecode_files() {
        let bytes = std::fs::read(&path).unwrap();
        let contents = bytecode::read_full(&bytes).unwrap();
        old += usize::from(contents.version == Version::V13_1);
        let there = match bytecode::write_notes(&contents.module, &contents.tables) {
            Ok(there) => there,
            Err(error) => {
                let error = error.to_string();
                let named = REFUSALS.iter().any(|r| error.contains(r));
                assert!(
                    named && contents.version > Version::V13_1,
                    "{}: {error}",
                    path.display()
                );
                continue;
            }
        };
        let back =
            bytecode::read_full(&there).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(back.format, Format::Notes);
        let text = asm::print_generic(&contents.module);
        assert_eq!(text, asm::print_generic(&back.module), "{}", path.display());
        verify::verify(&back.module).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let again = bytecode::write_notes(&back.module, &back.tables).unwrap();
        assert!(there == again, "{}: not stable", path.display());
        let public = bytecode::write_with(&back.module, contents.version, &back.tables).unwrap();
        if contents.version == Version::V13_1 && is_canonical(&text) {
            let differ = bytes.iter().zip(&public).position(|(a, b)| a != b);
            assert!(
                bytes == public,
                "{}: first difference at {differ:?}",
                path.display()
            );
        }
        converted += 1;
    }
    assert!(
        converted >= old && old > 100,
        "{converted} files, {old} of version 13.1"
    );
}
