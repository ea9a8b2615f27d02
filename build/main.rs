//! The build script. Compiles `rules/` and `isel/` in: the files as they are, and what the rules and rows in them are once
//! read, as constants, so that no compilation reads them again. What is wrong in one of them fails the build.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

mod rust;

// What reads these files: the same source that reads those of `--rules-dir` and `--isel-dir`.
#[allow(dead_code, unused_imports)]
#[path = "../src/dialect/mod.rs"]
mod dialect;
#[allow(dead_code)]
mod egraph;
mod facts;
#[allow(dead_code, unused_imports)]
mod ir;
#[allow(dead_code)]
mod isel;
#[allow(dead_code)]
mod machine;
#[allow(dead_code)]
mod rules;
#[allow(dead_code, unused_imports)]
#[path = "../src/scalar/mod.rs"]
mod scalar;
#[allow(dead_code)]
#[path = "../src/sexpr.rs"]
mod sexpr;
#[allow(dead_code)]
mod target;

use egraph::rule::{Examples, RuleSet};
use isel::table::Patterns;
use machine::table::row;
use rules::group::Group;

/// What of `src/` is part of this program.
const SOURCES: [&str; 17] = [
    "dialect",
    "egraph/head.rs",
    "egraph/rule.rs",
    "facts/leaf.rs",
    "ir/diag.rs",
    "isel/table",
    "machine/class.rs",
    "machine/rows.rs",
    "machine/table/row.rs",
    "rules/expand.rs",
    "rules/group.rs",
    "rules/lower",
    "rules/names.rs",
    "rules/parse.rs",
    "scalar",
    "target/feature.rs",
    "target/name.rs",
];

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/sexpr.rs");
    for source in SOURCES {
        println!("cargo::rerun-if-changed=src/{source}");
    }
    let mut files = Vec::new();
    for top in ["rules", "isel"] {
        println!("cargo::rerun-if-changed={top}");
        collect(&root.join(top), &mut files);
    }
    files.sort();
    let files: Vec<(String, PathBuf)> = files.into_iter().map(|f| (name(&root, &f), f)).collect();
    write("rule_files.rs", &list(&files));
    write("rule_sets.rs", &sets(&files));
    write("instructions.rs", &instructions(&root));
    write("selection.rs", &selection(&files));
    link_at_a_fixed_address();
}

/// The program is linked for one address: one that can be loaded anywhere has 14,000 pointers to adjust, on a hundred
/// pages that are read for nothing else, each time it starts. That is a tenth of a small kernel's compilation.
fn link_at_a_fixed_address() {
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}"));
    if target("OS").as_deref() == Ok("linux") && target("ENV").as_deref() == Ok("gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Path below `rules/`, or from `isel/` on.
fn name(root: &Path, file: &Path) -> String {
    let relative = file.strip_prefix(root).unwrap_or(file);
    let relative = relative.strip_prefix("rules").unwrap_or(relative);
    relative.display().to_string()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rules" || e == "sel") {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
}

fn write(file: &str, code: &str) {
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join(file);
    if std::fs::read_to_string(&out).is_ok_and(|old| old == code) {
        return;
    }
    if let Err(error) = std::fs::write(&out, code) {
        panic!("cannot write {file}: {error}");
    }
}

fn list(files: &[(String, PathBuf)]) -> String {
    let mut code = String::from(
        "/// Every rule file: path below `rules/` (or from `isel/` on) and text.\npub static FILES: &[(&str, &str)] = &[\n",
    );
    for (name, path) in files {
        let path = path.display().to_string();
        let _ = writeln!(code, "    ({name:?}, include_str!({path:?})),");
    }
    code + "];\n"
}

/// The rules of every group, read.
fn sets(files: &[(String, PathBuf)]) -> String {
    let mut code = String::from(
        "/// The compiled-in rules, by group.\nstatic BUILTIN: [Builtin; Group::ALL.len()] = [\n",
    );
    for group in Group::ALL {
        match set(&read(group, files)) {
            Ok(text) => code.push_str(&text),
            Err(error) => panic!("{group:?}: {error}"),
        }
    }
    code + "];\n"
}

/// The rows of the instruction table, read.
fn instructions(root: &Path) -> String {
    let file = "isel/ptx.insn";
    let rows = row::read(&text(&root.join(file)), file).map_err(|error| say(&error));
    let rows = rows.unwrap_or_default();
    constant("INSTRUCTIONS", "Rows<Row>", &rows)
}

/// The rows of the selection tables, read.
fn selection(files: &[(String, PathBuf)]) -> String {
    let tables = [("SELECT", "isel/select/"), ("LLVM", "isel/llvm/")];
    let tables = tables.map(|(name, folder)| {
        let mut patterns = Patterns::default();
        for (name, path) in files.iter().filter(|(name, _)| name.starts_with(folder)) {
            if let Err(error) = patterns.add(&text(path), name) {
                say(&error);
            }
        }
        constant(name, "Patterns", &patterns)
    });
    tables.concat()
}

/// Fails the build in the end: all files' first mistakes are said, not the first alone, without the trace of a panic.
fn say(error: &ir::Diagnostic) {
    for line in error.to_string().lines() {
        println!("cargo::error={line}");
    }
}

/// A constant of the program.
fn constant(name: &str, ty: &str, value: &impl serde::Serialize) -> String {
    match rust::expression(value) {
        Ok(value) => format!("pub static {name}: {ty} = {value};\n"),
        Err(error) => panic!("{name}: {error}"),
    }
}

fn text(path: &Path) -> String {
    match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Reads the rules of a group. What is wrong in a file is said with its place, and fails the build.
fn read(group: Group, files: &[(String, PathBuf)]) -> RuleSet {
    let mut set = RuleSet::new(Examples::Dropped);
    for folder in group.folders() {
        let here = |name: &str| {
            name.strip_suffix(".rules")
                .and_then(|name| name.rsplit_once('/'))
                .is_some_and(|(of, _)| of == *folder)
        };
        for (name, path) in files.iter().filter(|(name, _)| here(name)) {
            if let Err(error) = set.add(&text(path), name) {
                say(&error);
            }
        }
    }
    set
}

/// A group's rules as constants, and by the operations that they match.
fn set(set: &RuleSet) -> Result<String, rust::Error> {
    let mut code = String::from("Builtin { rules: &[\n");
    for rule in set.rules.iter() {
        let _ = writeln!(code, "{},", rust::expression(rule)?);
    }
    code.push_str("], heads: &[\n");
    let mut heads: Vec<_> = set.by_head.iter().collect();
    heads.sort();
    for (head, rules) in heads {
        let _ = writeln!(code, "({}, &{rules:?}),", rust::expression(head)?);
    }
    code.push_str("], costs: &[\n");
    let mut costs: Vec<_> = set.costs.iter().collect();
    costs.sort_by_key(|(head, _)| **head);
    for cost in costs {
        let _ = writeln!(code, "{},", rust::expression(&cost)?);
    }
    let _ = writeln!(code, "], depth: {} }},", set.depth);
    Ok(code)
}
