//! Invalid modules are refused with the words of the rule that they break.
//!
//! `tests/invalid/*.txt` holds one case per line: `body => message`. A body stands in an entry whose
//! parameters and first constants are those of [`PRELUDE`]; one that starts with `module:` stands by
//! itself. `;` separates lines. The message is part of the parser's or verifier's diagnostic.
//!
//! The cases are the table of the verifier's rules: every message in `src/verify` comes from one of
//! them or is listed as one that does not, and NVIDIA's own verifier (in `tileirdisasm`) must refuse the same modules in the same
//! words.

#[path = "invalid/messages.rs"]
mod messages;
#[path = "common/toolkit.rs"]
mod toolkit;

use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use tilec::dialect::Version;
use tilec::ir::Diagnostics;
use tilec::{asm, bytecode, verify};

const PRELUDE: &str = "
entry @kernel(%p: tile<ptr<f32>>, %pi: tile<ptr<i32>>, %n: tile<i32>, %l: tile<i64>, %x: tile<f32>, %b: tile<i1>) {
  %c0 = constant <i32: 0> : tile<i32>
  %f = constant <f32: 1.0> : tile<8x4xf32>
  %h = constant <f16: 1.0> : tile<8x4xf16>
  %d = constant <f64: 1.0> : tile<8x4xf64>
  %i = constant <i32: 1> : tile<8x4xi32>
  %j = constant <i64: 1> : tile<8x4xi64>
  %k = constant <i8: 1> : tile<8x4xi8>
  %m = constant <i1: true> : tile<8x4xi1>
  %v = constant <f32: 1.0> : tile<8xf32>
  %q = constant <f32: 1.0> : tile<4x8xf32>
  %w = constant <i32: 1> : tile<8xi32>
  %t = make_token : token
  %pr = reshape %p : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %pt = broadcast %pr : tile<1x1xptr<f32>> -> tile<8x4xptr<f32>>
  %pir = reshape %pi : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %pit = broadcast %pir : tile<1x1xptr<i32>> -> tile<8x4xptr<i32>>
  %tv = make_tensor_view %p, shape = [%n, 32], strides = [%n, 1] : tile<i32> -> tensor_view<?x32xf32, strides=[?,1]>
  %pv = make_partition_view %tv : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[?,1]>>
  %gv = make_gather_scatter_view %tv : gather_scatter_view<tile=(8x4), tensor_view<?x32xf32, strides=[?,1]>, sparse_dim=0>
";

/// A line of a table.
struct Case {
    place: String,
    text: String,
    message: String,
}

fn cases() -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if let Some((body, message)) = line.split_once(" => ") {
                cases.push(Case {
                    place: format!("{name}:{}", number + 1),
                    text: module_text(body),
                    message: message.trim().to_owned(),
                });
            }
        }
    }
    cases
}

fn module_text(body: &str) -> String {
    match body.strip_prefix("module:") {
        Some(module) => module.replace(';', "\n"),
        None => format!("{PRELUDE}{}\n  return\n}}\n", body.replace(';', "\n")),
    }
}

fn diagnose(text: &str) -> String {
    match asm::parse(text) {
        Err(error) => error.to_string(),
        Ok(module) => match verify::verify(&module) {
            Err(errors) => errors.to_string(),
            Ok(()) => Diagnostics(verify::warnings(&module)).to_string(),
        },
    }
}

#[test]
fn the_prelude_is_valid() {
    assert_eq!(diagnose(&module_text("")), "");
}

#[test]
fn each_rule_has_its_diagnostic() {
    let cases = cases();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let got = diagnose(&case.text);
            let told = format!("{}\n  want: {}\n  got:  {got}", case.place, case.message);
            (!got.contains(&case.message)).then_some(told)
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
    assert!(cases.len() >= 300, "{} cases", cases.len());
}

/// The table has a case for every message that the verifier can give, but for those known.
#[test]
fn every_message_of_the_verifier_has_a_case() {
    let said: Vec<String> = cases().iter().map(|case| diagnose(&case.text)).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/verify");
    let all: Vec<String> = ["cuda_tile", "structure.rs", "types.rs"]
        .iter()
        .flat_map(|name| messages::of_sources(&root.join(name)))
        .collect();
    assert!(all.len() > 150, "{} messages", all.len());
    let missing: Vec<_> = all
        .iter()
        .filter(|message| !messages::UNTOLD.contains(&message.as_str()))
        .filter(|message| !said.iter().any(|text| messages::matches(message, text)))
        .collect();
    assert!(missing.is_empty(), "{}: {missing:#?}", missing.len());
}

/// What the closed verifier says of the modules that can be written down, and where we differ.
#[test]
fn tileirdisasm_says_the_same() {
    let tool = toolkit::tileirdisasm();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("invalid");
    std::fs::create_dir_all(&dir).unwrap();
    let cases = cases();
    let outcomes: Vec<_> = cases
        .par_iter()
        .enumerate()
        .filter_map(|(i, case)| {
            let module = asm::parse(&case.text).ok()?;
            let ours = verify::verify(&module).err()?;
            let bytes = bytecode::write(&module, Version::V13_5).ok()?;
            let path = dir.join(format!("{i}.tilebc"));
            std::fs::write(&path, bytes).unwrap();
            let output = Command::new(&tool).arg(&path).output().unwrap();
            let theirs = String::from_utf8_lossy(&output.stderr).into_owned();
            let ours = ours.0[0].to_string();
            Some((case, rule(&ours), rule(&theirs)))
        })
        .collect();
    let wrong: Vec<_> = outcomes
        .iter()
        .filter(|(case, ours, theirs)| {
            let known = messages::DIFFERENCES
                .iter()
                .find(|d| case.text.contains(d.0));
            match known {
                Some((_, words)) => !theirs.contains(words),
                None => !theirs.starts_with(ours.as_str()),
            }
        })
        .map(|(case, ours, theirs)| format!("{}\n  ours:   {ours}\n  theirs: {theirs}", case.place))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        outcomes.len(),
        wrong.join("\n")
    );
    assert!(outcomes.len() > 250, "{}", outcomes.len());
}

/// The first error's words, without where it is.
fn rule(text: &str) -> String {
    let line = text.lines().find_map(|l| l.split_once("error: "));
    let mut words = line.map_or("accepted", |l| l.1);
    if let Some(rest) = words.strip_prefix("error at offset ") {
        words = rest.split_once(": ").map_or(rest, |r| r.1);
    }
    if words.starts_with("'cuda_tile.") {
        words = words.split_once(" op ").map_or(words, |r| r.1);
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
