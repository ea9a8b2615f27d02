//! Variables: their types, names, sizes and initial values.

use super::ast::{Init, VarSpace, Variable};
use super::lexer::Token;
use super::parser::{MAX_NESTING, Parser, Result};

impl<'a> Parser<'a, '_> {
    /// `.align 4 .v2 .f32`, and `.ptr .global .align 16` after a parameter's type.
    pub(super) fn element_type(&mut self) -> Result<(Option<u64>, u64, &'a str)> {
        let (mut align, mut vector) = (None, 1);
        loop {
            match self.dot()? {
                "align" => align = Some(self.integer()?),
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                "attribute" => {
                    self.expect('(')?;
                    while !self.eat(')') {
                        if self.peek().is_none() {
                            return self.expected("`)`");
                        }
                        self.pos += 1;
                    }
                }
                ty => {
                    if self.eat_dot("ptr") {
                        while let Some(Token::Dot("global" | "const" | "shared" | "local")) =
                            self.peek()
                        {
                            self.pos += 1;
                        }
                        if self.eat_dot("align") {
                            self.integer()?;
                        }
                    }
                    return Ok((align, vector, ty));
                }
            }
        }
    }

    pub(super) fn declarator(
        &mut self,
        space: VarSpace,
        align: Option<u64>,
        vector: u64,
        ty: &'a str,
    ) -> Result<Variable<'a>> {
        let line = self.line();
        let name = self.word()?;
        let mut count = Some(1u64);
        while self.eat('[') {
            if self.eat(']') {
                count = None;
                continue;
            }
            let extent = self.integer()?;
            count = match count.map(|c| c.checked_mul(extent)) {
                Some(Some(c)) => Some(c),
                Some(None) => return self.error("array is too large"),
                None => None,
            };
            self.expect(']')?;
        }
        let mut init = Vec::new();
        if self.eat('=') {
            self.initialiser(&mut init)?;
            count = count.or(Some(init.len() as u64));
        }
        Ok(Variable {
            name,
            space,
            align,
            ty,
            vector,
            count,
            is_extern: false,
            init,
            line,
        })
    }

    fn initialiser(&mut self, init: &mut Vec<Init<'a>>) -> Result<()> {
        if !self.eat('{') {
            init.push(self.initial_value()?);
            return Ok(());
        }
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return self.error("initialiser nests too deep");
        }
        while !self.eat('}') {
            self.initialiser(init)?;
            self.eat(',');
        }
        self.depth -= 1;
        Ok(())
    }

    fn initial_value(&mut self) -> Result<Init<'a>> {
        let negative = self.eat('-');
        match self.peek() {
            Some(Token::Number(text)) => {
                self.pos += 1;
                Ok(Init::Number { text, negative })
            }
            Some(Token::Word("generic")) if self.peek_at(1) == Some(Token::Punct('(')) => {
                self.pos += 2;
                let symbol = self.word()?;
                self.expect(')')?;
                let offset = self.offset()?;
                Ok(Init::Address {
                    symbol,
                    offset,
                    generic: true,
                })
            }
            Some(Token::Word(symbol)) => {
                self.pos += 1;
                let offset = self.offset()?;
                Ok(Init::Address {
                    symbol,
                    offset,
                    generic: false,
                })
            }
            _ => self.expected("an initial value"),
        }
    }

    /// Zero or more `+4`, `-4`, `+-4`, `+(-4)`.
    pub(super) fn offset(&mut self) -> Result<i64> {
        let mut sum = 0i64;
        loop {
            let negative = match self.peek() {
                Some(Token::Punct('+')) => false,
                Some(Token::Punct('-')) => true,
                _ => return Ok(sum),
            };
            self.pos += 1;
            let open = self.eat('(');
            let value = self.integer()? as i64;
            if open {
                self.expect(')')?;
            }
            sum = if negative {
                sum.wrapping_sub(value)
            } else {
                sum.wrapping_add(value)
            };
        }
    }

    pub(super) fn variables(&mut self) -> Result<Vec<Variable<'a>>> {
        let space = match self.dot()? {
            "global" => VarSpace::Global,
            "const" => VarSpace::Const,
            "shared" | "shared::cta" => VarSpace::Shared,
            "local" => VarSpace::Local,
            "param" => VarSpace::Param,
            other => return self.error(format!("state space .{other} is not supported")),
        };
        let (align, vector, ty) = self.element_type()?;
        let mut variables = vec![self.declarator(space, align, vector, ty)?];
        while self.eat(',') {
            variables.push(self.declarator(space, align, vector, ty)?);
        }
        self.expect(';')?;
        Ok(variables)
    }
}
