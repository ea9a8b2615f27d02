//! Comparing Tile IR text modulo SSA names and white space.

#![allow(dead_code)] // No single test file uses everything.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Every `.tilebc` file below `tests/`, in a fixed order.
pub fn bytecode_files() -> Vec<PathBuf> {
    let mut out = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    collect(&root.join("corpus"), &mut out);
    collect(&root.join("encoder"), &mut out);
    out.sort();
    assert!(out.len() > 30, "no bytecode files under tests/");
    out
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "tilebc") {
            out.push(path);
        }
    }
}

/// The tokens of `text`, each SSA name replaced by the number of its definition.
pub fn tokens(text: &str) -> Vec<String> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut defined = 0;
    let mut out = Vec::new();
    for line in text.lines() {
        let results = line
            .find(" = ")
            .filter(|_| line.trim_start().starts_with('%'))
            .unwrap_or(0);
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            let len = token_len(rest);
            let token = &rest[..len];
            if token.starts_with('%') {
                if at < results || defines(&line[..at], &rest[len..]) {
                    names.insert(token, defined);
                    defined += 1;
                }
                let number = names.get(token);
                out.push(number.map_or_else(|| format!("%?{token}"), |n| format!("%{n}")));
            } else if !token.trim().is_empty() {
                out.push(token.to_owned());
            }
            at += len;
        }
    }
    out
}

/// Whether a name between these is a block argument.
fn defines(before: &str, after: &str) -> bool {
    let argument = (before.ends_with('(') || before.ends_with(", "))
        && after.starts_with(": ")
        && !after[2..].starts_with(|c: char| c.is_ascii_digit());
    let induction = before.ends_with("for ") || before.ends_with("for unsigned ");
    let open = before.rfind("iter_values(").map(|i| &before[i..]);
    let carried = open.is_some_and(|b| !b.contains(')')) && after.starts_with(" = ");
    argument || induction || carried
}

fn token_len(rest: &str) -> usize {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = rest.chars().next().unwrap();
    let until = |from: usize, stop: &dyn Fn(char) -> bool| {
        rest[from..].find(stop).map_or(rest.len(), |n| from + n)
    };
    match first {
        '"' => {
            let mut escaped = false;
            let close = rest[1..].find(|c: char| {
                let end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                end
            });
            close.map_or(rest.len(), |n| n + 2)
        }
        '%' => until(1, &|c| !word(c) && !matches!(c, '$' | '.' | '-')),
        c if c.is_whitespace() => until(0, &|c| !c.is_whitespace()),
        c if word(c) => until(0, &|c| !word(c) && c != '.'),
        c => c.len_utf8(),
    }
}
