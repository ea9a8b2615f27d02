//! Regions and blocks.

use super::cursor::Result;
use super::state::Parser;
use crate::dialect::OpKind;
use crate::ir::{Attr, Op, RegionId, TypeId};

/// Arguments with their types.
type Named<'t> = Vec<(&'t str, TypeId)>;

impl<'t> Parser<'t> {
    /// `{ … }` in the generic form: blocks with labels, or one block.
    pub fn generic_region(&mut self, isolated: bool) -> Result<RegionId> {
        let region = self.module.new_region();
        self.c.expect("{")?;
        if self.c.eat("}") {
            return Ok(region);
        }
        let mark = self.scope.enter(isolated);
        while !self.c.eat("}") {
            let mut args = Vec::new();
            if self.c.eat("^") {
                self.c.word("a block's label")?;
                if self.c.eat("(") {
                    args = self.arguments()?;
                }
                self.c.expect(":")?;
            }
            let types: Vec<TypeId> = args.iter().map(|a| a.1).collect();
            let block = self.module.new_block(region, &types);
            for (i, (name, _)) in args.iter().enumerate() {
                let value = self.module.block(block).args[i];
                self.scope.define(name, &[value]);
            }
            while !self.c.peek("}") && !self.c.peek("^") {
                if self.c.at_end() {
                    return Err(self.c.expected("'}'"));
                }
                self.operation(block)?;
            }
        }
        self.scope.leave(mark);
        Ok(region)
    }

    /// `%a: type, %b: type)`, after the opening parenthesis.
    pub fn arguments(&mut self) -> Result<Named<'t>> {
        let mut args = Vec::new();
        while !self.c.eat(")") {
            if !args.is_empty() {
                self.c.expect(",")?;
            }
            let name = self.c.value_name()?;
            self.c.expect(":")?;
            args.push((name, self.ty()?));
            self.skip_location()?;
        }
        Ok(args)
    }

    /// `%a: type {x.y = 1 : i32}, %b: type)`, after the opening parenthesis; the attributes of all
    /// arguments, where one has any.
    pub fn parameters(&mut self) -> Result<(Named<'t>, Option<Attr>)> {
        let (mut args, mut dictionaries) = (Vec::new(), Vec::new());
        while !self.c.eat(")") {
            if !args.is_empty() {
                self.c.expect(",")?;
            }
            let name = self.c.value_name()?;
            self.c.expect(":")?;
            args.push((name, self.ty()?));
            let entries = match self.c.peek("{") {
                true => self.dictionary("{", "}")?,
                false => Vec::new(),
            };
            dictionaries.push(Attr::Dict(entries));
            self.skip_location()?;
        }
        let any = dictionaries.iter().any(|d| *d != Attr::Dict(Vec::new()));
        Ok((args, any.then_some(Attr::Array(dictionaries))))
    }

    /// `{ … }` with arguments named outside; `implicit` ends the block where no terminator does.
    pub fn body(
        &mut self,
        args: &[(&'t str, TypeId)],
        isolated: bool,
        implicit: Option<OpKind>,
    ) -> Result<RegionId> {
        let region = self.module.new_region();
        let types: Vec<TypeId> = args.iter().map(|a| a.1).collect();
        let block = self.module.new_block(region, &types);
        let mark = self.scope.enter(isolated);
        for (i, (name, _)) in args.iter().enumerate() {
            let value = self.module.block(block).args[i];
            self.scope.define(name, &[value]);
        }
        self.c.expect("{")?;
        self.ops_until_brace(block)?;
        self.scope.leave(mark);
        let ended = self.module.terminator(block).is_some_and(|last| {
            let traits = self.module.op(last).def().traits;
            traits.has(crate::dialect::Traits::TERMINATOR)
        });
        if let (false, Some(kind)) = (ended, implicit) {
            let mut op = Op::new(kind);
            op.groups = kind.def().operands.iter().map(|_| 0).collect();
            let op = self.module.push_op(block, op, &[]);
            self.locations.implicit(op);
        }
        Ok(region)
    }
}
