//! Text of a PTX module to tokens. Each token carries its line.

use super::ParseError;

/// One token. Words keep their text; opcodes such as `ld.global.v4` come as a word and dotted words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// An identifier: `%r1`, `$L__BB0_1`, `mov`, `_`.
    Word(&'a str),
    /// A dotted word without its dot: `global`, `3d`, `shared::cluster`, `L2::128B`.
    Dot(&'a str),
    /// A numeric literal as written.
    Number(&'a str),
    /// A string literal without its quotes.
    Text(&'a str),
    /// A punctuation character.
    Punct(char),
}

/// A token and the 1-based line on which it starts.
#[derive(Debug, Clone, Copy)]
pub struct Spanned<'a> {
    /// What was read.
    pub token: Token<'a>,
    /// 1-based source line.
    pub line: u32,
}

/// tileiras appends the Tile IR that it compiled, which is no PTX; nothing follows it.
const EMBEDDED_SOURCE: &str = ".nv_intermediate_source_section";

fn is_word_start(c: u8) -> bool {
    c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'%')
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$')
}

/// Splits `text` into tokens. Comments (`//`, `/* */`) disappear, as do NUL bytes, which separate lines in the PTX
/// that tools embed in ELF sections.
pub fn tokenize(text: &str) -> Result<Vec<Spanned<'_>>, ParseError> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        pos: 0,
        line: 1,
    };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError {
            line: self.line,
            message: message.into(),
        }
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        let start = self.pos;
        while self.pos < self.bytes.len() && keep(self.bytes[self.pos]) {
            self.pos += 1;
        }
        self.text.get(start..self.pos).unwrap_or("")
    }

    fn skip_blank(&mut self) -> Result<(), ParseError> {
        while self.pos < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.pos += 1;
                }
                (b'/', b'/') => {
                    self.take_while(|c| c != b'\n' && c != 0);
                }
                (b'/', b'*') => self.skip_block_comment()?,
                (c, _) if c == 0 || c.is_ascii_whitespace() => self.pos += 1,
                _ => break,
            }
        }
        Ok(())
    }

    fn skip_block_comment(&mut self) -> Result<(), ParseError> {
        let opened = self.line;
        self.pos += 2;
        while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
            if self.pos >= self.bytes.len() {
                return Err(ParseError {
                    line: opened,
                    message: "comment is never closed".into(),
                });
            }
            self.line += u32::from(self.peek(0) == b'\n');
            self.pos += 1;
        }
        self.pos += 2;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Spanned<'a>>, ParseError> {
        self.skip_blank()?;
        if self.pos >= self.bytes.len() {
            return Ok(None);
        }
        let line = self.line;
        let token = match self.peek(0) {
            c if is_word_start(c) => {
                let start = self.pos;
                self.pos += 1;
                self.take_while(is_word);
                Token::Word(&self.text[start..self.pos])
            }
            b'.' if self.text[self.pos..].starts_with(EMBEDDED_SOURCE) => return Ok(None),
            b'.' => self.dotted()?,
            c if c.is_ascii_digit() => self.number(),
            b'"' => self.string()?,
            c if c.is_ascii() => {
                self.pos += 1;
                Token::Punct(c as char)
            }
            _ => return Err(self.error("character outside ASCII")),
        };
        Ok(Some(Spanned { token, line }))
    }

    fn dotted(&mut self) -> Result<Token<'a>, ParseError> {
        self.pos += 1;
        let start = self.pos;
        self.take_while(is_word);
        while self.peek(0) == b':' && self.peek(1) == b':' && is_word(self.peek(2)) {
            self.pos += 2;
            self.take_while(is_word);
        }
        if self.pos == start {
            return Err(self.error("a '.' with nothing after it"));
        }
        Ok(Token::Dot(&self.text[start..self.pos]))
    }

    /// Integers (`10`, `0x1F`, `0b1`, `7U`), exact floats (`0f3F800000`, `0d…`) and decimal floats (`1.5e-3`).
    fn number(&mut self) -> Token<'a> {
        let start = self.pos;
        self.take_while(|c| c.is_ascii_alphanumeric());
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.pos += 1;
            self.take_while(|c| c.is_ascii_alphanumeric());
        }
        let exponent = self.text[start..self.pos].ends_with(['e', 'E'])
            && !self.text[start..].starts_with("0x");
        if exponent
            && matches!(self.peek(0), b'+' | b'-')
            && !self.text[start..].starts_with("0f")
            && !self.text[start..].starts_with("0d")
        {
            self.pos += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        Token::Number(&self.text[start..self.pos])
    }

    fn string(&mut self) -> Result<Token<'a>, ParseError> {
        self.pos += 1;
        let text = self.take_while(|c| c != b'"' && c != b'\n');
        if self.peek(0) != b'"' {
            return Err(self.error("string is never closed"));
        }
        self.pos += 1;
        Ok(Token::Text(text))
    }
}
