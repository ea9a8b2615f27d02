//! Locations and debug info in text: as `tileirdisasm -g` prints them, and back.

#[path = "common/ssa.rs"]
mod ssa;
#[path = "common/toolkit.rs"]
mod toolkit;

use std::collections::BTreeMap;
use std::process::Command;

use rayon::prelude::*;
use tilec::asm::Form;
use tilec::dialect::Version;
use tilec::{asm, bytecode, verify};

/// The locations of the operations, in order, with aliases replaced by what they stand for.
fn locations(text: &str) -> Vec<String> {
    let definitions: BTreeMap<&str, &str> = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .collect();
    let mut expanded: BTreeMap<&str, String> = BTreeMap::new();
    let operations = text.lines().filter(|line| !line.starts_with('#'));
    operations
        // A terminator without operands is implicit, unless it has a location of its own.
        .filter(|line| {
            let line = line.trim_start();
            !line.starts_with("continue loc") && !line.starts_with("yield loc")
        })
        .filter_map(|line| Some(line.rsplit_once("loc(")?.1.strip_suffix(')')?))
        .map(|place| expand(place, &definitions, &mut expanded))
        .collect()
}

fn expand<'t>(
    text: &'t str,
    definitions: &BTreeMap<&'t str, &'t str>,
    expanded: &mut BTreeMap<&'t str, String>,
) -> String {
    let Some(at) = text
        .find('#')
        .filter(|&at| !text[at..].starts_with("#cuda_tile.") && !text[..at].contains('"'))
    else {
        // An attribute's own name, or a string.
        return match text.strip_prefix("#cuda_tile.") {
            Some(rest) => format!("#cuda_tile.{}", expand(rest, definitions, expanded)),
            None => match text
                .find(['"'])
                .and_then(|q| Some(q + 1 + text[q + 1..].find('"')? + 1))
            {
                Some(end) => format!(
                    "{}{}",
                    &text[..end],
                    expand(&text[end..], definitions, expanded)
                ),
                None => text.replace("loc(unknown)", "unknown"),
            },
        };
    };
    let end = text[at + 1..]
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .map_or(text.len(), |n| at + 1 + n);
    let alias = &text[at..end];
    let meaning = match expanded.get(alias) {
        Some(meaning) => meaning.clone(),
        None => {
            let meaning = expand(definitions[alias], definitions, expanded);
            expanded.insert(alias, meaning.clone());
            meaning
        }
    };
    format!(
        "{}{meaning}{}",
        &text[..at],
        expand(&text[end..], definitions, expanded)
    )
}

#[test]
fn prints_as_tileirdisasm_does() {
    let tool = toolkit::tileirdisasm();
    ssa::bytecode_files().par_iter().for_each(|path| {
        let theirs = Command::new(&tool).arg("-g").arg(path).output().unwrap();
        assert!(theirs.status.success(), "{}", path.display());
        let module = bytecode::read(&std::fs::read(path).unwrap()).unwrap();
        let theirs = locations(&String::from_utf8(theirs.stdout).unwrap());
        let ours = locations(&asm::print_with_debug_info(&module, Form::Pretty));
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
