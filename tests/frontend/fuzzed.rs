//! What the fuzzers of `tools/fuzz` found, kept: each file of `tests/fuzzed/TARGET/` is an input that
//! broke the check of that target once.

use crate::checks;
use std::path::Path;

fn each(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzzed")
        .join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        println!("{}", file.display());
        check(&std::fs::read(&file).expect("a file"));
    }
}

#[test]
fn bytecode() {
    each("bytecode", |data| {
        checks::bytecode(data);
        checks::eval(data);
        checks::compile(data);
    });
}

#[test]
fn eval() {
    each("eval", checks::eval);
}

#[test]
fn text() {
    each("text", |data| checks::text(&String::from_utf8_lossy(data)));
}
