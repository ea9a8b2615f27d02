//! S-expressions with positions.
//!
//! Forms live in an arena for as long as their file is being read: symbols borrow from the text,
//! lists and what substitution makes from the arena, so a form is two words to copy and nothing
//! to drop.

use std::fmt;

use bumpalo::Bump;

use crate::ir::{Diagnostic, Place};

/// A place in a rule file, 1-based.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

impl Pos {
    /// An error here.
    pub fn error(self, file: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(Place::Line {
            file: file.to_string(),
            line: self.line,
            column: self.column,
        })
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
pub fn read<'a>(text: &'a str, file: &str, arena: &'a Bump) -> Result<Vec<Sexpr<'a>>, Diagnostic> {
    let mut reader = Reader {
        arena,
        text,
        at: 0,
        file,
        pos: Pos { line: 1, column: 1 },
        open: Vec::new(),
    };
    let mut forms = Vec::new();
    while let Some(form) = reader.form(0)? {
        forms.push(form);
    }
    if reader.peek().is_some() {
        return Err(reader.pos.error(file, "unmatched `)`"));
    }
    Ok(forms)
}

struct Reader<'a, 'f> {
    arena: &'a Bump,
    text: &'a str,
    /// Byte offset of what is next. Every delimiter is ASCII, so it is always at a character.
    at: usize,
    file: &'f str,
    pos: Pos,
    /// Items of the lists that are still open, innermost last.
    open: Vec<Sexpr<'a>>,
}

impl<'a> Reader<'a, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let c = self.peek()?;
        self.at += 1;
        if c == b'\n' {
            self.pos.line += 1;
            self.pos.column = 1;
        } else if c & 0xc0 != 0x80 {
            // Columns count characters: continuation bytes of UTF-8 do not.
            self.pos.column += 1;
        }
        Some(c)
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.next();
        }
    }

    fn blank(&mut self) {
        loop {
            self.skip_while(|c| c.is_ascii_whitespace());
            if self.peek() != Some(b';') {
                break;
            }
            self.skip_while(|c| c != b'\n');
        }
    }

    /// The next form; `None` at the end or before `)`.
    fn form(&mut self, depth: usize) -> Result<Option<Sexpr<'a>>, Diagnostic> {
        self.blank();
        let pos = self.pos;
        if depth > DEPTH {
            return Err(pos.error(self.file, "nested too deeply"));
        }
        let form = match self.peek() {
            None | Some(b')') => return Ok(None),
            Some(b'(') => {
                self.next();
                let outer = self.open.len();
                while let Some(item) = self.form(depth + 1)? {
                    self.open.push(item);
                }
                if self.next() != Some(b')') {
                    return Err(pos.error(self.file, "this `(` is never closed"));
                }
                let items = self.arena.alloc_slice_copy(&self.open[outer..]);
                self.open.truncate(outer);
                Form::List(items)
            }
            Some(b'"') => {
                self.next();
                let start = self.at;
                self.skip_while(|c| c != b'"');
                let text = &self.text[start..self.at];
                if self.next().is_none() {
                    return Err(pos.error(self.file, "this string is never closed"));
                }
                Form::Text(text)
            }
            Some(_) => {
                let start = self.at;
                self.skip_while(|c| !c.is_ascii_whitespace() && !b"();\"".contains(&c));
                Form::Symbol(&self.text[start..self.at])
            }
        };
        Ok(Some(Sexpr { form, pos }))
    }
}
