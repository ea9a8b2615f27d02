//! Calls of the function that every driver provides: `vprintf`.

use super::body::Val;
use super::kernel::{Kernel, fail};
use super::types::{Flavor, Ty, pointer};
use crate::dialect::nvvm::view;
use crate::ir::Op;
use crate::isel::Fail;

impl Kernel<'_, '_> {
    /// Arguments lie in local memory as C passes them to a variadic function: one after another, each
    /// aligned to its size. Source: CUDA C++ programming guide, "Formatted Output".
    pub(super) fn print(&mut self, v: &view::Print<Op>) -> Result<(), Fail> {
        let format = self.text_address(self.module.str(v.format()));
        let mut placed = Vec::new();
        let mut at = 0u64;
        for &argument in v.args() {
            let value = self.scalar(argument)?;
            let bytes = match value.ty.bits() {
                bits @ (32 | 64) => u64::from(bits / 8),
                bits => return fail(format!("an argument of {bits} bits")),
            };
            at = at.next_multiple_of(bytes);
            placed.push((at, bytes, value));
            at += bytes;
        }
        let arguments = match placed.is_empty() {
            true => Val::new(Ty::Generic, "null"),
            false => self.local(at),
        };
        for (offset, bytes, value) in placed {
            let offset = self.body.constant(Ty::Int(64), offset);
            let address = self.body.advance(&arguments, &offset);
            let to = self.body.pointer_to(&address, value.ty);
            let text = format!("store {}, {to}, align {bytes}", self.body.typed(&value));
            self.body.effect(&text);
        }
        self.declare("vprintf", "i32", &[Ty::Generic, Ty::Generic]);
        let (format, arguments) = (self.body.typed(&format), self.body.typed(&arguments));
        let call = format!("call i32 @vprintf({format}, {arguments})");
        self.body.def(Ty::Int(32), &call);
        Ok(())
    }

    /// `bytes` of the thread's own memory.
    fn local(&mut self, bytes: u64) -> Val {
        let array = format!("[{bytes} x i8]");
        let place = self.body.def_other(&format!("alloca {array}, align 8"));
        let from = pointer(self.body.flavor, &array, 0);
        match self.body.flavor {
            Flavor::Modern => Val::new(Ty::Generic, place),
            Flavor::Legacy => self
                .body
                .def(Ty::Generic, &format!("bitcast {from} {place} to i8*")),
        }
    }

    /// A constant text, ended by a zero.
    fn text_address(&mut self, text: &str) -> Val {
        let texts = &mut self.collected.texts;
        let known = texts.iter().position(|(_, t)| t == text);
        let at = known.unwrap_or_else(|| {
            texts.push((
                format!("{}__text{}", self.name, texts.len()),
                text.to_owned(),
            ));
            texts.len() - 1
        });
        let name = &texts[at].0;
        let array = format!("[{} x i8]", text.len() + 1);
        let from = pointer(self.body.flavor, &array, 1);
        let text = match self.body.flavor {
            Flavor::Legacy => format!("addrspacecast ({from} @{name} to i8*)"),
            Flavor::Modern => format!("addrspacecast (ptr addrspace(1) @{name} to ptr)"),
        };
        Val::new(Ty::Generic, text)
    }
}
