//! Printing: `vprintf`, with the values in a buffer of local memory as C lays out variadic arguments.

use super::build::{Fail, fail};
use super::mir::{Atom, Class, Global, Operand};
use super::select::Selector;
use crate::ir::{Attr, Op};

impl Selector<'_> {
    pub(super) fn print(&mut self, op: &Op) -> Result<(), Fail> {
        let Some(Attr::Str(format)) = op.attr_named("format") else {
            return fail("printing needs a format");
        };
        let format = self.format_address(self.module.str(*format))?;
        let arguments = self.print_arguments(op)?;
        self.b.effect("@print.format", vec![format.into()])?;
        self.b.effect("@print.arguments", vec![arguments.into()])?;
        self.b.effect("@print", Vec::new())
    }

    /// The generic address of a format string, a global of this kernel's.
    fn format_address(&mut self, format: &str) -> Result<Vec<Atom>, Fail> {
        let mut bytes = format.as_bytes().to_vec();
        bytes.push(0);
        let func = &mut self.b.func;
        let name = match func.formats.iter().find(|g| g.bytes == bytes) {
            Some(global) => global.name.clone(),
            None => {
                let name = format!("{}_format{}", func.name, func.formats.len());
                let global = Global {
                    name: name.clone(),
                    align: 1,
                    bytes,
                };
                func.formats.push(global);
                name
            }
        };
        let number = func.globals.len() as u32;
        func.globals.push(name);
        let address = self.b.value("@globaladdr", &[&[Atom::Global(number)]])?;
        self.b.value("cvta.global.u64", &[&address])
    }

    /// Stores the values; the generic address of the first, 0 where there are none.
    fn print_arguments(&mut self, op: &Op) -> Result<Vec<Atom>, Fail> {
        let bytes = self.b.func.print_buffer.unwrap_or(0);
        self.b.func.print_buffer = Some(bytes);
        if op.operands.is_empty() {
            return Ok(vec![Atom::Imm(0)]);
        }
        let buffer = self.b.op("@printbuffer", 1, Vec::new())?.concat();
        let mut at = 0u32;
        for &value in &op.operands {
            let form = self.form(value)?;
            let (size, store) = match form.class {
                Class::B32 if form.per == 1 => (4, "st.local.b32"),
                Class::B64 => (8, "st.local.b64"),
                _ => {
                    return fail("values of less than 32 bits are widened before they are printed");
                }
            };
            for atom in self.get(value)? {
                at = at.next_multiple_of(size);
                let address = Operand {
                    atoms: buffer.clone(),
                    offsets: vec![i64::from(at)],
                };
                self.b.effect(store, vec![address, atom.into()])?;
                at += size;
            }
        }
        self.b.func.print_buffer = Some(bytes.max(at));
        self.b.value("cvta.local.u64", &[&buffer])
    }
}
