//! S-expressions with positions.

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
#[derive(Clone, Debug)]
pub enum Form {
    Symbol(String),
    Text(String),
    List(Vec<Sexpr>),
}

/// A form and where it is.
#[derive(Clone, Debug)]
pub struct Sexpr {
    pub form: Form,
    pub pos: Pos,
}

impl Sexpr {
    pub fn symbol(&self) -> Option<&str> {
        match &self.form {
            Form::Symbol(s) => Some(s),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Sexpr]> {
        match &self.form {
            Form::List(items) => Some(items),
            _ => None,
        }
    }

    /// The symbol at the head of a list.
    pub fn keyword(&self) -> Option<&str> {
        self.list()?.first()?.symbol()
    }
}

/// Nesting beyond this is an error, not a stack overflow.
const DEPTH: usize = 200;

/// Reads all forms of a text.
pub fn read(text: &str, file: &str) -> Result<Vec<Sexpr>, Diagnostic> {
    let mut reader = Reader {
        rest: text.char_indices().peekable(),
        text,
        file,
        pos: Pos { line: 1, column: 1 },
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

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::CharIndices<'t>>,
    text: &'t str,
    file: &'t str,
    pos: Pos,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|&(_, c)| c)
    }

    fn next(&mut self) -> Option<char> {
        let (_, c) = self.rest.next()?;
        if c == '\n' {
            self.pos.line += 1;
            self.pos.column = 1;
        } else {
            self.pos.column += 1;
        }
        Some(c)
    }

    fn offset(&mut self) -> usize {
        self.rest.peek().map_or(self.text.len(), |&(i, _)| i)
    }

    fn blank(&mut self) {
        while let Some(c) = self.peek() {
            if c == ';' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.next();
                }
            } else if c.is_whitespace() {
                self.next();
            } else {
                break;
            }
        }
    }

    /// The next form; `None` at the end or before `)`.
    fn form(&mut self, depth: usize) -> Result<Option<Sexpr>, Diagnostic> {
        self.blank();
        let pos = self.pos;
        if depth > DEPTH {
            return Err(pos.error(self.file, "nested too deeply"));
        }
        let form = match self.peek() {
            None | Some(')') => return Ok(None),
            Some('(') => {
                self.next();
                let mut items = Vec::new();
                while let Some(item) = self.form(depth + 1)? {
                    items.push(item);
                }
                if self.next() != Some(')') {
                    return Err(pos.error(self.file, "this `(` is never closed"));
                }
                Form::List(items)
            }
            Some('"') => Form::Text(self.string(pos)?),
            Some(_) => {
                let start = self.offset();
                while self
                    .peek()
                    .is_some_and(|c| !c.is_whitespace() && !"();\"".contains(c))
                {
                    self.next();
                }
                let end = self.offset();
                Form::Symbol(self.text[start..end].to_string())
            }
        };
        Ok(Some(Sexpr { form, pos }))
    }

    fn string(&mut self, start: Pos) -> Result<String, Diagnostic> {
        self.next();
        let mut out = String::new();
        loop {
            match self.next() {
                None => return Err(start.error(self.file, "this string is never closed")),
                Some('"') => return Ok(out),
                Some(c) => out.push(c),
            }
        }
    }
}
