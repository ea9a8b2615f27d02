//! The messages in the verifier's sources, and what is known to differ from NVIDIA's.

use std::path::Path;

/// Messages that no case of the tables causes yet: parts of messages, what the text form cannot
/// say, warnings and debug info (which `tests/locations.rs` has), and gaps. None may be added.
pub const UNTOLD: &[&str] = &[
    "0-dimension tile shape is not supported",
    "16 or 32",
    "Tile type",
    "TileView instance",
    "any attribute",
    "any non-token type",
    "array attribute",
    "attribute 'function_type' failed to satisfy constraint: type attribute of function type",
    "bool attribute",
    "boolean value expected for {arch}.{key}",
    "cannot be nested",
    "cannot operate on sub-byte type F4E2M1FN",
    "constant data",
    "dictionary of named attribute values",
    "dimensions must have strictly positive constant sizes but got {}",
    "dimensions must have strictly positive constant strides but got {}",
    "entry block must have {} arguments to match function signature",
    "expect a number as identity at index: {i}",
    "expect at least 1 operand",
    "expect lhs and {name} shapes to match at non-concat position {i}, expected: {} but got: {other}",
    "expect non-empty block",
    "expect only float or integer types with 32 or 64 bit",
    "expect same number of operands and results",
    "expect same type for operand at index: {i} and terminator argument at index: {i} but got: {} and {}",
    "expected 'tensor_view' type, but got '{}'",
    "expected 1 for {arch}.{key}",
    "expected at least one block argument for induction variable",
    "expected dynamic {what} index {i} to be of the same type as the other dynamic values ({}), got {}",
    "expected gather/scatter index size ({}) to match tile shape at gather/scatter dimension {dim} ({})",
    "expected induction variable to be same type as bounds and step: {} vs {}",
    "expected pointer element type",
    "expected power-of-two ≤ 16 for {arch}.{key}",
    "expected power-of-two ≤ 32 for {arch}.{key}",
    "expected scalar index {i} to have the same type as other scalar indices ({}), got {}",
    "expected shape and stride to be of same rank but got shape of rank {} and stride of rank {}",
    "expected the type of the provided tensor_view value ({}) to be the same as the view's tensor_view type ({})",
    "expected {rank} index operand(s) for view with tile rank {rank}, got {}",
    "expected {rank} results due to {what}, but got {got}",
    "expected {want} dynamic {what} operands, got {got}",
    "expected {want} operand groups over all operands, got {got}",
    "expected {} attributes, got {}",
    "expects region #{i} to have 0 or 1 blocks",
    "expects source and result to be rank-1 tiles",
    "expects source and result to have different element type widths",
    "expects {what} tile to be byte-aligned",
    "f8 element type",
    "flat symbol reference attribute",
    "float attribute",
    "gather/scatter dimension {dim} is out of range for index count {}",
    "gather/scatter view type",
    "has {n} operands, but entry function must return 0 operands",
    "i1 dense array attribute",
    "i32 dense array attribute",
    "i64 dense array attribute",
    "index operand {i} must be a scalar tile (rank 0), got shape {}",
    "init value {i} and region iter_value {i} have different type: {} != {}",
    "integer value expected for {arch}.{key}",
    "integer value in the range [1, 10] is expected for {arch}.{key}",
    "integer value in the range [1, 32] is expected for {arch}.{key}",
    "integers or float of 32 or 64 bitwidth",
    "invalid block structure: block is expected to have a terminator operation, but it is empty",
    "invalid block structure: block is expected to have a terminator operation, but the last operation '{}' is not a terminator.",
    "invalid function debug info location. Function location must not be a CallSiteLoc.",
    "invalid function debug info scope. Function location must have cuda_tile.di_subprogram debug info scope.",
    "invalid function debug info scope. Function name \"{}\" does not match subprogram scope linkage name \"{}\".",
    "invalid operation debug info scope \"{}\". Operation debug info scope does not match function debug info scope: \"{}\".",
    "invalid operation debug info scope. Global variables must not have scope.",
    "invalid operation debug info scope. Operation has debug info scope, but function debug info scope is undefined.",
    "loop-carried value {i}",
    "mismatch in number of region iterator values and loop iterator inits: {} vs {}",
    "mmaf acc/result tile type",
    "mmaf_scaled operand tile type",
    "mmaf_scaled result tile type",
    "mmaf_scaled scale tile type",
    "mmai acc tile type",
    "multicast pointer is not supported for atomic_{what}",
    "operand #{i} does not dominate this use",
    "optimization hints",
    "partition view type",
    "pointer base without ptr_attr cannot produce tensor_view with ptr_attr",
    "ptr_attr mismatch between base pointer ({}) and tensor_view ({})",
    "region #{i} ('{}') failed to verify constraint: region with 1 blocks",
    "requires at most one operand '{}', got {n}",
    "requires one operand '{}', got {n}",
    "result #{i} must be cuda tile token type, but got '{}'",
    "shape error: dim {col} of lhs_scale ({blocks}) must be a divisor of dim {col} of lhs ({k}), but got lhs_scale shape ({}) and lhs shape ({})",
    "shape error: {subject} requires block scale factor of lhs_scale and rhs_scale to be {list}, but got {size}",
    "strided view type",
    "string attribute",
    "symbol name must not be empty",
    "tensor rank",
    "tensor view type",
    "tensor_view must preserve ptr_attr from base pointer ({})",
    "tile shape dimensions must have positive length but got [{}]",
    "type attribute",
    "type of entry block argument #{i}({}) must match the type of the corresponding argument in function signature({})",
    "unit attribute",
    "unknown hint key {arch}",
    "unsupported combination of element types. Scale type '{}' expects lhs and rhs element types to be '{}', but got '{}'",
    "unsupported input element type: {}",
    "value has {len} bytes, expected {width} or {}",
    "value must be numbers of a tile type",
    "value must have a tile type",
    "view index space rank",
    "{NAME} 'every'/'along' cannot be used if the constrained value is a tensor_view",
    "{NAME} divisor is too large",
    "{key} is not known hint for current Operation",
    "{subject} is a tile view, which is not supported",
    "{} element type with {} scales",
];

/// Cases (by part of their text) of which `tileirdisasm` says something else, which is this.
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
    // Files that cannot say what is wrong: it goes wrong after that.
    (
        "\"cuda_tile.addi\"(%n, %n) : (tile<i32>, tile<i32>) -> ()",
        "operand index 92 out of bounds",
    ),
    (
        "\"cuda_tile.if\"(%b) : (tile<i1>) -> ()",
        "op expected 2 regions",
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
