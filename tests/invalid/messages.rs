//! The messages in the verifier's sources, and what is known to differ from NVIDIA's.

use std::path::Path;

/// Cases (by part of their text, or by what they are called) of which `tileirdisasm` says something else, which is this.
pub const DIFFERENCES: &[(&str, &str)] = &[
    // It checks what stands in a region before how the region ends.
    (
        "step %n) : tile<i32> { break }",
        "expects parent op to be one of 'cuda_tile.if, cuda_tile.loop'",
    ),
    (
        "step %n) : tile<i32> { yield }",
        "expects parent op to be one of 'cuda_tile.if, cuda_tile.reduce, cuda_tile.scan'",
    ),
    (
        "\ncontinue\n",
        "expects parent op to be one of 'cuda_tile.for, cuda_tile.if, cuda_tile.loop'",
    ),
    (
        "\nyield\n",
        "expects parent op to be one of 'cuda_tile.if, cuda_tile.reduce, cuda_tile.scan'",
    ),
    // A tile where one element is made of two: `tileiras` fails then, and does not say why.
    ("yield %f : tile<8x4xf32> }", "accepted"),
    // Files that cannot say what is wrong: it goes wrong after that.
    (
        "\"cuda_tile.addi\"(%n, %n) : (tile<i32>, tile<i32>) -> ()",
        "operand index 92 out of bounds",
    ),
    (
        "\"cuda_tile.if\"(%b) : (tile<i1>) -> ()",
        "op expected 2 regions",
    ),
    (
        "\"cuda_tile.load_ptr_tko\"(%pt, %m, %m, %f)",
        "failed to get result type 0 for AtomicCASTkoOp",
    ),
    (
        "\"cuda_tile.load_ptr_tko\"(%m)",
        "out of bounds (size=25) for mask segment, element 0",
    ),
    (
        "made.rs: addi without its operand groups",
        "operand index 92 out of bounds",
    ),
    (
        "made.rs: addi without its attributes",
        "operand index 92 out of bounds",
    ),
    // Flags say whether these are there, whatever they are: they are as they should be.
    (
        "arg_attrs of entry",
        "'none' does not reference a valid global",
    ),
    (
        "flush_to_zero of addf",
        "'none' does not reference a valid global",
    ),
    // Its reader says it.
    (
        "function_type = i32",
        "function signature index 1 does not refer to a function type for function 'e'",
    ),
    ("sym_name = \"\"", "function name at index 0 is empty"),
    (
        "optimization_hints of entry",
        "invalid optimization hints attribute for function 'kernel'",
    ),
    (
        "made.rs: two bytes of data",
        "failed to validate buffer size and format",
    ),
    (
        "made.rs: a view of a tile",
        "expected ::mlir::cuda_tile::TensorViewType but got '!cuda_tile.tile<i32>'",
    ),
    // Files cannot say it: arguments are the signature's, and globals have no place.
    (
        "function_type = (!cuda_tile.tile<i32>) -> ()}> ({\n^bb0:",
        "accepted",
    ),
    (
        "^bb0(%a: !cuda_tile.tile<i64>):\n \"cuda_tile.return\"",
        "accepted",
    ),
    (
        "\nglobal @g <f32: [1.0, 2.0]> : tile<2xf32> loc(#in_e)",
        "accepted",
    ),
    // Its alignment need not be one.
    ("global @g alignment = 3 ", "accepted"),
];

/// Every string literal of at least two words in a Rust source or those of a folder, but for tests and
/// comments; sorted.
pub fn of_sources(path: &Path) -> Vec<String> {
    let mut out = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            out.extend(of_sources(&entry.unwrap().path()));
        }
    } else {
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        out.extend(literals(code));
    }
    out.sort();
    out.dedup();
    out
}

fn literals(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    let code: String = lines.collect::<Vec<_>>().join("\n");
    let mut rest = code.as_str();
    while let Some(start) = rest.find('"') {
        // A character literal of a quotation mark.
        if rest[..start].ends_with('\'') {
            rest = &rest[start + 1..];
            continue;
        }
        let body = &rest[start + 1..];
        let mut text = String::new();
        let mut chars = body.char_indices();
        let end = loop {
            match chars.next() {
                Some((at, '"')) => break at,
                Some((_, '\\')) => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, c)) => text.push(c),
                    None => break body.len(),
                },
                Some((_, c)) => text.push(c),
                None => break body.len(),
            }
        };
        if fixed_parts(&text).concat().split_whitespace().count() > 1 {
            out.push(text);
        }
        rest = body.get(end + 1..).unwrap_or("");
    }
    out
}

/// What of a format string is always there.
fn fixed_parts(format: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                parts.last_mut().unwrap().push(c);
            }
            '{' => {
                while chars.next().is_some_and(|c| c != '}') {}
                parts.push(String::new());
            }
            c => parts.last_mut().unwrap().push(c),
        }
    }
    parts
}

/// Whether `text` has a message of this format.
pub fn matches(format: &str, text: &str) -> bool {
    let mut rest = text;
    fixed_parts(format)
        .iter()
        .all(|part| match rest.find(part.as_str()) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
}
