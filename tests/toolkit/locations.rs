//! Locations and debug info in text: as `tileirdisasm -g` prints them, and back.

use crate::aliases;
use crate::ssa;
use crate::toolkit;
use std::process::Command;

use rayon::prelude::*;
use tilec::asm::Form;
use tilec::dialect::Version;
use tilec::{asm, bytecode, verify};

#[test]
fn prints_as_tileirdisasm_does() {
    let tool = toolkit::tileirdisasm();
    ssa::bytecode_files().par_iter().for_each(|path| {
        let theirs = Command::new(&tool).arg("-g").arg(path).output().unwrap();
        assert!(theirs.status.success(), "{}", path.display());
        let module = bytecode::read(&std::fs::read(path).unwrap()).unwrap();
        let theirs = aliases::locations(&String::from_utf8(theirs.stdout).unwrap());
        let ours = aliases::locations(&asm::print_with_debug_info(&module, Form::Pretty));
        assert_eq!(theirs, ours, "{}", path.display());
        assert!(!ours.is_empty() || module.block(module.body).ops.is_empty());
    });
}

/// Reading the text gives the module, debug info and its order included: the same bytes follow.
#[test]
fn both_forms_read_back() {
    ssa::bytecode_files().par_iter().for_each(|path| {
        let module = bytecode::read(&std::fs::read(path).unwrap()).unwrap();
        let bytes = bytecode::write(&module, Version::V13_5).unwrap();
        let texts =
            [Form::Pretty, Form::Generic].map(|form| asm::print_with_debug_info(&module, form));
        for text in &texts {
            let again = asm::parse(text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            for (form, text) in [Form::Pretty, Form::Generic].into_iter().zip(&texts) {
                let reprinted = asm::print_with_debug_info(&again, form);
                let differ = text.lines().zip(reprinted.lines()).find(|(a, b)| a != b);
                assert!(differ.is_none(), "{}: {differ:#?}", path.display());
            }
            let rewritten =
                bytecode::read(&bytecode::write(&again, Version::V13_5).unwrap()).unwrap();
            let original = bytecode::read(&bytes).unwrap();
            assert_eq!(
                asm::print_with_debug_info(&original, Form::Generic),
                asm::print_with_debug_info(&rewritten, Form::Generic),
                "{}",
                path.display()
            );
        }
    });
}

#[test]
fn locations_of_text_are_those_of_errors() {
    let text = "entry @e(%x: tile<i32>) {\n  %0 = negf %x : tile<i32> loc(\"kernel.py\":7:9)\n  return\n}\n";
    let error = asm::parse(text)
        .map(|m| verify::verify(&m))
        .unwrap()
        .unwrap_err();
    assert!(
        error.to_string().starts_with("kernel.py:7:9: error: "),
        "{error}"
    );
}

#[test]
fn wrong_locations_are_refused() {
    let refused = |location: &str, definitions: &str| {
        let text = format!("{definitions}\nentry @e() {{\n  return loc({location})\n}}\n");
        asm::parse(&text).unwrap_err().message
    };
    for (location, definitions, message) in [
        ("#a", "", "undefined symbol alias id 'a'"),
        ("#a", "#a = #b", "undefined symbol alias id 'b'"),
        (
            "#a",
            "#a = loc(unknown)\n#a = loc(unknown)",
            "redefinition of attribute alias id 'a'",
        ),
        (
            "fused[unknown]",
            "",
            "unsupported location, got FusedLoc, expected DILocAttr or CallSiteLoc",
        ),
        (
            "\"name\"(unknown)",
            "",
            "unsupported location, got NameLoc, expected DILocAttr or CallSiteLoc",
        ),
        ("\"f\":1", "", "expected ':', got ')'"),
        (
            "\"f\":1:99999999999",
            "",
            "99999999999 does not fit in 32 bits",
        ),
        ("callsite(unknown)", "", "expected 'at', got ')'"),
        ("here", "", "expected a location, got 'here'"),
        (
            "#cuda_tile.di_file<\"a\", \"b\">",
            "",
            "expected 'in', got ','",
        ),
        (
            "#cuda_tile.di_line<>",
            "",
            "'cuda_tile.di_line' is no debug-info attribute",
        ),
        (
            "#cuda_tile.di_compile_unit<file = 1>",
            "",
            "expected '#', got '1'",
        ),
        (
            "#cuda_tile.di_loc<unknown in #f>",
            "#f = #cuda_tile.di_file<\"a\" in \"b\">",
            "expected a file, line and column",
        ),
        (
            "#cuda_tile.di_loc<loc(\"a\":1:1) in #f>",
            "#f = loc(unknown)",
            "expected a debug-info attribute",
        ),
    ] {
        assert_eq!(refused(location, definitions), message, "{location}");
    }
}
