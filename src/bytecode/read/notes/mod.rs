//! The sections of the notes' container; see [`crate::bytecode::notes`] for the readings chosen.

mod attrs;
pub(super) mod debug;
mod ops;
pub(super) mod types;

use super::function::{flag, trailing};
use super::{Reader, SectionId};
use crate::bytecode::container::Container;
use crate::bytecode::cursor::Cursor;
use crate::bytecode::{Context, Result};
use crate::dialect::{AttrKind, cuda_tile};
use crate::ir::{Attr, Dense, Diagnostic, EnumAttr, LocId, Op, Type, TypeId};

impl<'a> Reader<'a> {
    pub fn notes_globals(&mut self, container: &Container<'a>) -> Result<()> {
        let Some(mut c) = container.section(SectionId::Global) else {
            return Ok(());
        };
        let n = c.count(4, "globals")?;
        for _ in 0..n {
            self.notes_global(&mut c)
                .context(|| "failed to create global from bytecode".into())?;
        }
        trailing(&c, "global")
    }

    fn notes_global(&mut self, c: &mut Cursor) -> Result<()> {
        let start = c.offset();
        let name = self.strings.read_ref(c)?;
        if self.module.str(name).is_empty() {
            return Err(c.error("global symbol name is empty"));
        }
        let ty = self.types.read_ref(c, &mut self.module)?;
        let value = match self.constant_attr(c)? {
            Attr::Dense {
                data: data @ Dense::Bytes(_),
                ty: of,
            } if of == ty => Attr::Dense { data, ty },
            _ => {
                return Err(
                    c.error("the initial value of a global must be numbers of the global's type")
                );
            }
        };
        let alignment = self.inline_attr(c, AttrKind::Int(64), None)?;
        let attrs = [
            Some(Attr::Str(name)),
            Some(value),
            Some(alignment),
            None,
            Some(Attr::Enum(EnumAttr(0))),
        ];
        let body = self.module.body;
        let mut end = self.module.at_end(body);
        let op = end.op(cuda_tile::Op::Global, &[], attrs, &[], &[]);
        self.remember(op, start);
        Ok(())
    }

    pub fn notes_functions(&mut self, container: &Container<'a>) -> Result<()> {
        let Some(mut c) = container.section(SectionId::Func) else {
            return Err(Diagnostic::error("function section is mandatory"));
        };
        let n = c.count(5, "functions")?;
        for i in 0..n {
            self.notes_function(&mut c, i)
                .context(|| "failed to create function from bytecode".into())?;
        }
        trailing(&c, "function")
    }

    fn notes_function(&mut self, c: &mut Cursor<'a>, number: usize) -> Result<()> {
        let start = c.offset();
        let (name, signature, params) = self.signature(c)?;
        let flags = c.u8()?;
        let known = flag::PRIVATE | flag::KERNEL | flag::HINTS;
        if flags & !known != 0 || flags & flag::KERNEL == 0 {
            let name = self.module.str(name);
            return Err(c.error(format!("unknown flags {flags:#x} of function '{name}'")));
        }
        let location = c.varint()?;
        if location >= self.module.locs.len() as u64 {
            return Err(c.error(format!("function location index {location} out of bounds")));
        }
        let hints = match flags & flag::HINTS {
            0 => None,
            _ => match self.tagged_attr(c, 0)? {
                hints @ Attr::Hints(_) => Some(hints),
                _ => return Err(c.error("invalid optimization hints attribute for function")),
            },
        };
        let length = c.varint()?;
        if length > c.remaining() as u64 {
            return Err(c.error(format!(
                "function body length {length} exceeds remaining bytecode data ({} bytes)",
                c.remaining()
            )));
        }
        let body = c.split(length as usize)?;
        let region = self.module.new_region();
        let entry = Op {
            attrs: [
                Some(Attr::Str(name)),
                Some(Attr::Type(signature)),
                None,
                None,
                hints,
            ]
            .into_iter()
            .collect(),
            regions: [region].into_iter().collect(),
            loc: LocId(location as u32),
            ..Op::new(cuda_tile::Op::Entry)
        };
        let top = self.module.body;
        let op = self.module.push_op(top, entry, &[]);
        self.remember(op, start);
        self.notes_body(body, number, region, &params).context(|| {
            let name = self.module.str(name);
            format!("failed to parse function body for function '{name}'")
        })
    }

    /// A function's name and type.
    fn signature(&mut self, c: &mut Cursor) -> Result<(crate::ir::Name, TypeId, Vec<TypeId>)> {
        let name = self.strings.read_ref(c)?;
        if self.module.str(name).is_empty() {
            return Err(c.error("function name is empty"));
        }
        let signature = self.types.read_ref(c, &mut self.module)?;
        match self.module.types.get(signature) {
            Type::Function { params, .. } => Ok((name, signature, params.clone())),
            _ => Err(c.error(format!(
                "function signature index does not refer to a function type for function '{}'",
                self.module.str(name)
            ))),
        }
    }
}
