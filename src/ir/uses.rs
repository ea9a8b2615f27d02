//! Who uses a value.

use std::ops::{Deref, DerefMut};

use slotmap::SecondaryMap;
use smallvec::SmallVec;

use super::{Op, OpId, ValueId};

/// For each value, the operations that have had it as an operand. An entry may be out of date: who reads it asks the
/// operation. So nothing has to be looked for when operations are changed or erased.
#[derive(Debug, Default)]
pub(super) struct Uses(SecondaryMap<ValueId, SmallVec<[OpId; 2]>>);

impl Uses {
    /// Makes room for so many values in all.
    pub(super) fn reserve(&mut self, values: usize) {
        self.0.set_capacity(values);
    }

    /// Notes that `op` uses `values`.
    pub(super) fn add(&mut self, op: OpId, values: &[ValueId]) {
        for &value in values {
            let Some(entry) = self.0.entry(value) else {
                continue;
            };
            let users = entry.or_default();
            if users.last() != Some(&op) {
                users.push(op);
            }
        }
    }

    pub(super) fn of(&self, value: ValueId) -> &[OpId] {
        self.0.get(value).map_or(&[], |users| users)
    }

    pub(super) fn take(&mut self, value: ValueId) -> SmallVec<[OpId; 2]> {
        self.0.remove(value).unwrap_or_default()
    }
}

/// An operation that is being changed. Who uses what is noted when it goes out of scope.
pub struct OpMut<'m> {
    op: &'m mut Op,
    uses: &'m mut Uses,
    id: OpId,
    before: SmallVec<[ValueId; 4]>,
}

impl<'m> OpMut<'m> {
    pub(super) fn new(op: &'m mut Op, uses: &'m mut Uses, id: OpId) -> Self {
        let before = SmallVec::from_slice(&op.operands);
        Self {
            op,
            uses,
            id,
            before,
        }
    }
}

impl Deref for OpMut<'_> {
    type Target = Op;

    fn deref(&self) -> &Op {
        self.op
    }
}

impl DerefMut for OpMut<'_> {
    fn deref_mut(&mut self) -> &mut Op {
        self.op
    }
}

impl Drop for OpMut<'_> {
    fn drop(&mut self) {
        if self.op.operands != self.before {
            self.uses.add(self.id, &self.op.operands);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::cuda_tile::Op as C;
    use crate::ir::{Module, ValueId};

    /// A module with a constant, another and an addition of the first to itself.
    fn addition() -> (Module, ValueId, ValueId, crate::ir::OpId) {
        let mut m = Module::new("m");
        let ty = m.types.int(32);
        let body = m.body;
        let mut b = m.at_end(body);
        let one = b.value(C::Iota, &[], [], ty);
        let two = b.value(C::Iota, &[], [], ty);
        let sum = b.op(C::AddI, &[&[one], &[one]], [], &[ty], &[]);
        (m, one, two, sum)
    }

    #[test]
    fn users_follow_replacement_and_erasure() {
        let (mut m, one, two, sum) = addition();
        assert_eq!((m.users(one), m.users(two)), (vec![sum], vec![]));
        m.replace_all_uses(one, two);
        assert_eq!((m.users(one), m.users(two)), (vec![], vec![sum]));
        assert_eq!(m.op(sum).operands.as_slice(), [two, two]);
        m.erase(sum);
        assert_eq!(m.users(two), vec![]);
    }

    #[test]
    fn users_follow_changes_of_operands() {
        let (mut m, one, two, sum) = addition();
        m.op_mut(sum).operands[1] = two;
        assert_eq!((m.users(one), m.users(two)), (vec![sum], vec![sum]));
        m.op_mut(sum).operands[0] = two;
        m.replace_all_uses(two, one);
        assert_eq!(m.op(sum).operands.as_slice(), [one, one]);
        assert_eq!((m.users(one), m.users(two)), (vec![sum], vec![]));
    }
}
