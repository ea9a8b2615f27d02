//! The launch manifest inside PTX: the bytes of a variable.

use tilec::launch::MANIFEST_SYMBOL;

/// The text without the variable, and the manifest's JSON. Lines keep their numbers.
pub fn split(text: &str) -> Option<(String, String)> {
    let name = text.find(MANIFEST_SYMBOL)?;
    let start = text.get(..name)?.rfind(".global")?;
    let start = match text.get(..start)?.trim_end().strip_suffix(".visible") {
        Some(before) => before.len(),
        None => start,
    };
    let open = name + text.get(name..)?.find('{')?;
    let close = open + text.get(open..)?.find('}')?;
    let end = close + text.get(close..)?.find(';')? + 1;
    let numbers = text.get(open + 1..close)?.split(',');
    let bytes: Option<Vec<u8>> = numbers.map(|n| n.trim().parse().ok()).collect();
    let json = String::from_utf8(bytes?).ok()?;
    let lines = text.get(start..end)?.matches('\n').count();
    let rest = [text.get(..start)?, &"\n".repeat(lines), text.get(end..)?].concat();
    Some((rest, json))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_variable_goes_and_lines_stay() {
        let text = "a\n.visible .global .align 1 .b8 __tilec_manifest[2] = {\n 123,\n 125};\nb\n";
        let (rest, json) = split(text).unwrap();
        assert_eq!((rest.as_str(), json.as_str()), ("a\n\n\n\nb\n", "{}"));
        assert!(split(".visible .entry k() { ret; }").is_none());
    }
}
