//! The page around what it shows.

/// Text that is no markup.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Nothing of the text may end up as a control character, which HTML has no form for.
            c if c.is_control() && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A whole page; it loads nothing.
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1><nav aria-label=\"sections\"></nav>\n\
         <button type=\"button\" id=\"theme\" aria-label=\"light or dark\">light/dark</button>\n\
         <p class=\"keys\"><kbd>j</kbd> <kbd>k</kbd> line, <kbd>h</kbd> <kbd>l</kbd> panel, <kbd>Enter</kbd> keep, \
         <kbd>n</kbd> next related line, <kbd>Esc</kbd> let go, <kbd>1</kbd>–<kbd>9</kbd> show a panel or not, \
         <kbd>t</kbd> light or dark</p></header>\n\
         <main>\n{body}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn text_is_no_markup() {
        assert_eq!(
            escape("a<b> & \"c\"\u{1b}"),
            "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}"
        );
    }
}
