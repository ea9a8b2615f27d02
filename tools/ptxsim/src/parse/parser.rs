//! Tokens to a syntax tree.

use super::ParseError;
use super::ast::{Function, Init, Instruction, Module, Operand, Statement, VarSpace, Variable};
use super::lexer::{Spanned, Token, tokenize};
use super::number::Literal;

type Result<T> = std::result::Result<T, ParseError>;

/// Blocks may nest this deep; more is refused rather than overflowing the stack.
const MAX_NESTING: usize = 64;

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

struct Parser<'a, 't> {
    tokens: &'t [Spanned<'a>],
    pos: usize,
    depth: usize,
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Option<Token<'a>> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.pos + ahead).map(|t| t.token)
    }

    fn line(&self) -> u32 {
        self.tokens
            .get(self.pos)
            .or(self.tokens.last())
            .map_or(1, |t| t.line)
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError {
            line: self.line(),
            message: message.into(),
        })
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.peek() {
            Some(Token::Word(w) | Token::Number(w)) => format!("`{w}`"),
            Some(Token::Dot(w)) => format!("`.{w}`"),
            Some(Token::Text(w)) => format!("\"{w}\""),
            Some(Token::Punct(c)) => format!("`{c}`"),
            None => "the end of the text".into(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn eat(&mut self, c: char) -> bool {
        let hit = self.peek() == Some(Token::Punct(c));
        self.pos += usize::from(hit);
        hit
    }

    fn expect(&mut self, c: char) -> Result<()> {
        if self.eat(c) {
            Ok(())
        } else {
            self.expected(&format!("`{c}`"))
        }
    }

    fn eat_dot(&mut self, word: &str) -> bool {
        let hit = self.peek() == Some(Token::Dot(word));
        self.pos += usize::from(hit);
        hit
    }

    fn word(&mut self) -> Result<&'a str> {
        match self.peek() {
            Some(Token::Word(w)) => {
                self.pos += 1;
                Ok(w)
            }
            _ => self.expected("a name"),
        }
    }

    fn dot(&mut self) -> Result<&'a str> {
        match self.peek() {
            Some(Token::Dot(w)) => {
                self.pos += 1;
                Ok(w)
            }
            _ => self.expected("a dotted word"),
        }
    }

    fn integer(&mut self) -> Result<u64> {
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

    fn names(&mut self) -> Result<Vec<&'a str>> {
        let mut names = vec![self.word()?];
        while self.eat(',') {
            names.push(self.word()?);
        }
        Ok(names)
    }

    /// `.file` and `.loc` end with their line; the attributes of an inlined `.loc` are on it too.
    fn skip_line(&mut self) {
        let line = self.line();
        while self.pos < self.tokens.len() && self.line() == line {
            self.pos += 1;
        }
    }

    fn skip_section(&mut self) -> Result<()> {
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

    fn skip_to_semicolon(&mut self) -> Result<()> {
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

    /// `.align 4 .v2 .f32`, and `.ptr .global .align 16` after a parameter's type.
    fn element_type(&mut self) -> Result<(Option<u64>, u64, &'a str)> {
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

    fn declarator(
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
    fn offset(&mut self) -> Result<i64> {
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

    fn variables(&mut self) -> Result<Vec<Variable<'a>>> {
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

    fn block(&mut self) -> Result<Vec<Statement<'a>>> {
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
