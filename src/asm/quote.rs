//! Names and strings as text has them.

/// `text` in double quotes, escaped as MLIR does.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' => out.push_str("\\22"),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7E => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:02X}")),
        }
    }
    out.push('"');
    out
}

/// Whether `text` can be written without quotes.
pub fn is_bare(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}

/// `@name`, quoted where needed.
pub fn symbol(name: &str) -> String {
    match is_bare(name) {
        true => format!("@{name}"),
        false => format!("@{}", quoted(name)),
    }
}
