//! S-expressions with positions.
//!
//! Forms live in an arena for as long as their file is being read: symbols borrow from the text,
//! lists and what substitution makes from the arena, so a form is two words to copy and nothing
//! to drop.

use std::fmt;

use bumpalo::Bump;

/// A place in a rule file, 1-based.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

/// What is wrong in a rule file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    pub pos: Pos,
    pub message: String,
}

impl Pos {
    /// An error here.
    pub fn wrong(self, message: impl Into<String>) -> Error {
        Error {
            pos: self,
            message: message.into(),
        }
    }
}

/// A form: a symbol, a string or a list.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    Symbol(&'a str),
    Text(&'a str),
    List(&'a [Sexpr<'a>]),
}

/// A form and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Sexpr<'a> {
    pub form: Form<'a>,
    pub pos: Pos,
}

impl<'a> Sexpr<'a> {
    pub fn symbol(&self) -> Option<&'a str> {
        match self.form {
            Form::Symbol(s) => Some(s),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&'a [Sexpr<'a>]> {
        match self.form {
            Form::List(items) => Some(items),
            _ => None,
        }
    }

    /// The symbol at the head of a list.
    pub fn keyword(&self) -> Option<&'a str> {
        self.list()?.first()?.symbol()
    }
}

/// As it would be written.
impl fmt::Display for Sexpr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            Form::Symbol(s) => f.write_str(s),
            Form::Text(s) => write!(f, "\"{s}\""),
            Form::List(items) => {
                f.write_str("(")?;
                for (i, item) in items.iter().enumerate() {
                    let space = if i > 0 { " " } else { "" };
                    write!(f, "{space}{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Nesting beyond this is an error, not a stack overflow.
const DEPTH: usize = 200;

/// Reads all forms of a text.
pub fn read<'a>(text: &'a str, arena: &'a Bump) -> Result<Vec<Sexpr<'a>>, Error> {
    let mut reader = Reader {
        arena,
        text,
        at: 0,
        pos: Pos { line: 1, column: 1 },
        open: Vec::new(),
    };
    let mut forms = Vec::new();
    while let Some(form) = reader.form(0)? {
        forms.push(form);
    }
    if reader.peek().is_some() {
        return Err(reader.pos.wrong("unmatched `)`"));
    }
    Ok(forms)
}

/// What a symbol cannot contain, by byte.
const ENDS_SYMBOL: [bool; 256] = {
    let mut ends = [false; 256];
    let bytes = b" \t\n\r\x0c();\"";
    let mut i = 0;
    while i < bytes.len() {
        ends[bytes[i] as usize] = true;
        i += 1;
    }
    ends
};

struct Reader<'a> {
    arena: &'a Bump,
    text: &'a str,
    /// Byte offset of what is next. Every delimiter is ASCII, so it is always at a character.
    at: usize,
    pos: Pos,
    /// Items of the lists that are still open, innermost last.
    open: Vec<Sexpr<'a>>,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes the next byte if it is this one.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
            self.pos.column += 1;
        }
        found
    }

    /// Takes `length` bytes and counts lines and columns.
    fn advance(&mut self, length: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + length];
        self.at += length;
        let column = match taken.rfind('\n') {
            Some(newline) => {
                self.pos.line += taken.bytes().filter(|c| *c == b'\n').count() as u32;
                self.pos.column = 1;
                &taken[newline + 1..]
            }
            None => taken,
        };
        self.pos.column += column.chars().count() as u32;
        taken
    }

    /// Takes everything up to a byte, or to the end.
    fn until(&mut self, byte: u8) -> &'a str {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|&c| c == byte);
        self.advance(length.unwrap_or(rest.len()))
    }

    fn symbol(&mut self) -> &'a str {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|&c| ENDS_SYMBOL[c as usize]);
        // No line ends in a symbol.
        let symbol = &self.text[self.at..self.at + length.unwrap_or(rest.len())];
        self.at += symbol.len();
        self.pos.column += symbol.chars().count() as u32;
        symbol
    }

    /// Skips white space and comments.
    fn blank(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                b';' => {
                    self.until(b'\n');
                }
                b'\n' => {
                    self.at += 1;
                    self.pos = Pos {
                        line: self.pos.line + 1,
                        column: 1,
                    };
                }
                _ if c.is_ascii_whitespace() => {
                    self.at += 1;
                    self.pos.column += 1;
                }
                _ => break,
            }
        }
    }

    /// The next form; `None` at the end or before `)`.
    fn form(&mut self, depth: usize) -> Result<Option<Sexpr<'a>>, Error> {
        self.blank();
        let pos = self.pos;
        if depth > DEPTH {
            return Err(pos.wrong("nested too deeply"));
        }
        let form = match self.peek() {
            None | Some(b')') => return Ok(None),
            Some(b'(') => {
                self.take(b'(');
                let outer = self.open.len();
                while let Some(item) = self.form(depth + 1)? {
                    self.open.push(item);
                }
                if !self.take(b')') {
                    return Err(pos.wrong("this `(` is never closed"));
                }
                let items = self.arena.alloc_slice_copy(&self.open[outer..]);
                self.open.truncate(outer);
                Form::List(items)
            }
            Some(b'"') => {
                self.take(b'"');
                let text = self.until(b'"');
                if !self.take(b'"') {
                    return Err(pos.wrong("this string is never closed"));
                }
                Form::Text(text)
            }
            Some(_) => Form::Symbol(self.symbol()),
        };
        Ok(Some(Sexpr { form, pos }))
    }
}
