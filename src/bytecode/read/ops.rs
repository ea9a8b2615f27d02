//! Function bodies: operations as their table rows say.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Reader;
use super::debug::LocIter;
use crate::bytecode::cursor::Cursor;
use crate::bytecode::encoding::{self, Encoding};
use crate::bytecode::{Context, Result};
use crate::dialect::{Arity, Dialect, OpKind, cuda_tile};
use crate::ir::{BlockId, Op, RegionId, Type, TypeId, ValueId};

/// Regions may be nested this deep.
pub(super) const MAX_DEPTH: u32 = 128;

/// Rows by opcode. Opcodes are far apart: a table of all numbers would be most of what reading a small module takes.
static BY_OPCODE: LazyLock<FxHashMap<u64, OpKind>> = LazyLock::new(|| {
    let rows = cuda_tile::TABLE.iter().zip(0u8..);
    let coded = rows.filter_map(|(row, index)| {
        let kind = OpKind {
            dialect: Dialect::CudaTile,
            index,
        };
        Some((row.opcode?.into(), kind))
    });
    coded.collect()
});

/// The operation that an opcode names.
pub(super) fn by_opcode(opcode: u64) -> Option<OpKind> {
    BY_OPCODE.get(&opcode).copied()
}

/// The state of reading one function's body; `L` says where its operations' locations come from.
pub struct Body<'a, L = LocIter<'a>> {
    pub(super) cursor: Cursor<'a>,
    pub(super) locs: L,
    /// Values by index; those of finished blocks are gone.
    pub(super) values: Vec<ValueId>,
}

/// Reads an operation to the end of a block, at a depth of regions.
pub(super) type ReadOperation<'a, L> =
    fn(&mut Reader<'a>, &mut Body<'a, L>, BlockId, u32) -> Result<()>;

impl<'a, L> Body<'a, L> {
    pub fn new(cursor: Cursor<'a>, locs: L, values: Vec<ValueId>) -> Self {
        Self {
            cursor,
            locs,
            values,
        }
    }

    pub fn is_done(&self) -> bool {
        self.cursor.is_empty()
    }

    fn operand(&mut self) -> Result<ValueId> {
        let index = self.cursor.varint()?;
        let value = usize::try_from(index).ok().and_then(|i| self.values.get(i));
        value.copied().ok_or_else(|| {
            self.cursor.error(format!(
                "operand index {index} out of bounds (size={})",
                self.values.len()
            ))
        })
    }
}

impl<'a> Reader<'a> {
    /// Reads one operation into `block`.
    pub fn operation(&mut self, body: &mut Body<'a>, block: BlockId, depth: u32) -> Result<()> {
        let opcode = body
            .cursor
            .varint()
            .context(|| "failed to read operation opcode.".into())?;
        let Some(kind) = by_opcode(opcode) else {
            return Err(body
                .cursor
                .error(format!("unknown or unimplemented opcode: {opcode}")));
        };
        self.operation_of(kind, body, block, depth)
            .map_err(|mut e| {
                e.operation.get_or_insert_with(|| kind.to_string());
                e
            })
    }

    fn operation_of(
        &mut self,
        kind: OpKind,
        body: &mut Body<'a>,
        block: BlockId,
        depth: u32,
    ) -> Result<()> {
        let def = kind.def();
        if def.since > self.version {
            let opcode = def.opcode.unwrap_or(0);
            return Err(body.cursor.error(format!(
                "unsupported opcode {opcode} for bytecode version {}",
                self.version
            )));
        }
        if encoding::is_top_level(kind) {
            return Err(body.cursor.error("cannot occur in a function body"));
        }
        let layout = encoding::of(kind, self.version);
        let start = body.cursor.offset();
        let loc = body.locs.next(&body.cursor)?;
        let (results, encoded) = self.result_types(body, kind, layout)?;
        let flags = self.flags(body, layout)?;
        let mut op = Op {
            loc,
            ..Op::new(kind)
        };
        self.attributes(&mut op, body, layout, flags, results.first().copied())?;
        operands(&mut op, body, layout, flags)?;
        if !def.regions.is_empty() {
            op.regions = self.regions(body, def.regions.len(), depth)?;
        }
        let op = self.module.push_op(block, op, &results);
        self.remember(op, start);
        body.values
            .extend_from_slice(&self.module.op(op).results[..encoded]);
        Ok(())
    }

    /// All result types, and how many of them the file encodes (and numbers).
    fn result_types(
        &mut self,
        body: &mut Body<'a>,
        kind: OpKind,
        layout: &Encoding,
    ) -> Result<(SmallVec<[TypeId; 2]>, usize)> {
        let def = kind.def();
        let fixed = def
            .results
            .iter()
            .filter(|r| r.since <= self.version)
            .count();
        let n = if layout.counted_results {
            body.cursor.count(1, "results")?
        } else {
            fixed
        };
        let variadic = def.results.iter().any(|r| r.arity == Arity::Variadic);
        if !variadic && n != fixed {
            return Err(body
                .cursor
                .error(format!("expects {fixed} results, got {n}")));
        }
        let mut types = SmallVec::with_capacity(n);
        for _ in 0..n {
            types.push(self.types.read_ref(&mut body.cursor, &mut self.module)?);
        }
        // Only tokens were added to operations that existed before.
        for _ in def.results.iter().filter(|r| r.since > self.version) {
            types.push(self.module.types.intern(Type::Token));
        }
        Ok((types, n))
    }

    fn flags(&mut self, body: &mut Body, layout: &Encoding) -> Result<u64> {
        if layout.flag_count == 0 {
            return Ok(0);
        }
        let flags = body.cursor.varint()?;
        match flags >> layout.flag_count {
            0 => Ok(flags),
            unknown => Err(body.cursor.error(format!(
                "unknown optional fields (flags {:#x})",
                unknown << layout.flag_count
            ))),
        }
    }

    fn attributes(
        &mut self,
        op: &mut Op,
        body: &mut Body<'a>,
        layout: &Encoding,
        flags: u64,
        result: Option<TypeId>,
    ) -> Result<()> {
        for (i, def) in op.def().attrs.iter().enumerate() {
            let present = match layout.attr_flag[i] {
                Some(bit) => flags >> bit & 1 != 0,
                None => def.since <= self.version,
            };
            if present {
                let attr = self
                    .inline_attr(&mut body.cursor, def.kind, result)
                    .context(|| format!("in attribute '{}'", def.name))?;
                op.attrs[i] = Some(attr);
            }
        }
        Ok(())
    }

    fn regions(
        &mut self,
        body: &mut Body<'a>,
        expected: usize,
        depth: u32,
    ) -> Result<SmallVec<[RegionId; 2]>> {
        if depth == MAX_DEPTH {
            return Err(body
                .cursor
                .error(format!("regions nested deeper than {MAX_DEPTH}")));
        }
        let n = body.cursor.varint()?;
        if n != expected as u64 {
            return Err(body
                .cursor
                .error(format!("op expected {expected} regions, got {n}")));
        }
        (0..n).map(|_| self.region(body, depth + 1)).collect()
    }

    fn region(&mut self, body: &mut Body<'a>, depth: u32) -> Result<RegionId> {
        let region = self.module.new_region();
        self.blocks(body, region, depth, Self::operation)?;
        Ok(region)
    }

    /// Reads the blocks of a region.
    pub(super) fn blocks<L>(
        &mut self,
        body: &mut Body<'a, L>,
        region: RegionId,
        depth: u32,
        operation: ReadOperation<'a, L>,
    ) -> Result<()> {
        let blocks = body
            .cursor
            .count(2, "blocks")
            .context(|| "failed to read region block count".into())?;
        for i in 0..blocks {
            self.block(body, region, depth, operation)
                .context(|| format!("failed to parse block {i} in region."))?;
        }
        Ok(())
    }

    fn block<L>(
        &mut self,
        body: &mut Body<'a, L>,
        region: RegionId,
        depth: u32,
        operation: ReadOperation<'a, L>,
    ) -> Result<()> {
        let outer = body.values.len();
        let args = body
            .cursor
            .count(1, "block arguments")
            .context(|| "failed to read block argument count.".into())?;
        let block = self.module.new_block(region, &[]);
        for _ in 0..args {
            let ty = self.types.read_ref(&mut body.cursor, &mut self.module)?;
            body.values.push(self.module.add_arg(block, ty));
        }
        let ops = body
            .cursor
            .count(1, "block operations")
            .context(|| "failed to read block operation count.".into())?;
        for i in 0..ops {
            operation(self, body, block, depth)
                .context(|| format!("failed to parse operation {i} in block."))?;
        }
        body.values.truncate(outer);
        Ok(())
    }
}

/// Reads the operands of `op` and their groups.
fn operands(op: &mut Op, body: &mut Body, layout: &Encoding, flags: u64) -> Result<()> {
    let def = op.def();
    let mut total = match layout.counted_operands {
        true => Some(body.cursor.count(1, "operands")?),
        false => None,
    };
    let single = def
        .operands
        .iter()
        .filter(|o| o.arity == Arity::One)
        .count();
    for (i, group) in def.operands.iter().enumerate() {
        let n = match (group.arity, &mut total) {
            (Arity::One, _) => 1,
            // The one group that is not single takes what the others leave.
            (_, Some(total)) => total.checked_sub(single).ok_or_else(|| {
                body.cursor
                    .error(format!("expects {single} or more operands"))
            })?,
            (Arity::Optional, None) => {
                usize::from(layout.operand_flag[i].is_some_and(|bit| flags >> bit & 1 != 0))
            }
            (Arity::Variadic, None) => body.cursor.count(1, "operands")?,
        };
        if group.arity == Arity::Optional && n > 1 {
            return Err(body
                .cursor
                .error(format!("expects at most one '{}'", group.name)));
        }
        for _ in 0..n {
            let value = body
                .operand()
                .context(|| format!("in operand '{}'", group.name))?;
            op.operands.push(value);
        }
        op.groups.push(op.operands.len() as u32);
    }
    Ok(())
}
