//! A few registers of an array, computed by themselves.
//!
//! Where the elements of a vector are all there or none is, one of their masks is asked for. Taken from the array of
//! masks, it would have all of them computed, and in the form that suits many: what made the array is done again for
//! the few instead.

use rustc_hash::FxHashMap;

use super::Lower;
use super::emit::Emit;
use crate::dialect::OpKind;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as A;
use crate::dialect::nvvm::Op as N;
use crate::dialect::nvvm::view::View;
use crate::ir::{Diagnostic, OpId, ValueId};

/// Operations between a mask and what is taken of an array after all: masks are sums compared and combined.
const MOST_DEEP: u32 = 12;

impl Lower<'_> {
    /// Masks of vectors: registers `firsts` of `mask`. By themselves, if nothing else wants the other registers.
    pub(super) fn vector_masks(
        &mut self,
        op: OpId,
        mask: ValueId,
        firsts: &[u32],
    ) -> Result<ValueId, Diagnostic> {
        let given = self.get(op, mask)?;
        let users = self.m.users(mask);
        let masks_alone = users.iter().all(|&user| masks_access(self.m.op(user).kind));
        let mut emit = self.emit();
        Ok(match masks_alone {
            true => Few::new(&mut emit, firsts).of(given, MOST_DEEP),
            false => emit.take(given, firsts),
        })
    }
}

fn masks_access(kind: OpKind) -> bool {
    matches!(A::of(kind), Some(A::Load | A::Store | A::AtomicRmw))
}

struct Few<'a, 'm> {
    emit: &'a mut Emit<'m>,
    registers: &'a [u32],
    /// What has been computed for them, by the array's value.
    done: FxHashMap<ValueId, ValueId>,
}

impl<'a, 'm> Few<'a, 'm> {
    fn new(emit: &'a mut Emit<'m>, registers: &'a [u32]) -> Self {
        Few {
            emit,
            registers,
            done: FxHashMap::default(),
        }
    }

    /// The registers of an array whose operations are looked at `deep` deep.
    fn of(&mut self, array: ValueId, deep: u32) -> ValueId {
        if let Some(&done) = self.done.get(&array) {
            return done;
        }
        let few = self
            .again(array, deep)
            .unwrap_or_else(|| self.emit.take(array, self.registers));
        self.done.insert(array, few);
        few
    }

    /// The same by the operation that makes the array, where it takes little and works on each register by itself.
    fn again(&mut self, array: ValueId, deep: u32) -> Option<ValueId> {
        let def = self.emit.m.op(self.emit.m.def_op(array)?).clone();
        let count = self.registers.len() as u32;
        if let Some(View::Splat(splat)) = View::of(&def) {
            return Some(self.emit.widen(splat.source(), count));
        }
        if deep == 0 || !is_little(def.kind) {
            return None;
        }
        let operands: Vec<ValueId> = def.operands.iter().map(|&v| self.of(v, deep - 1)).collect();
        let elem = self.emit.elem(array);
        let ty = self.emit.m.types.regs(elem, count);
        let new = self.emit.like(&def, &operands, &[ty]);
        Some(self.emit.m.result(new))
    }
}

/// Whether an operation works on each register by itself, in an instruction or two.
fn is_little(kind: OpKind) -> bool {
    let of_tiles = matches!(
        C::of(kind),
        Some(C::AddI | C::SubI | C::AndI | C::OrI | C::XOrI | C::CmpI | C::ExtI)
    );
    let of_registers = matches!(
        N::of(kind),
        Some(N::Add | N::And | N::Or | N::Xor | N::ICmp | N::SExt | N::ZExt)
    );
    of_tiles || of_registers
}
