//! Bodies of functions: statements, instructions, operands.

use super::ast::{Instruction, Operand, Statement};
use super::lexer::Token;
use super::number::Literal;
use super::parser::{MAX_NESTING, Parser, Result};

impl<'a> Parser<'a, '_> {
    pub(super) fn block(&mut self) -> Result<Vec<Statement<'a>>> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return self.error("blocks nest too deep");
        }
        let mut statements = Vec::new();
        while !self.eat('}') {
            self.statement(&mut statements)?;
        }
        self.depth -= 1;
        Ok(statements)
    }

    fn statement(&mut self, out: &mut Vec<Statement<'a>>) -> Result<()> {
        match (self.peek(), self.peek_at(1)) {
            (Some(Token::Punct('{')), _) => {
                self.pos += 1;
                out.push(Statement::Block(self.block()?));
            }
            (Some(Token::Punct(';')), _) => self.pos += 1,
            (Some(Token::Dot("reg")), _) => out.push(self.registers()?),
            (Some(Token::Dot("loc" | "file")), _) => self.skip_line(),
            (Some(Token::Dot("pragma")), _) => self.skip_to_semicolon()?,
            (Some(Token::Dot("section")), _) => self.skip_section()?,
            (Some(Token::Dot(_)), _) => {
                out.extend(self.variables()?.into_iter().map(Statement::Variable))
            }
            (Some(Token::Word(name)), Some(Token::Punct(':'))) => {
                let line = self.line();
                self.pos += 2;
                out.push(self.labelled(name, line)?);
            }
            _ => out.push(Statement::Instruction(self.instruction()?)),
        }
        Ok(())
    }

    fn labelled(&mut self, name: &'a str, line: u32) -> Result<Statement<'a>> {
        if self.eat_dot("branchtargets") {
            let targets = self.names()?;
            self.expect(';')?;
            return Ok(Statement::BranchTargets(name, targets));
        }
        if self.eat_dot("callprototype") {
            self.skip_to_semicolon()?;
            return Ok(Statement::CallPrototype(name));
        }
        Ok(Statement::Label(name, line))
    }

    fn registers(&mut self) -> Result<Statement<'a>> {
        let line = self.line();
        self.pos += 1;
        let (_, vector, ty) = self.element_type()?;
        let mut names = Vec::new();
        loop {
            let name = self.word()?;
            let mut count = None;
            if self.eat('<') {
                let n = self.integer()?;
                let Ok(n) = u32::try_from(n) else {
                    return self.error("too many registers");
                };
                count = Some(n);
                self.expect('>')?;
            }
            names.push((name, count));
            if !self.eat(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(Statement::Registers {
            ty,
            vector: vector as u32,
            names,
            line,
        })
    }

    fn instruction(&mut self) -> Result<Instruction<'a>> {
        let guard = if self.eat('@') {
            let negated = self.eat('!');
            Some((self.word()?, negated))
        } else {
            None
        };
        let line = self.line();
        let mut opcode = vec![self.word()?];
        while let Some(Token::Dot(word)) = self.peek() {
            self.pos += 1;
            opcode.push(word);
        }
        let mut operands = Vec::new();
        while !self.eat(';') {
            operands.push(self.operand()?);
            if !self.eat(',') {
                self.expect(';')?;
                break;
            }
        }
        Ok(Instruction {
            guard,
            opcode,
            operands,
            line,
        })
    }

    fn list(&mut self, close: char) -> Result<Vec<Operand<'a>>> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return self.error("operands nest too deep");
        }
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.operand()?);
            if !self.eat(',') {
                self.expect(close)?;
                break;
            }
        }
        self.depth -= 1;
        Ok(items)
    }

    fn operand(&mut self) -> Result<Operand<'a>> {
        let first = self.simple_operand()?;
        if self.eat('|') {
            let second = self.simple_operand()?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn simple_operand(&mut self) -> Result<Operand<'a>> {
        match self.peek() {
            Some(Token::Punct('{')) => {
                self.pos += 1;
                Ok(Operand::Vector(self.list('}')?))
            }
            Some(Token::Punct('(')) => {
                self.pos += 1;
                Ok(Operand::Tuple(self.list(')')?))
            }
            Some(Token::Punct('[')) => self.memory(),
            Some(Token::Punct('!')) => {
                self.pos += 1;
                Ok(Operand::Not(self.word()?))
            }
            Some(Token::Punct('-')) if matches!(self.peek_at(1), Some(Token::Word(_))) => {
                self.pos += 1;
                Ok(Operand::Minus(Box::new(self.name_operand()?)))
            }
            Some(Token::Punct('-')) | Some(Token::Number(_)) => self.number_operand(),
            Some(Token::Word(_)) => self.name_operand(),
            _ => self.expected("an operand"),
        }
    }

    /// `name`, `name.suffix` or `name+offset`.
    fn name_operand(&mut self) -> Result<Operand<'a>> {
        let name = self.word()?;
        if let Some(Token::Dot(suffix)) = self.peek() {
            self.pos += 1;
            return Ok(Operand::Name(name, Some(suffix)));
        }
        match self.offset()? {
            0 => Ok(Operand::Name(name, None)),
            offset => Ok(Operand::SymbolOffset(name, offset)),
        }
    }

    fn number_operand(&mut self) -> Result<Operand<'a>> {
        let negative = self.eat('-');
        let Some(Token::Number(text)) = self.peek() else {
            return self.expected("a number");
        };
        if Literal::parse(text, negative).is_none() {
            return self.expected("a number");
        }
        self.pos += 1;
        Ok(Operand::Number { text, negative })
    }

    fn memory(&mut self) -> Result<Operand<'a>> {
        self.expect('[')?;
        let base = match self.peek() {
            Some(Token::Word(name)) => {
                self.pos += 1;
                Operand::Name(name, None)
            }
            _ => self.number_operand()?,
        };
        let offset = self.offset()?;
        let mut extra = Vec::new();
        while self.eat(',') {
            extra.push(self.operand()?);
        }
        self.expect(']')?;
        Ok(Operand::Memory {
            base: Box::new(base),
            offset,
            extra,
        })
    }
}
