//! Compiles `rules/` and `isel/` in: the files as they are, and every rule by itself, written out
//! and without what only checking needs, by the operation it rewrites (`src/rules/index.rs`). A rule of an operation
//! that no dialect has fails the build.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

// The rows of all operations, and what their meanings name, to check rules against.
#[allow(dead_code, unused_imports)]
#[path = "src/dialect/mod.rs"]
mod dialect;
#[path = "src/rules/expand.rs"]
mod expand;
#[allow(dead_code, unused_imports)]
#[path = "src/scalar/mod.rs"]
mod scalar;
#[path = "src/sexpr.rs"]
mod sexpr;
#[path = "src/rules/spelling.rs"]
mod spelling;

use dialect::Dialect;
use sexpr::{Form, Sexpr};

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    for source in [
        "dialect",
        "rules/expand.rs",
        "rules/spelling.rs",
        "scalar",
        "sexpr.rs",
    ] {
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
    write("rule_index.rs", &index(&files));
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

/// What is written of a folder: the initialisers of its costs, and of its rules by operation.
#[derive(Default)]
struct Folder {
    costs: String,
    rules: BTreeMap<(String, String), String>,
}

fn index(files: &[(String, PathBuf)]) -> String {
    let mut folders: BTreeMap<&str, Folder> = BTreeMap::new();
    let mut order = 0;
    for (name, path) in files.iter().filter(|(name, _)| name.ends_with(".rules")) {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => panic!("{name}: {error}"),
        };
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        if let Err(error) = add(folders.entry(folder).or_default(), name, &text, &mut order) {
            // All of them, not the first alone, and without the trace of a panic.
            let (pos, message) = (error.pos, error.message);
            println!("cargo::error={name}:{}:{}: {message}", pos.line, pos.column);
        }
    }
    let mut code = String::from("/// The compiled-in rules.\nstatic FOLDERS: &[Folder] = &[\n");
    for (name, folder) in folders {
        let _ = writeln!(
            code,
            "Folder {{ name: {name:?}, costs: &[{}], rules: &[",
            folder.costs
        );
        for ((dialect, operation), rules) in folder.rules {
            let _ = writeln!(code, "(({dialect:?}, {operation:?}), &[{rules}]),");
        }
        code.push_str("] },\n");
    }
    code + "];\n"
}

/// Adds the forms of a file.
fn add(folder: &mut Folder, file: &str, text: &str, order: &mut u32) -> Result<(), sexpr::Error> {
    let arena = bumpalo::Bump::new();
    let mut sides = ("", "");
    for form in expand::expand(&sexpr::read(text, &arena)?, &arena)? {
        let items = form.list().unwrap_or(&[]);
        let pos = form.pos;
        let written = |text: &str| {
            let at = (pos.line, pos.column);
            format!(
                "Written {{ order: {order}, file: {file:?}, at: {at:?}, sides: {sides:?}, text: {text:?} }},"
            )
        };
        match form.keyword() {
            Some("dialect") => {
                let first = items.get(1).and_then(Sexpr::symbol).unwrap_or_default();
                sides = (first, items.last().and_then(Sexpr::symbol).unwrap_or(first));
            }
            Some("costs") => {
                spelling::costs(items, sides.0)?;
                folder.costs.push_str(&written(&form.to_string()));
            }
            Some("rule") => {
                let Some(rule) = strip(items) else {
                    return Err(pos.wrong("expected (rule NAME [\"DOC\"] (OPERATION …) …)"));
                };
                spelling::rule(items, sides)?;
                let entry = folder
                    .rules
                    .entry(operation(rule.root, sides.0))
                    .or_default();
                entry.push_str(&written(&rule.text));
            }
            _ => return Err(pos.wrong("expected (dialect …), (rule …) or (costs …)")),
        }
        *order += 1;
    }
    Ok(())
}

/// A rule as far as compilation needs it, and the operation at the root of its pattern.
struct Rule<'a> {
    root: &'a str,
    text: String,
}

/// A rule's form without its documentation, examples and what its check is told.
fn strip<'a>(items: &[Sexpr<'a>]) -> Option<Rule<'a>> {
    let idle = |item: &&Sexpr| {
        matches!(item.form, Form::Text(_)) || matches!(item.keyword(), Some("example" | "check"))
    };
    let kept: Vec<&Sexpr> = items.iter().filter(|item| !idle(item)).collect();
    let root = kept.get(2)?.keyword()?;
    let text: Vec<String> = kept.iter().map(|item| item.to_string()).collect();
    Some(Rule {
        root,
        text: format!("({})", text.join(" ")),
    })
}

/// Dialect and name of an operation; without a prefix it is of dialect `side`.
fn operation(name: &str, side: &str) -> (String, String) {
    match name.split_once('.') {
        Some((prefix, rest)) if Dialect::by_name(prefix).is_some() => (prefix.into(), rest.into()),
        _ => (side.into(), name.into()),
    }
}
