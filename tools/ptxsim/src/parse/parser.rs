//! Tokens to a syntax tree.

use super::ParseError;
use super::ast::{Function, Module, VarSpace, Variable};
use super::lexer::{Spanned, Token, tokenize};
use super::number::Literal;

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// Blocks may nest this deep; more is refused rather than overflowing the stack.
pub(super) const MAX_NESTING: usize = 64;

/// Parses a whole module.
pub fn parse(text: &str) -> Result<Module<'_>> {
    let tokens = tokenize(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        pos: 0,
        depth: 0,
    };
    parser.module()
}

pub(super) struct Parser<'a, 't> {
    tokens: &'t [Spanned<'a>],
    pub(super) pos: usize,
    pub(super) depth: usize,
}

impl<'a> Parser<'a, '_> {
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.pos + ahead).map(|t| t.token)
    }

    pub(super) fn line(&self) -> u32 {
        self.tokens
            .get(self.pos)
            .or(self.tokens.last())
            .map_or(1, |t| t.line)
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError {
            line: self.line(),
            message: message.into(),
        })
    }

    pub(super) fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.peek() {
            Some(Token::Word(w) | Token::Number(w)) => format!("`{w}`"),
            Some(Token::Dot(w)) => format!("`.{w}`"),
            Some(Token::Text(w)) => format!("\"{w}\""),
            Some(Token::Punct(c)) => format!("`{c}`"),
            None => "the end of the text".into(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        let hit = self.peek() == Some(Token::Punct(c));
        self.pos += usize::from(hit);
        hit
    }

    pub(super) fn expect(&mut self, c: char) -> Result<()> {
        if self.eat(c) {
            Ok(())
        } else {
            self.expected(&format!("`{c}`"))
        }
    }

    pub(super) fn eat_dot(&mut self, word: &str) -> bool {
        let hit = self.peek() == Some(Token::Dot(word));
        self.pos += usize::from(hit);
        hit
    }

    pub(super) fn word(&mut self) -> Result<&'a str> {
        match self.peek() {
            Some(Token::Word(w)) => {
                self.pos += 1;
                Ok(w)
            }
            _ => self.expected("a name"),
        }
    }

    pub(super) fn dot(&mut self) -> Result<&'a str> {
        match self.peek() {
            Some(Token::Dot(w)) => {
                self.pos += 1;
                Ok(w)
            }
            _ => self.expected("a dotted word"),
        }
    }

    pub(super) fn integer(&mut self) -> Result<u64> {
        let negative = self.eat('-');
        let Some(Token::Number(text)) = self.peek() else {
            return self.expected("a number");
        };
        match Literal::parse(text, negative) {
            Some(Literal::Int(v)) => {
                self.pos += 1;
                Ok(v)
            }
            _ => self.expected("an integer"),
        }
    }

    fn module(&mut self) -> Result<Module<'a>> {
        let mut module = Module::default();
        while self.peek().is_some() {
            self.module_item(&mut module)?;
        }
        Ok(module)
    }

    fn module_item(&mut self, module: &mut Module<'a>) -> Result<()> {
        let mut is_extern = false;
        while let Some(Token::Dot(linkage @ ("visible" | "extern" | "weak" | "common"))) =
            self.peek()
        {
            is_extern |= linkage == "extern";
            self.pos += 1;
        }
        match self.peek() {
            Some(Token::Dot("version")) => {
                self.pos += 1;
                module.version = self.version()?;
            }
            Some(Token::Dot("target")) => {
                self.pos += 1;
                module.target = self.names()?;
            }
            Some(Token::Dot("address_size")) => {
                self.pos += 1;
                if self.integer()? != 64 {
                    return self.error("only .address_size 64 is supported");
                }
            }
            Some(Token::Dot("file" | "loc")) => self.skip_line(),
            Some(Token::Dot("section")) => self.skip_section()?,
            Some(Token::Dot("pragma" | "alias")) => self.skip_to_semicolon()?,
            Some(Token::Dot("entry" | "func")) => module.functions.push(self.function()?),
            Some(Token::Dot("global" | "const" | "shared" | "local" | "tex")) => {
                for mut variable in self.variables()? {
                    variable.is_extern = is_extern;
                    module.variables.push(variable);
                }
            }
            _ => return self.expected("a module directive, a variable or a function"),
        }
        Ok(())
    }

    fn version(&mut self) -> Result<(u32, u32)> {
        let Some(Token::Number(text)) = self.peek() else {
            return self.expected("a version");
        };
        let parts = text
            .split_once('.')
            .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parts {
            Some(version) => {
                self.pos += 1;
                Ok(version)
            }
            None => self.expected("a version such as 8.0"),
        }
    }

    pub(super) fn names(&mut self) -> Result<Vec<&'a str>> {
        let mut names = vec![self.word()?];
        while self.eat(',') {
            names.push(self.word()?);
        }
        Ok(names)
    }

    /// `.file` and `.loc` end with their line; the attributes of an inlined `.loc` are on it too.
    pub(super) fn skip_line(&mut self) {
        let line = self.line();
        while self.pos < self.tokens.len() && self.line() == line {
            self.pos += 1;
        }
    }

    pub(super) fn skip_section(&mut self) -> Result<()> {
        while self.peek().is_some() && !self.eat('{') {
            self.pos += 1;
        }
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                Some(Token::Punct('{')) => depth += 1,
                Some(Token::Punct('}')) => depth -= 1,
                None => return self.expected("`}`"),
                _ => {}
            }
            self.pos += 1;
        }
        Ok(())
    }

    pub(super) fn skip_to_semicolon(&mut self) -> Result<()> {
        while !self.eat(';') {
            if self.peek().is_none() {
                return self.expected("`;`");
            }
            self.pos += 1;
        }
        Ok(())
    }

    fn function(&mut self) -> Result<Function<'a>> {
        let is_entry = self.dot()? == "entry";
        let returns = if self.peek() == Some(Token::Punct('(')) {
            self.parameters()?
        } else {
            Vec::new()
        };
        let line = self.line();
        let name = self.word()?;
        let params = if self.peek() == Some(Token::Punct('(')) {
            self.parameters()?
        } else {
            Vec::new()
        };
        let directives = self.directives()?;
        let body = if self.eat(';') {
            None
        } else {
            self.expect('{')?;
            Some(self.block()?)
        };
        Ok(Function {
            name,
            is_entry,
            returns,
            params,
            directives,
            body,
            line,
        })
    }

    fn directives(&mut self) -> Result<Vec<(&'a str, Vec<u64>)>> {
        let mut directives = Vec::new();
        while let Some(Token::Dot(word)) = self.peek() {
            self.pos += 1;
            let mut values = Vec::new();
            if word == "pragma" {
                self.skip_to_semicolon()?;
                continue;
            }
            while let Some(Token::Number(_)) = self.peek() {
                values.push(self.integer()?);
                self.eat(',');
            }
            directives.push((word, values));
        }
        Ok(directives)
    }

    fn parameters(&mut self) -> Result<Vec<Variable<'a>>> {
        self.expect('(')?;
        let mut params = Vec::new();
        while !self.eat(')') {
            // tileiras marks the tensor maps that its launcher adds.
            self.eat_dot("hidden");
            let space = match self.dot()? {
                "param" => VarSpace::Param,
                "reg" => VarSpace::Reg,
                _ => {
                    self.pos -= 1;
                    return self.expected("`.param` or `.reg`");
                }
            };
            let (align, vector, ty) = self.element_type()?;
            params.push(self.declarator(space, align, vector, ty)?);
            self.eat(',');
        }
        Ok(params)
    }
}
