//! The layers of `src`: each module uses modules below it only. `ARCHITECTURE.md` says what they are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The modules of the library, lowest first.
const LAYERS: &[&str] = &[
    "scalar", "sexpr", "target", "launch", "layout", "dialect", "ir", "facts", "asm", "bytecode",
    "verify", "input", "eval", "egraph", "rules", "lower", "machine", "ptx", "isel", "llvm",
    "compile", "explain", "view", "ptxas", "driver",
];

/// What is compiled into tests only may use everything.
const TESTS_ONLY: &[&str] = &["made_up"];

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of src") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The module of the library that a file belongs to.
fn module(root: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(root).expect("a file of src");
    let first = inside.iter().next().and_then(|n| n.to_str());
    first.unwrap_or("").trim_end_matches(".rs").to_owned()
}

/// The modules that code names as `crate::NAME` or in `use crate::{…}`. Comments and unit tests do not count.
fn named(text: &str) -> BTreeSet<&str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    let mut found = BTreeSet::new();
    for line in lines {
        for after in line.split("crate::").skip(1) {
            let list = after.strip_prefix('{').unwrap_or(after);
            let names = match after.starts_with('{') {
                true => list.split('}').next().unwrap_or("").split(", ").collect(),
                false => vec![list],
            };
            let ident = |c: char| !c.is_ascii_alphanumeric() && c != '_';
            found.extend(names.iter().filter_map(|n| n.split(ident).next()));
        }
    }
    found
}

#[test]
fn modules_use_modules_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&root, &mut all);
    let height = |name: &str| LAYERS.iter().position(|l| *l == name);
    let mut wrong = Vec::new();
    for file in &all {
        let here = module(&root, file);
        let skipped = ["lib", "main"].contains(&here.as_str());
        if skipped || TESTS_ONLY.contains(&here.as_str()) || file.ends_with("tests.rs") {
            continue;
        }
        let own =
            height(&here).unwrap_or_else(|| panic!("`{here}` has no layer: add it to LAYERS"));
        let text = std::fs::read_to_string(file).expect("text");
        let above = |name: &&str| height(name).is_some_and(|h| h > own);
        let up: Vec<&str> = named(&text).into_iter().filter(above).collect();
        if !up.is_empty() {
            wrong.push(format!("{} uses {}", file.display(), up.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn references_are_found_in_each_form() {
    let text = "use crate::ir::{Module, Op};\nuse crate::{asm, verify::fail};\n// crate::driver\n\
        fn f() { crate::scalar::int::mask(1); }\n#[cfg(test)]\nmod tests {\nuse crate::eval;\n}";
    let expected = ["asm", "ir", "scalar", "verify"];
    assert_eq!(named(text).into_iter().collect::<Vec<_>>(), expected);
}
