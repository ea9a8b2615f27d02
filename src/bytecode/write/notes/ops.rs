//! Function bodies.

use crate::bytecode::encoding;
use crate::bytecode::notes::SEGMENTS;
use crate::bytecode::read::attrs::tag;
use crate::bytecode::write::Writer;
use crate::bytecode::write::buffer::Buffer;
use crate::bytecode::write::function::{Numbers, is_default};
use crate::bytecode::{Context, Result};
use crate::dialect::{Arity, AttrDef, Dialect, Traits};
use crate::ir::{Attr, BlockId, Diagnostic, Op, RegionId};

impl Writer<'_> {
    pub fn notes_region(
        &mut self,
        region: RegionId,
        out: &mut Buffer,
        numbers: &mut Numbers,
    ) -> Result<()> {
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
            self.notes_block(id, out, numbers)?;
            numbers.next = outer;
        }
        Ok(())
    }

    fn notes_block(&mut self, id: BlockId, out: &mut Buffer, numbers: &mut Numbers) -> Result<()> {
        let ops = &self.module.block(id).ops;
        out.varint(ops.len() as u64);
        self.operations(id, out, numbers, Self::record)
    }

    fn record(&mut self, op: &Op, out: &mut Buffer, numbers: &mut Numbers) -> Result<()> {
        let def = op.def();
        let code = def.opcode.filter(|_| op.kind.dialect == Dialect::CudaTile);
        let Some(code) = code.filter(|_| !encoding::is_top_level(op.kind)) else {
            return Err(Diagnostic::error("has no bytecode encoding"));
        };
        self.since(def.since, || format!("operation 'cuda_tile.{}'", def.name))?;
        out.varint(u64::from(code));
        let attribute = self.debug_index(op.loc);
        let slot = self.slots.last_mut().zip(attribute);
        out.signed_varint(slot.map_or(-1, |(slots, a)| slots.id(&(a as u32)) as i64));
        let encoded = self.notes_results(op, out)?;
        self.notes_operands(op, out, numbers)?;
        let dictionary = self.record_dictionary(op)?;
        out.varint(dictionary);
        if !def.regions.is_empty() {
            out.varint(op.regions.len() as u64);
            for &region in &op.regions {
                self.notes_region(region, out, numbers)?;
            }
        }
        numbers.define(&op.results[..encoded]);
        Ok(())
    }

    /// How many results are encoded.
    fn notes_results(&mut self, op: &Op, out: &mut Buffer) -> Result<usize> {
        let rows = op.def().results;
        let known = match rows.iter().any(|r| r.arity == Arity::Variadic) {
            true => {
                out.varint(op.results.len() as u64);
                op.results.len()
            }
            false => rows.iter().filter(|r| r.since <= self.version).count(),
        };
        for &result in op.results.iter().take(known) {
            let id = self.type_id(self.module.ty(result))?;
            out.varint(id);
        }
        Ok(known.min(op.results.len()))
    }

    fn notes_operands(&mut self, op: &Op, out: &mut Buffer, numbers: &Numbers) -> Result<()> {
        out.varint(op.operands.len() as u64);
        for (i, group) in op.def().operands.iter().enumerate() {
            let values = op.group(i);
            if group.since > self.version && !values.is_empty() {
                self.since(group.since, || format!("operand '{}'", group.name))?;
            }
            for &value in values {
                match numbers.of.get(value) {
                    Some(&number) => out.varint(number),
                    None => return Err(self.unnumbered(value, group.name)),
                }
            }
        }
        Ok(())
    }

    /// The reference to the attributes: their entry of the constant section plus one, 0 for none.
    fn record_dictionary(&mut self, op: &Op) -> Result<u64> {
        let mut entries = self.buffer();
        let mut count = 0;
        if op.def().traits.has(Traits::SEGMENTED) {
            let sizes = (0..op.def().operands.len()).map(|i| op.group(i).len() as i64);
            inline_name(&mut entries, SEGMENTS);
            self.self_contained(&mut entries, &Attr::I64s(sizes.collect()))?;
            count += 1;
        }
        for (def, attr) in op.def().attrs.iter().zip(&op.attrs) {
            let Some(attr) = attr else {
                self.required(def)?;
                continue;
            };
            if def.since > self.version {
                if !is_default(def.default, attr) {
                    self.since(def.since, || format!("attribute '{}'", def.name))?;
                }
                continue;
            }
            inline_name(&mut entries, def.name);
            self.notes_attr(&mut entries, def.kind, attr)
                .context(|| format!("in attribute '{}'", def.name))?;
            count += 1;
        }
        if count == 0 {
            return Ok(0);
        }
        let mut item = self.buffer();
        item.varint(tag::DICTIONARY);
        item.varint(count);
        item.bytes(&entries.data);
        Ok(self.constants.id(&item.data) + 1)
    }

    fn required(&self, def: &AttrDef) -> Result<()> {
        let unit = matches!(def.kind, crate::dialect::AttrKind::Unit);
        match def.optional || unit || def.since > self.version {
            true => Ok(()),
            false => Err(Diagnostic::error(format!(
                "requires attribute '{}'",
                def.name
            ))),
        }
    }
}

fn inline_name(out: &mut Buffer, name: &str) {
    out.varint(name.len() as u64);
    out.bytes(name.as_bytes());
}
