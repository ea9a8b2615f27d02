//! Functions, globals, operations.

use slotmap::SecondaryMap;

use super::buffer::Buffer;
use super::{Context, Result, Writer};
use crate::bytecode::encoding::{self, Encoding};
use crate::bytecode::read::function::flag;
use crate::dialect::{Arity, Default, Dialect, Version};
use crate::ir::{Attr, BlockId, Diagnostic, EnumAttr, Op, OpId, RegionId, ValueId};

/// Numbers of values: those of the enclosing blocks.
#[derive(Default)]
pub(super) struct Numbers {
    pub(super) of: SecondaryMap<ValueId, u64>,
    pub(super) next: u64,
}

impl Numbers {
    pub(super) fn define(&mut self, values: &[ValueId]) {
        for &value in values {
            self.of.insert(value, self.next);
            self.next += 1;
        }
    }
}

impl Writer<'_> {
    pub fn global(&mut self, op: &Op, out: &mut Buffer) -> Result<()> {
        self.global_fields(op, out).map_err(|e| self.on(op, e))
    }

    fn global_fields(&mut self, op: &Op, out: &mut Buffer) -> Result<()> {
        let (Some(Attr::Str(name)), Some(Attr::Dense { data, ty })) =
            (op.attr_named("sym_name"), op.attr_named("value"))
        else {
            return Err(Diagnostic::error(
                "requires attributes 'sym_name' and 'value'",
            ));
        };
        out.varint(self.strings.id(name));
        let ty_id = self.type_id(*ty)?;
        out.varint(ty_id);
        self.constant(out, data, *ty)?;
        match op.attr_named("alignment") {
            Some(Attr::Int { value, .. }) => out.varint(*value as u64),
            _ => out.varint(0),
        }
        let visibility = op.enum_named("symbol_visibility").unwrap_or(0);
        let constant = op.has_unit("constant");
        if self.version >= Version::V13_3 {
            out.byte(visibility);
            out.varint(u64::from(constant));
            return Ok(());
        }
        if visibility != 0 {
            self.since(Version::V13_3, || "private visibility of a global".into())?;
        }
        if constant {
            self.since(Version::V13_3, || "a constant global".into())?;
        }
        Ok(())
    }

    pub fn entry(&mut self, id: OpId, out: &mut Buffer) -> Result<()> {
        let op = self.op(id);
        self.entry_fields(op, out).map_err(|e| match e.operation {
            None => self.on(op, e),
            Some(_) => e,
        })
    }

    fn entry_fields(&mut self, op: &Op, out: &mut Buffer) -> Result<()> {
        let (Some(Attr::Str(name)), Some(Attr::Type(ty))) =
            (op.attr_named("sym_name"), op.attr_named("function_type"))
        else {
            return Err(Diagnostic::error(
                "requires attributes 'sym_name' and 'function_type'",
            ));
        };
        out.varint(self.strings.id(name));
        let signature = self.type_id(*ty)?;
        out.varint(signature);
        let hints = op.attr_named("optimization_hints");
        let always = self.version >= Version::V13_5;
        let flagged = hints.is_some() && !always;
        out.byte(flag::KERNEL | if flagged { flag::HINTS } else { 0 });
        self.locations.push(vec![op.loc.0]);
        out.varint(self.locations.len() as u64);
        match hints {
            Some(hints) => self.tagged_attr(out, hints)?,
            None if always => self.tagged_attr(out, &Attr::Hints(Vec::new()))?,
            None => {}
        }
        let arg_attrs = op.attr_named("arg_attrs");
        match arg_attrs {
            Some(attrs) => {
                self.since(Version::V13_5, || "attribute 'arg_attrs'".into())?;
                self.tagged_attr(out, attrs)?;
            }
            None if always => self.tagged_attr(out, &Attr::Array(Vec::new()))?,
            None => {}
        }
        if op.attr_named("res_attrs").is_some() {
            return Err(Diagnostic::error(
                "attribute 'res_attrs' of an entry has no encoding",
            ));
        }
        let mut numbers = Numbers::default();
        let mut body = self.buffer();
        let blocks = &self.module.region(op.regions[0]).blocks;
        let [block] = blocks.as_slice() else {
            return Err(Diagnostic::error("an entry has one block"));
        };
        numbers.define(&self.module.block(*block).args);
        self.operations(*block, &mut body, &mut numbers, Self::operation)?;
        out.varint(body.data.len() as u64);
        out.bytes(&body.data);
        Ok(())
    }

    /// Writes the operations of a block, each by `write`.
    pub(super) fn operations(
        &mut self,
        block: BlockId,
        out: &mut Buffer,
        numbers: &mut Numbers,
        write: fn(&mut Self, &Op, &mut Buffer, &mut Numbers) -> Result<()>,
    ) -> Result<()> {
        for &id in &self.module.block(block).ops {
            let op = self.op(id);
            write(self, op, out, numbers).map_err(|e| match e.operation {
                None => self.on(op, e),
                Some(_) => e,
            })?;
        }
        Ok(())
    }

    fn operation(&mut self, op: &Op, out: &mut Buffer, numbers: &mut Numbers) -> Result<()> {
        let def = op.def();
        let code = def.opcode.filter(|_| op.kind.dialect == Dialect::CudaTile);
        let Some(code) = code.filter(|_| !encoding::is_top_level(op.kind)) else {
            return Err(Diagnostic::error("has no bytecode encoding"));
        };
        self.since(def.since, || format!("operation 'cuda_tile.{}'", def.name))?;
        let layout = encoding::of(op.kind, self.version);
        if let Some(function) = self.locations.last_mut() {
            function.push(op.loc.0);
        }
        out.varint(u64::from(code));
        let encoded = self.result_types(op, layout, out)?;
        if layout.flag_count > 0 {
            out.varint(self.flags(op, layout));
        }
        self.attributes(op, layout, out)?;
        self.operands(op, layout, out, numbers)?;
        if !op.regions.is_empty() {
            out.varint(op.regions.len() as u64);
            for &region in &op.regions {
                self.region(region, out, numbers)?;
            }
        }
        numbers.define(&op.results[..encoded]);
        Ok(())
    }

    /// How many results are encoded: those that the version knows.
    fn result_types(&mut self, op: &Op, layout: &Encoding, out: &mut Buffer) -> Result<usize> {
        let rows = op.def().results;
        let known = match rows {
            [row] if row.arity == Arity::Variadic => op.results.len(),
            _ => rows.iter().filter(|r| r.since <= self.version).count(),
        };
        if layout.counted_results {
            out.varint(known as u64);
        }
        for &result in op.results.iter().take(known) {
            let id = self.type_id(self.module.ty(result))?;
            out.varint(id);
        }
        Ok(known.min(op.results.len()))
    }

    fn flags(&self, op: &Op, layout: &Encoding) -> u64 {
        let attrs = layout.attr_flag.iter().zip(&op.attrs);
        let attrs = attrs.filter(|(_, a)| a.is_some()).map(|(bit, _)| *bit);
        let operands = layout.operand_flag.iter().enumerate();
        let operands = operands
            .filter(|(i, _)| !op.group(*i).is_empty())
            .map(|(_, bit)| *bit);
        attrs
            .chain(operands)
            .flatten()
            .fold(0, |flags, bit| flags | 1 << bit)
    }

    fn attributes(&mut self, op: &Op, layout: &Encoding, out: &mut Buffer) -> Result<()> {
        for (i, (def, attr)) in op.def().attrs.iter().zip(&op.attrs).enumerate() {
            if def.since > self.version {
                if attr.as_ref().is_some_and(|a| !is_default(def.default, a)) {
                    self.since(def.since, || format!("attribute '{}'", def.name))?;
                }
                continue;
            }
            match attr {
                Some(attr) => self
                    .inline_attr(out, def.kind, attr)
                    .context(|| format!("in attribute '{}'", def.name))?,
                None if layout.attr_flag[i].is_some() => {}
                None => {
                    return Err(Diagnostic::error(format!(
                        "requires attribute '{}'",
                        def.name
                    )));
                }
            }
        }
        Ok(())
    }

    fn operands(
        &mut self,
        op: &Op,
        layout: &Encoding,
        out: &mut Buffer,
        numbers: &Numbers,
    ) -> Result<()> {
        if layout.counted_operands {
            out.varint(op.operands.len() as u64);
        }
        for (i, group) in op.def().operands.iter().enumerate() {
            let values = op.group(i);
            if group.since > self.version {
                if !values.is_empty() {
                    self.since(group.since, || format!("operand '{}'", group.name))?;
                }
                continue;
            }
            if group.arity == Arity::Variadic && !layout.counted_operands {
                out.varint(values.len() as u64);
            }
            for &value in values {
                let Some(&number) = numbers.of.get(value) else {
                    return Err(self.unnumbered(value, group.name));
                };
                out.varint(number);
            }
        }
        Ok(())
    }

    /// A value that the file does not number: a result that its version lacks.
    pub(super) fn unnumbered(&self, value: ValueId, operand: &str) -> Diagnostic {
        let def = self.module.def_op(value).map(|id| self.op(id));
        let result = def.and_then(|op| {
            let i = op.results.iter().position(|&r| r == value)?;
            let row = op.def().results.get(i)?;
            Some(format!("result '{}' of '{}'", row.name, op.kind))
        });
        Diagnostic::error(match result {
            Some(what) => format!(
                "operand '{operand}' uses {what}, which version {} does not encode",
                self.version
            ),
            None => format!("operand '{operand}' is not defined before"),
        })
    }

    fn region(&mut self, region: RegionId, out: &mut Buffer, numbers: &mut Numbers) -> Result<()> {
        let blocks = &self.module.region(region).blocks;
        out.varint(blocks.len() as u64);
        for &id in blocks {
            let block = self.module.block(id);
            let outer = numbers.next;
            out.varint(block.args.len() as u64);
            for &arg in &block.args {
                let ty = self.type_id(self.module.ty(arg))?;
                out.varint(ty);
            }
            numbers.define(&block.args);
            out.varint(block.ops.len() as u64);
            self.operations(id, out, numbers, Self::operation)?;
            numbers.next = outer;
        }
        Ok(())
    }
}

/// Whether a reader of an older version assumes this value.
pub(super) fn is_default(default: Default, attr: &Attr) -> bool {
    match (default, attr) {
        (Default::Case(case), Attr::Enum(EnumAttr(c))) => case == *c,
        (Default::Int(n), Attr::Int { value, .. }) => n == *value,
        (Default::AllFalse(_), Attr::Bools(list)) => !list.contains(&true),
        _ => false,
    }
}
