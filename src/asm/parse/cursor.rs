//! Position in the text, tokens, and errors that point at it.

use crate::ir::Diagnostic;

/// What reading yields, or what is wrong, with its place.
pub type Result<T> = std::result::Result<T, Diagnostic>;

#[derive(Clone)]
pub struct Cursor<'t> {
    text: &'t str,
    file: &'t str,
    pos: usize,
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str, file: &'t str) -> Self {
        Self { text, file, pos: 0 }
    }

    /// All of the text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    pub fn offset(&mut self) -> usize {
        self.space();
        self.pos
    }

    fn bytes(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.pos..]
    }

    /// Skips white space and `//` comments.
    fn space(&mut self) {
        loop {
            let rest = self.bytes();
            let blank = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            self.pos += blank;
            let rest = &rest[blank..];
            if !rest.starts_with(b"//") {
                return;
            }
            self.pos += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        }
    }

    pub fn at_end(&mut self) -> bool {
        self.space();
        self.pos == self.text.len()
    }

    /// Whether `token` comes next; a word must end there.
    pub fn peek(&mut self, token: &str) -> bool {
        self.space();
        let rest = self.bytes();
        rest.starts_with(token.as_bytes()) && {
            let word = token.bytes().all(is_word);
            !word || !rest.get(token.len()).is_some_and(|&b| is_word(b))
        }
    }

    pub fn eat(&mut self, token: &str) -> bool {
        let found = self.peek(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    pub fn expect(&mut self, token: &str) -> Result<()> {
        match self.eat(token) {
            true => Ok(()),
            false => Err(self.expected(&format!("'{token}'"))),
        }
    }

    /// A word of letters, digits, `_`, `$` and `.`, without consuming it; empty if there is none.
    pub fn peek_word(&mut self) -> &'t str {
        self.space();
        let len = self.bytes().iter().take_while(|b| is_word(**b)).count();
        &self.text[self.pos..self.pos + len]
    }

    pub fn word(&mut self, what: &str) -> Result<&'t str> {
        match self.peek_word() {
            "" => Err(self.expected(what)),
            word => {
                self.pos += word.len();
                Ok(word)
            }
        }
    }

    /// `%name`, without the sign and any `#n`.
    pub fn value_name(&mut self) -> Result<&'t str> {
        if !self.eat("%") {
            return Err(self.expected("a value (%name)"));
        }
        let name = |b: &&u8| is_word(**b) || **b == b'-';
        let len = self.bytes().iter().take_while(name).count();
        if len == 0 {
            return Err(self.expected("a name after '%'"));
        }
        self.pos += len;
        Ok(&self.text[self.pos - len..self.pos])
    }

    /// `#n` directly after a value's name.
    pub fn result_number(&mut self) -> Result<Option<usize>> {
        if self.bytes().first() != Some(&b'#') {
            return Ok(None);
        }
        self.pos += 1;
        self.count().map(Some)
    }

    /// A small number.
    pub fn count(&mut self) -> Result<usize> {
        let at = self.offset();
        let digits = self.digits();
        digits
            .parse()
            .map_err(|_| self.error_at(at, "expected a number".into()))
    }

    /// Decimal digits directly here, maybe none.
    pub fn digits(&mut self) -> &'t str {
        let len = self
            .bytes()
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        self.pos += len;
        &self.text[self.pos - len..self.pos]
    }

    /// One character directly here.
    pub fn eat_char(&mut self, c: u8) -> bool {
        let found = self.bytes().first() == Some(&c);
        self.pos += usize::from(found);
        found
    }

    /// The next byte after white space.
    pub fn peek_byte(&mut self) -> Option<u8> {
        self.space();
        self.bytes().first().copied()
    }

    /// A number's text: sign, digits, fraction, exponent, or hexadecimal.
    pub fn number(&mut self) -> Result<&'t str> {
        self.space();
        let rest = self.bytes();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let body = &rest[sign..];
        let len = if body.starts_with(b"0x") {
            2 + body[2..]
                .iter()
                .take_while(|b| b.is_ascii_hexdigit())
                .count()
        } else {
            decimal_len(body)
        };
        if len == 0 {
            return Err(self.expected("a number"));
        }
        self.pos += sign + len;
        Ok(&self.text[self.pos - sign - len..self.pos])
    }

    /// An integer of up to 64 bits, signed or not.
    pub fn integer(&mut self) -> Result<i64> {
        let at = self.offset();
        let text = self.number()?;
        let value = text
            .parse::<i64>()
            .ok()
            .or_else(|| text.parse::<u64>().ok().map(|v| v as i64));
        value.ok_or_else(|| self.error_at(at, format!("expected a 64-bit integer, got '{text}'")))
    }

    /// A quoted string, unescaped.
    pub fn string(&mut self) -> Result<String> {
        let at = self.offset();
        if !self.eat("\"") {
            return Err(self.expected("a string"));
        }
        let mut out = Vec::new();
        loop {
            let rest = self.bytes();
            match rest {
                [] | [b'\n', ..] => return Err(self.error_at(at, "unterminated string".into())),
                [b'"', ..] => break,
                [b'\\', b'n', ..] => out.push(b'\n'),
                [b'\\', b't', ..] => out.push(b'\t'),
                [b'\\', c @ (b'"' | b'\\'), ..] => out.push(*c),
                [b'\\', h, l, ..] if h.is_ascii_hexdigit() && l.is_ascii_hexdigit() => {
                    let digit = |b: &u8| char::from(*b).to_digit(16).unwrap_or(0) as u8;
                    out.push(digit(h) << 4 | digit(l));
                    self.pos += 1;
                }
                [b'\\', ..] => return Err(self.error("unknown escape in string".into())),
                [c, ..] => out.push(*c),
            }
            self.pos += 1 + usize::from(rest[0] == b'\\');
        }
        self.pos += 1;
        String::from_utf8(out).map_err(|_| self.error_at(at, "string is not valid UTF-8".into()))
    }

    /// `@name` or `@"name"`, without the sign.
    pub fn symbol(&mut self) -> Result<String> {
        if !self.eat("@") {
            return Err(self.expected("a symbol (@name)"));
        }
        match self.bytes().first() {
            Some(b'"') => self.string(),
            _ => self.word("a symbol's name").map(str::to_owned),
        }
    }

    /// A dictionary key.
    pub fn key(&mut self) -> Result<String> {
        match self.peek("\"") {
            true => self.string(),
            false => self.word("a name").map(str::to_owned),
        }
    }

    /// Skips `( … )`, strings inside respected.
    pub fn skip_balanced(&mut self) -> Result<()> {
        self.expect("(")?;
        let mut open = 1;
        while open > 0 {
            match self.peek_byte() {
                None => return Err(self.expected("')'")),
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'(') => open += 1,
                Some(b')') => open -= 1,
                Some(_) => {}
            }
            self.pos += self.text[self.pos..]
                .chars()
                .next()
                .map_or(1, char::len_utf8);
        }
        Ok(())
    }

    pub fn expected(&mut self, what: &str) -> Diagnostic {
        self.space();
        let rest = &self.text[self.pos..];
        let got = match rest.chars().next() {
            None => "the end".to_owned(),
            Some(c) if c.is_ascii_alphanumeric() => format!("'{}'", self.peek_word()),
            Some(c) => format!("'{c}'"),
        };
        self.error(format!("expected {what}, got {got}"))
    }

    pub fn error(&self, message: String) -> Diagnostic {
        self.error_at(self.pos, message)
    }

    /// An error at a byte offset, with the line and a caret under it.
    pub fn error_at(&self, at: usize, message: String) -> Diagnostic {
        Diagnostic::error_in(self.text, self.file, at, message)
    }
}

/// Length of `digits[.digits][e[±]digits]`.
fn decimal_len(body: &[u8]) -> usize {
    let digits = |from: usize| {
        body[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut len = digits(0);
    if len == 0 {
        return 0;
    }
    if body.get(len) == Some(&b'.') {
        len += 1 + digits(len + 1);
    }
    if matches!(body.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(body.get(len + 1), Some(b'+' | b'-')));
        let exponent = body
            .get(len + 1 + sign..)
            .map_or(0, |_| digits(len + 1 + sign));
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    len
}
