//! Calls of the function that every driver provides: `vprintf`.

use super::build::{Fail, fail};
use super::select::Selector;
use crate::dialect::nvvm::view;
use crate::ir::Op;
use crate::machine::class::Class;
use crate::machine::mir::{Atom, Operand};

impl Selector<'_> {
    /// Arguments lie in local memory as C passes them to a variadic function: one after another,
    /// each aligned to its size. Source: CUDA C++ programming guide, "Formatted Output";
    /// PTX interoperability, "System Calls".
    pub(super) fn print(&mut self, v: &view::Print<Op>) -> Result<(), Fail> {
        let format = self.module.str(v.format()).to_owned();
        let format = self.text_address(format)?;
        let mut at = 0u32;
        let mut depot = None;
        for &argument in v.args() {
            let form = self.form(argument)?;
            let (store, class) = match form.elem.bits() {
                32 => ("st.local.b32", Class::B32),
                64 => ("st.local.b64", Class::B64),
                bits => return fail(format!("an argument of {bits} bits")),
            };
            let bytes = class.bits() / 8;
            at = at.next_multiple_of(bytes);
            let base = match depot {
                Some(base) => base,
                None => self.b.op("@localdepot", 1, Vec::new())?.concat()[0],
            };
            depot = Some(base);
            let value = self.scalar(argument)?;
            let value = Atom::Reg(self.b.register(class, value)?);
            let address = Operand {
                atoms: vec![base],
                offsets: vec![i64::from(at)],
            };
            self.b.effect(store, vec![address, value.into()])?;
            at += bytes;
        }
        self.b.func.local = self.b.func.local.max(at);
        let arguments = match depot {
            Some(base) => self.b.value("cvta.local.u64", &[&[base]])?[0],
            None => Atom::Imm(0),
        };
        self.b.func.prints = true;
        self.b.effect("@print.format", vec![format.into()])?;
        self.b.effect("@print.arguments", vec![arguments.into()])?;
        self.b.effect("@print", Vec::new())
    }

    /// Globals are reached by generic accesses at their own addresses.
    fn text_address(&mut self, text: String) -> Result<Atom, Fail> {
        let texts = &mut self.b.func.texts;
        let at = texts.iter().position(|t| *t == text).unwrap_or_else(|| {
            texts.push(text);
            texts.len() - 1
        });
        let name = self.b.func.text_name(at);
        let global = self.b.func.global(&name);
        let address = self.b.value("@globaladdr", &[&[Atom::Global(global)]])?;
        Ok(self.b.value("cvta.global.u64", &[&address])?[0])
    }
}
