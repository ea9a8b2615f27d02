//! Function bodies.

use smallvec::SmallVec;

use crate::bytecode::cursor::Cursor;
use crate::bytecode::encoding;
use crate::bytecode::notes::SEGMENTS;
use crate::bytecode::read::Reader;
use crate::bytecode::read::attrs::tag;
use crate::bytecode::read::ops::{self, MAX_DEPTH, by_opcode};
use crate::bytecode::{Context, Result, notes};
use crate::dialect::{Arity, OpKind, Traits};
use crate::ir::{Attr, BlockId, Op, RegionId, Type, TypeId, ValueId};

/// The state of reading one function's body: operations' locations are by the function's number.
type Body<'a> = ops::Body<'a, usize>;

impl<'a> Reader<'a> {
    /// Reads the body of function `function` into `region`: one block with the parameters.
    pub fn notes_body(
        &mut self,
        cursor: Cursor<'a>,
        function: usize,
        region: RegionId,
        params: &[TypeId],
    ) -> Result<()> {
        let mut body = Body::new(cursor, function, Vec::new());
        self.blocks(&mut body, region, 0, Self::record)?;
        let args = |b: &BlockId| self.module.block(*b).args.clone();
        let blocks = &self.module.region(region).blocks;
        let arguments = blocks.first().map(args).unwrap_or_default();
        let same = arguments
            .iter()
            .map(|&v| self.module.ty(v))
            .eq(params.iter().copied());
        if blocks.len() != 1 || !same {
            return Err(body
                .cursor
                .error("a function's body is one block with the parameters of its type"));
        }
        match body.cursor.remaining() {
            0 => Ok(()),
            n => Err(body
                .cursor
                .error(format!("{n} bytes after the function's body"))),
        }
    }

    fn record(&mut self, body: &mut Body<'a>, block: BlockId, depth: u32) -> Result<()> {
        let opcode = body
            .cursor
            .varint()
            .context(|| "failed to read operation opcode.".into())?;
        let kind = by_opcode(opcode).filter(|_| !notes::is_reserved(opcode));
        let Some(kind) = kind else {
            return Err(body
                .cursor
                .error(format!("unknown or unimplemented opcode: {opcode}")));
        };
        self.record_of(kind, body, block, depth).map_err(|mut e| {
            e.operation.get_or_insert_with(|| kind.to_string());
            e
        })
    }

    fn record_of(
        &mut self,
        kind: OpKind,
        body: &mut Body<'a>,
        block: BlockId,
        depth: u32,
    ) -> Result<()> {
        if encoding::is_top_level(kind) {
            return Err(body.cursor.error("cannot occur in a function body"));
        }
        let start = body.cursor.offset();
        let loc = self
            .slots
            .location(body.locs, &mut body.cursor)
            .context(|| "failed to read operation location.".into())?;
        let (results, encoded) = self.notes_results(body, kind)?;
        let operands = notes_operands(body)?;
        let mut op = Op {
            loc,
            operands,
            ..Op::new(kind)
        };
        let segments = self.record_dictionary(&mut op, &mut body.cursor)?;
        group(&mut op, segments, &body.cursor)?;
        op.regions = self.notes_regions(body, kind, depth)?;
        let op = self.module.push_op(block, op, &results);
        self.remember(op, start);
        body.values
            .extend_from_slice(&self.module.op(op).results[..encoded]);
        Ok(())
    }

    /// All result types, and how many of them the file encodes (and numbers).
    fn notes_results(
        &mut self,
        body: &mut Body<'a>,
        kind: OpKind,
    ) -> Result<(SmallVec<[TypeId; 2]>, usize)> {
        let rows = kind.def().results;
        let n = match rows.iter().any(|r| r.arity == Arity::Variadic) {
            true => body.cursor.count(1, "results")?,
            false => rows.iter().filter(|r| r.since <= self.version).count(),
        };
        let mut types = SmallVec::with_capacity(n);
        for _ in 0..n {
            types.push(self.types.read_ref(&mut body.cursor, &mut self.module)?);
        }
        for _ in rows.iter().filter(|r| r.since > self.version) {
            types.push(self.module.types.intern(Type::Token));
        }
        Ok((types, n))
    }

    /// Reads the attributes of `op`; the sizes of its operand groups, if there are any.
    fn record_dictionary(&mut self, op: &mut Op, c: &mut Cursor) -> Result<Option<Vec<i64>>> {
        let Some(index) = c.varint()?.checked_sub(1) else {
            return Ok(None);
        };
        if index >= self.constants.len() as u64 {
            return Err(c.error(format!("attribute index {index} out of bounds")));
        }
        let mut item = self.constants.get(index as usize)?;
        self.spend(c, item.remaining())?;
        if item.varint()? != tag::DICTIONARY {
            return Err(item.error("attributes of an operation must be a dictionary"));
        }
        let n = item
            .count(1, "dictionary entries")
            .context(|| "failed to read size for DictionaryAttr".into())?;
        let mut segments = None;
        for i in 0..n {
            let name = notes::string(&mut item)
                .context(|| format!("failed to read key for DictionaryAttr element {i}"))?;
            if name == SEGMENTS {
                if let Attr::I64s(sizes) =
                    self.notes_attr(&mut item, crate::dialect::AttrKind::I64s)?
                {
                    segments = Some(sizes);
                }
                continue;
            }
            let def = op.def();
            let slot = def
                .attr_index(name)
                .filter(|&i| def.attrs[i].since <= self.version);
            let Some(slot) = slot else {
                return Err(item.error(format!("has no attribute '{name}'")));
            };
            if op.attrs[slot].is_some() {
                return Err(item.error(format!(
                    "failed to parse DictionaryAttr, duplicate key found: {name}"
                )));
            }
            let value = self
                .notes_attr(&mut item, def.attrs[slot].kind)
                .context(|| format!("failed to parse DictionaryAttr value for key {name}"))?;
            op.attrs[slot] = Some(value);
        }
        match item.remaining() {
            0 => Ok(segments),
            n => Err(item.error(format!("{n} bytes after the dictionary"))),
        }
    }

    fn notes_regions(
        &mut self,
        body: &mut Body<'a>,
        kind: OpKind,
        depth: u32,
    ) -> Result<SmallVec<[RegionId; 2]>> {
        let expected = kind.def().regions.len();
        if expected == 0 {
            return Ok(SmallVec::new());
        }
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
        let mut regions = SmallVec::new();
        for _ in 0..n {
            let region = self.module.new_region();
            self.blocks(body, region, depth + 1, Self::record)?;
            regions.push(region);
        }
        Ok(regions)
    }
}

fn notes_operands(body: &mut Body) -> Result<SmallVec<[ValueId; 4]>> {
    let n = body.cursor.count(1, "operands")?;
    let mut operands = SmallVec::with_capacity(n);
    for _ in 0..n {
        let index = body.cursor.varint()?;
        let value = usize::try_from(index).ok().and_then(|i| body.values.get(i));
        match value {
            Some(&value) => operands.push(value),
            None => {
                return Err(body.cursor.error(format!(
                    "operand index {index} out of bounds (size={})",
                    body.values.len()
                )));
            }
        }
    }
    Ok(operands)
}

/// Divides the operands into their groups.
fn group(op: &mut Op, segments: Option<Vec<i64>>, c: &Cursor) -> Result<()> {
    let def = op.def();
    let total = op.operands.len();
    let sizes: SmallVec<[usize; 4]> = match def.traits.has(Traits::SEGMENTED) {
        true => {
            let sizes =
                segments.ok_or_else(|| c.error(format!("requires attribute '{SEGMENTS}'")))?;
            let size = |&n: &i64| usize::try_from(n).ok();
            sizes.iter().map_while(size).collect()
        }
        false => {
            let single = def
                .operands
                .iter()
                .filter(|o| o.arity == Arity::One)
                .count();
            let rest = total.saturating_sub(single);
            let size = |arity| if arity == Arity::One { 1 } else { rest };
            def.operands.iter().map(|o| size(o.arity)).collect()
        }
    };
    let fits = |(row, &n): (&crate::dialect::OperandDef, &usize)| match row.arity {
        Arity::One => n == 1,
        Arity::Optional => n <= 1,
        Arity::Variadic => true,
    };
    let sum = sizes.iter().try_fold(0usize, |sum, &n| sum.checked_add(n));
    if sizes.len() != def.operands.len()
        || sum != Some(total)
        || !def.operands.iter().zip(&sizes).all(fits)
    {
        return Err(c.error(format!("{total} operands do not fit its operand groups")));
    }
    let mut end = 0;
    for n in sizes {
        end += n as u32;
        op.groups.push(end);
    }
    Ok(())
}
