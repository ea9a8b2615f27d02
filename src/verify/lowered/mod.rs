//! Rules of the lower stages: what each lowering promises to the next.
//!
//! A broken one is a bug of the compiler, or a mistake in text written by hand; the messages name
//! what does not fit rather than quote another verifier.

mod nvvm;
mod tileas;
mod tiled;

use crate::asm::type_text;
use crate::dialect::{Dialect, nv_tileaa, nv_tileas};
use crate::facts::access;
use crate::ir::{Module, Op, OpId, Type, TypeId, ValueId};
use crate::verify::{Check, ensure};

/// The reference's words for a kernel that returns something.
const NO_RESULTS: &str = "Kernel functions do not support return with operands";

/// Checks one operation of `nv_tileaa`, `nv_tileas` or `nvvm` whose structure is sound.
pub fn check(module: &Module, id: OpId) -> Check {
    let c = Ctx::new(module, id);
    match c.op.kind.dialect {
        Dialect::CudaTile => Ok(()),
        Dialect::TileAa => match nv_tileaa::Op::of(c.op.kind) {
            Some(nv_tileaa::Op::Return) => c.returns_nothing(),
            _ => tiled::check(&c),
        },
        Dialect::TileAs => match nv_tileas::Op::of(c.op.kind) {
            Some(nv_tileas::Op::Return) => c.returns_nothing(),
            Some(_) => tiled::check(&c).and_then(|()| tileas::check(&c)),
            None => Ok(()),
        },
        Dialect::Nvvm => nvvm::check(&c),
    }
}

/// A tile that `nv_tileas` has given a layout has one wherever it goes.
pub fn layouts(module: &Module, id: OpId) -> Check {
    tileas::same_layout(&Ctx::new(module, id))
}

/// The operation under the loupe.
struct Ctx<'m> {
    m: &'m Module,
    id: OpId,
    op: &'m Op,
}

impl<'m> Ctx<'m> {
    fn new(m: &'m Module, id: OpId) -> Self {
        let op = m.op(id);
        Ctx { m, id, op }
    }

    fn ty(&self, value: ValueId) -> TypeId {
        self.m.ty(value)
    }

    /// The type of a value's elements.
    fn elem(&self, value: ValueId) -> &'m Type {
        self.m.types.get(self.m.types.elem(self.ty(value)))
    }

    /// Registers of an nvvm value.
    fn regs(&self, value: ValueId) -> usize {
        self.m.types.reg_count(self.ty(value)) as usize
    }

    /// Bits of one element, 0 where that means nothing.
    fn bits(&self, value: ValueId) -> u32 {
        self.m.types.bits(self.ty(value)).unwrap_or(0)
    }

    fn text(&self, value: ValueId) -> String {
        type_text(self.m, self.ty(value)).to_string()
    }

    /// The operands of a group; none when the operation has no such group.
    fn group(&self, name: &str) -> &'m [ValueId] {
        access::group(self.op, name)
    }

    fn operand(&self, name: &str) -> Option<ValueId> {
        self.group(name).first().copied()
    }

    fn returns_nothing(&self) -> Check {
        ensure(self.op.operands.is_empty(), || NO_RESULTS.into())
    }

    /// `a` and `b` have one type; `what` names the pair.
    fn same_type(&self, what: &str, a: ValueId, b: ValueId) -> Check {
        ensure(self.ty(a) == self.ty(b), || {
            format!("{what} differ: {} and {}", self.text(a), self.text(b))
        })
    }
}
