//! Bytecode is written as it was read.

use crate::ssa;
use tilec::dialect::Version;
use tilec::{asm, bytecode};

/// The cuda-tile encoder writes negative f64 attributes with 65-bit varints, which is not
/// canonical, and nvcc writes equal constants more than once: such files are equivalent, not equal.
fn is_canonical(text: &str) -> bool {
    !text.contains("0xFFF0000000000000 : f64")
        && !text.contains("producer = \"Cuda compilation tools")
}

#[test]
fn canonical_files_are_written_byte_for_byte() {
    for path in ssa::bytecode_files() {
        let bytes = std::fs::read(&path).unwrap();
        let contents = bytecode::read_full(&bytes).unwrap();
        let text = asm::print_generic(&contents.module);
        let again = bytecode::write_with(&contents.module, contents.version, &contents.tables)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        if is_canonical(&text) {
            let differ = bytes.iter().zip(&again).position(|(a, b)| a != b);
            assert!(
                bytes == again,
                "{}: first difference at {differ:?}",
                path.display()
            );
        }
        let module = bytecode::read(&again).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(asm::print_generic(&module), text, "{}", path.display());
    }
}

#[test]
fn every_later_version_holds_the_same_module() {
    for path in ssa::bytecode_files() {
        let contents = bytecode::read_full(&std::fs::read(&path).unwrap()).unwrap();
        let text = asm::print_generic(&contents.module);
        for minor in contents.version.1..=5 {
            let version = Version(13, minor);
            let bytes = bytecode::write(&contents.module, version)
                .unwrap_or_else(|e| panic!("{} as {version}: {e}", path.display()));
            let module = bytecode::read(&bytes).unwrap();
            assert_eq!(
                asm::print_generic(&module),
                text,
                "{} as {version}",
                path.display()
            );
        }
    }
}

#[test]
fn older_versions_refuse_by_name() {
    let refused = |text: &str, minor: u8| {
        let module = asm::parse(text).unwrap();
        bytecode::write(&module, Version(13, minor))
            .unwrap_err()
            .to_string()
    };
    let entry = |body: &str| {
        format!("entry @e(%p: tile<ptr<f32>>, %x: tile<f32>, %i: tile<i32>) {{ {body} return }}")
    };
    for (body, minor, message) in [
        (
            "%a = atan2 %x, %x : tile<f32>",
            1,
            "operation 'cuda_tile.atan2' requires bytecode version 13.2",
        ),
        (
            "%a = exp %x rounding<approx> : tile<f32>",
            2,
            "attribute 'rounding_mode' requires bytecode version 13.3",
        ),
        (
            "%a = negi %i overflow<no_signed_wrap> : tile<i32>",
            1,
            "attribute 'overflow' requires",
        ),
        (
            "%a = ftoi %x signed saturating : tile<f32> -> tile<i32>",
            3,
            "attribute 'saturating' requires",
        ),
        (
            "%t = print_tko \"a\" -> token %u = print_tko \"b\" token = %t -> token",
            1,
            "operand 'token' requires",
        ),
        (
            "%t = print_tko \"a\" -> token %u = join_tokens %t, %t : token",
            1,
            "uses result 'result_token'",
        ),
    ] {
        let got = refused(&entry(body), minor);
        assert!(got.contains(message), "{got}");
    }
}
