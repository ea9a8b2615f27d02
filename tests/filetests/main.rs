//! File tests: each `FOLDER/NAME.mlir` here is a small module that shows one decision of the compiler.
//!
//! ```text
//! // What is decided, and why.
//! // run: compile --emit nv_tileas --gpu-name sm_90a
//! // show: async. | .dot"
//! ```
//! Each `run` line is a command of tilec, which gets the file as its last argument. What it prints is a snapshot, to
//! be reviewed: all of it, or, with `show`, the lines that contain one of the given texts. Such lines are shortened so
//! that unrelated changes leave them alone: values have no numbers, types of operands are left out.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The values of all header lines `// KEY: VALUE`.
fn header<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = text.lines().take_while(|line| line.starts_with("//"));
    lines.filter_map(move |line| {
        line.strip_prefix("// ")?
            .strip_prefix(key)?
            .strip_prefix(": ")
    })
}

/// Standard output and standard error of a tilec command on a file, and whether it failed.
fn run(command: &str, file: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = file.strip_prefix(root).unwrap_or(file);
    let output = Command::new(env!("CARGO_BIN_EXE_tilec"))
        .current_dir(root)
        .args(command.split_whitespace())
        .arg(file)
        .output()
        .expect("tilec runs");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        let _ = writeln!(text, "exit status {}", output.status.code().unwrap_or(-1));
    }
    text
}

/// `%rd12` is `%rd`, ` : (types) -> type` is ` -> type`, the sizes of operand groups are dropped.
fn shorten(line: &str) -> String {
    let mut short = String::new();
    let mut value = false;
    for c in line.chars() {
        value = c == '%' || value && (c.is_ascii_alphanumeric() || c == '_');
        if !(value && c.is_ascii_digit()) {
            short.push(c);
        }
    }
    if let Some(at) = short.find(" : (") {
        let result = short
            .rfind(") -> ")
            .map_or(String::new(), |end| short[end + 1..].to_owned());
        short.truncate(at);
        short.push_str(&result);
    }
    if let Some(at) = short.find("operandSegmentSizes = ") {
        let end = short[at..]
            .find('>')
            .map_or(short.len(), |end| at + end + 1);
        short.replace_range(at..end, "");
        short = short.replace(", }>", "}>").replace(" <{}>", "");
    }
    short
}

fn shown(printed: &str, patterns: &[&str]) -> String {
    if patterns.is_empty() {
        return printed.to_owned();
    }
    let has = |line: &&str| patterns.iter().any(|p| line.contains(p));
    let lines = printed.lines().filter(has).map(shorten);
    lines.map(|line| line + "\n").collect()
}

#[test]
fn every_decision_is_as_reviewed() {
    insta::glob!("*/*.mlir", |path| {
        let text = std::fs::read_to_string(path).expect("a file");
        let patterns: Vec<&str> = header(&text, "show").flat_map(|l| l.split(" | ")).collect();
        let mut snapshot = String::new();
        for command in header(&text, "run") {
            let printed = run(command, path);
            let _ = write!(
                snapshot,
                "$ tilec {command}\n{}",
                shown(&printed, &patterns)
            );
        }
        assert!(
            !snapshot.is_empty(),
            "{} has no `// run:` line",
            path.display()
        );
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(snapshot);
        });
    });
}
