//! The function and global sections.

use super::debug::LocIter;
use super::ops::Body;
use super::{Reader, SectionId};
use crate::bytecode::container::Container;
use crate::bytecode::cursor::Cursor;
use crate::bytecode::{Context, Result};
use crate::dialect::{AttrKind, Version, cuda_tile, enums};
use crate::ir::{Attr, BlockId, Diagnostic, EnumAttr, LocId, Op, Type, TypeId};

/// Bits of a function's flag byte.
pub(in crate::bytecode) mod flag {
    pub const PRIVATE: u8 = 0x01;
    pub const KERNEL: u8 = 0x02;
    /// Before 13.5: optimization hints follow. From 13.5 on they always do.
    pub const HINTS: u8 = 0x04;
}

impl<'a> Reader<'a> {
    pub fn globals(&mut self, container: &Container<'a>) -> Result<()> {
        let Some(mut c) = container.section(SectionId::Global) else {
            return Ok(());
        };
        let fields = if self.version >= Version::V13_3 { 6 } else { 4 };
        let n = c.count(fields, "globals")?;
        for _ in 0..n {
            self.global(&mut c)
                .context(|| "failed to create global from bytecode".into())?;
        }
        trailing(&c, "global")
    }

    fn global(&mut self, c: &mut Cursor) -> Result<()> {
        let start = c.offset();
        let name = self.strings.read_ref(c)?;
        if self.module.str(name).is_empty() {
            return Err(c.error("global symbol name is empty"));
        }
        let ty = self.types.read_ref(c, &mut self.module)?;
        let value = self.constant(c, ty)?;
        let alignment = self.inline_attr(c, AttrKind::Int(64), None)?;
        let (mut visibility, mut constant) = (0, None);
        if self.version >= Version::V13_3 {
            let raw = c.varint()?;
            if raw >= enums::VISIBILITY.cases.len() as u64 {
                return Err(c.error(format!("invalid symbol visibility value: {raw}")));
            }
            visibility = raw as u8;
            constant = (c.varint()? != 0).then_some(Attr::Unit);
        }
        let attrs = [
            Some(Attr::Str(name)),
            Some(value),
            Some(alignment),
            constant,
            Some(Attr::Enum(EnumAttr(visibility))),
        ];
        let body = self.module.body;
        let mut end = self.module.at_end(body);
        let op = end.op(cuda_tile::Op::Global, &[], attrs, &[], &[]);
        self.remember(op, start);
        Ok(())
    }

    pub fn functions(&mut self, container: &Container<'a>) -> Result<()> {
        let Some(mut c) = container.section(SectionId::Func) else {
            return Err(Diagnostic::error("function section is mandatory"));
        };
        let n = c.count(5, "functions")?;
        for _ in 0..n {
            self.function(&mut c)
                .context(|| "failed to create function from bytecode".into())?;
        }
        trailing(&c, "function")
    }

    fn function(&mut self, c: &mut Cursor<'a>) -> Result<()> {
        let start = c.offset();
        let name = self.strings.read_ref(c)?;
        let text = self.module.str(name).to_owned();
        if text.is_empty() {
            return Err(c.error("function name is empty"));
        }
        let signature = self
            .types
            .read_ref(c, &mut self.module)
            .context(|| format!("failed to parse signature of function '{text}'"))?;
        let Type::Function { params, .. } = self.module.types.get(signature).clone() else {
            return Err(c.error(format!(
                "function signature index does not refer to a function type for function '{text}'"
            )));
        };
        let flags = c.u8()?;
        let known = match self.version >= Version::V13_5 {
            true => flag::PRIVATE | flag::KERNEL,
            false => flag::PRIVATE | flag::KERNEL | flag::HINTS,
        };
        if flags & !known != 0 {
            return Err(c.error(format!(
                "unknown flags {:#x} of function '{text}'",
                flags & !known
            )));
        }
        let location = c.varint()?;
        if flags & flag::KERNEL == 0 {
            return Err(c.error(format!("un-expected non-entry function '{text}'")));
        }
        let hints = self.entry_hints(c, flags)?;
        let arg_attrs = self.arg_attrs(c)?;
        let length = c.varint()?;
        if length > c.remaining() as u64 {
            return Err(c.error(format!(
                "function body length {length} exceeds remaining bytecode data ({} bytes)",
                c.remaining()
            )));
        }
        let mut locs = self.debug.function(location, c)?;
        let loc = locs.next(c)?;
        let body = c.split(length as usize)?;
        let attrs = [
            Some(Attr::Str(name)),
            Some(Attr::Type(signature)),
            arg_attrs,
            None,
            hints,
        ];
        let block = self.entry(attrs, loc, &params, start);
        self.function_body(block, body, locs)
            .context(|| format!("failed to parse function body for function '{text}'"))
    }

    fn entry_hints(&mut self, c: &mut Cursor, flags: u8) -> Result<Option<Attr>> {
        if self.version < Version::V13_5 && flags & flag::HINTS == 0 {
            return Ok(None);
        }
        match self.tagged_attr(c, 0)? {
            // From 13.5 on the field is always there.
            Attr::Hints(hints) if hints.is_empty() => Ok(None),
            hints @ Attr::Hints(_) => Ok(Some(hints)),
            _ => Err(c.error("invalid optimization hints attribute for function")),
        }
    }

    /// Attributes of arguments, from 13.5 on; where no argument has any, there is no attribute.
    fn arg_attrs(&mut self, c: &mut Cursor) -> Result<Option<Attr>> {
        if self.version < Version::V13_5 {
            return Ok(None);
        }
        match self.tagged_attr(c, 0)? {
            Attr::Array(items) if items.iter().all(|i| *i == Attr::Dict(Vec::new())) => Ok(None),
            array @ Attr::Array(_) => Ok(Some(array)),
            _ => Err(c.error("invalid argument attributes for function")),
        }
    }

    /// An entry whose record begins at `start`; the block for its body.
    fn entry(
        &mut self,
        attrs: [Option<Attr>; 5],
        loc: LocId,
        params: &[TypeId],
        start: usize,
    ) -> BlockId {
        let region = self.module.new_region();
        let block = self.module.new_block(region, params);
        let entry = Op {
            attrs: attrs.into_iter().collect(),
            regions: [region].into_iter().collect(),
            loc,
            ..Op::new(cuda_tile::Op::Entry)
        };
        let top = self.module.body;
        let op = self.module.push_op(top, entry, &[]);
        self.remember(op, start);
        block
    }

    fn function_body(&mut self, block: BlockId, body: Cursor<'a>, locs: LocIter<'a>) -> Result<()> {
        let values = self.module.block(block).args.to_vec();
        // Real operations take some 7 bytes; lowering makes six of each, and a stage's are there until the next one's are.
        self.module.reserve(2 * body.remaining());
        let mut body = Body::new(body, locs, values);
        while !body.is_done() {
            self.operation(&mut body, block, 0)?;
        }
        Ok(())
    }
}

/// Nothing but padding may follow the last item of a section.
pub(super) fn trailing(c: &Cursor, section: &str) -> Result<()> {
    // One producer, the cutile-ir crate, pads the section to its alignment.
    let rest = c.clone().rest();
    match rest.len() {
        0..8 if rest.iter().all(|&b| b == c.format().padding()) => Ok(()),
        n => Err(c.error(format!("{n} bytes after the last {section} of its section"))),
    }
}
