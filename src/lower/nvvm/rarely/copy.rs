//! Operations once more, in another block.

use rustc_hash::FxHashMap;

use super::arm::Arm;
use crate::dialect::nvvm::Op as N;
use crate::ir::{OpId, ValueId};
use crate::lower::nvvm::emit::Emit;

/// What a copy works on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As many registers as the original.
    Whole,
    /// One of them.
    Element,
}

/// What stands for which value of the original.
pub struct Copy {
    shape: Shape,
    made: FxHashMap<ValueId, ValueId>,
}

impl Copy {
    pub fn new(shape: Shape) -> Copy {
        Copy {
            shape,
            made: FxHashMap::default(),
        }
    }

    pub fn set(&mut self, original: ValueId, copy: ValueId) {
        self.made.insert(original, copy);
    }

    /// Computes the results of a branch.
    pub fn arm(&mut self, e: &mut Emit, arm: &Arm) -> Vec<ValueId> {
        arm.ops.iter().for_each(|&op| self.op(e, op));
        arm.results.iter().map(|&v| self.get(v)).collect()
    }

    fn get(&self, original: ValueId) -> ValueId {
        self.made.get(&original).copied().unwrap_or(original)
    }

    fn op(&mut self, e: &mut Emit, op: OpId) {
        let original = e.m.result(op);
        if self.made.contains_key(&original) {
            return;
        }
        let ty = match self.shape {
            Shape::Whole => e.m.ty(original),
            Shape::Element => e.elem(original),
        };
        let copy = match e
            .m
            .bytes(op)
            .filter(|_| N::of(e.m.op(op).kind) == Some(N::Const))
        {
            Some(number) => {
                let number = number.into_owned();
                e.bytes(number, ty)
            }
            None => {
                let data = e.m.op(op).clone();
                let operands: Vec<ValueId> = data.operands.iter().map(|&v| self.get(v)).collect();
                let copy = e.like(&data, &operands, &[ty]);
                e.m.result(copy)
            }
        };
        self.set(original, copy);
    }
}
