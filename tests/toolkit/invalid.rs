//! Invalid modules are refused with the words of the rule that they break.
//!
//! `tests/invalid/*.txt` holds one case per line: `body => message`. A body stands in an entry whose
//! parameters and first constants are those of [`PRELUDE`]; one that starts with `module:` stands by
//! itself, and one that starts with `debug:` too, after definitions of scopes and places. `;` separates
//! lines. The message is part of the parser's or verifier's diagnostic. `invalid/made.rs` holds those
//! that have no text.
//!
//! The cases are the table of the verifier's rules: every message in `src/verify` comes from one of
//! them, and NVIDIA's own verifier (in `tileirdisasm`) must refuse the same modules in the same
//! words.

use crate::change;
use crate::toolkit;
#[path = "../invalid/made.rs"]
mod made;
#[path = "../invalid/messages.rs"]
mod messages;

use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use tilec::dialect::Version;
use tilec::ir::{Diagnostics, Module};
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

const DEBUG: &str = "
#file = #cuda_tile.di_file<\"kernel.py\" in \"/src\">
#unit = #cuda_tile.di_compile_unit<file = #file>
#e = #cuda_tile.di_subprogram<file = #file, line = 1, name = \"e\", linkageName = \"e\", compileUnit = #unit, scopeLine = 1>
#other = #cuda_tile.di_subprogram<file = #file, line = 9, name = \"other\", linkageName = \"other\", compileUnit = #unit, scopeLine = 9>
#block = #cuda_tile.di_lexical_block<scope = #e, file = #file, line = 2, column = 1>
#line = loc(\"kernel.py\":1:1)
#in_e = #cuda_tile.di_loc<#line in #e>
#in_other = #cuda_tile.di_loc<#line in #other>
#in_block = #cuda_tile.di_loc<#line in #block>
#called = loc(callsite(#in_other at #in_e))
";

/// A module with something wrong.
struct Case {
    place: String,
    source: Source,
    message: String,
}

enum Source {
    /// A line of a table.
    Text(String),
    Made(made::Make),
}

impl Case {
    /// The module, when it is one.
    fn module(&self) -> Option<Module> {
        match &self.source {
            Source::Text(text) => asm::parse(text).ok(),
            Source::Made(make) => Some(make()),
        }
    }

    fn is(&self, what: &str) -> bool {
        match &self.source {
            Source::Text(text) => text.contains(what),
            Source::Made(_) => self.place == what,
        }
    }

    /// The first thing that is wrong, or odd.
    fn diagnose(&self) -> String {
        match &self.source {
            Source::Text(text) => diagnose(text),
            Source::Made(make) => verdict(&make()),
        }
    }
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
                    source: Source::Text(module_text(body)),
                    message: message.trim().to_owned(),
                });
            }
        }
    }
    let made = made::cases().into_iter();
    cases.extend(made.map(|(place, make, message)| Case {
        place,
        source: Source::Made(make),
        message,
    }));
    cases
}

fn module_text(body: &str) -> String {
    let lines = body.replace(';', "\n");
    if let Some(module) = lines.strip_prefix("module:") {
        return module.to_owned();
    }
    match lines.strip_prefix("debug:") {
        Some(module) => format!("{DEBUG}{module}"),
        None => format!("{PRELUDE}{lines}\n  return\n}}\n"),
    }
}

fn diagnose(text: &str) -> String {
    match asm::parse(text) {
        Err(error) => error.to_string(),
        Ok(module) => verdict(&module),
    }
}

fn verdict(module: &Module) -> String {
    if let Err(errors) = verify::verify(module) {
        return errors.to_string();
    }
    let warnings = verify::warnings(module).into_iter();
    Diagnostics(warnings.map(|(_, warning)| warning).collect()).to_string()
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
            let got = case.diagnose();
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

/// There is a case for every message that the verifier can give.
#[test]
fn every_message_of_the_verifier_has_a_case() {
    let said: Vec<String> = cases().iter().map(Case::diagnose).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/verify");
    let all: Vec<String> = ["cuda_tile", "structure.rs", "types.rs"]
        .iter()
        .flat_map(|name| messages::of_sources(&root.join(name)))
        .collect();
    assert!(all.len() > 150, "{} messages", all.len());
    let missing: Vec<_> = all
        .iter()
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
            let module = case.module()?;
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
            let known = messages::DIFFERENCES.iter().find(|d| case.is(d.0));
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
