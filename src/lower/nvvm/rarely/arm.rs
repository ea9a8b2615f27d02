//! What one of two branches computes, and what it reads.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialect::nvvm::Op as N;
use crate::dialect::{Traits, nvvm::view};
use crate::ir::{BlockId, Module, OpId, ValueId};

/// The operations that a branch does.
pub struct Arm {
    pub results: Vec<ValueId>,
    /// Operands before what uses them; numbers are among them.
    pub ops: Vec<OpId>,
    /// What is computed elsewhere.
    pub inputs: Vec<ValueId>,
}

impl Arm {
    /// Computes `results` by operations of `inside`, and reads what these do not make.
    pub fn new(m: &Module, results: Vec<ValueId>, inside: &FxHashSet<OpId>) -> Arm {
        let (mut ops, mut inputs) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut stack: Vec<(ValueId, bool)> = results.iter().rev().map(|&v| (v, false)).collect();
        while let Some((value, operands_done)) = stack.pop() {
            let made = m.def_op(value);
            let Some(op) = made.filter(|o| inside.contains(o) || is_number(m, *o)) else {
                if seen.insert(value) {
                    inputs.push(value);
                }
                continue;
            };
            if operands_done {
                ops.push(op);
            } else if seen.insert(value) {
                stack.push((value, true));
                stack.extend(m.op(op).operands.iter().rev().map(|&v| (v, false)));
            }
        }
        Arm {
            results,
            ops,
            inputs,
        }
    }

    /// The same where what can be made of other inputs is not read: a comparison of one, for example.
    pub fn with_less_to_read(self, m: &Module, inside: &FxHashSet<OpId>) -> Arm {
        let mut inside = inside.clone();
        let mut known: FxHashSet<ValueId> = self.inputs.iter().copied().collect();
        let count = inside.len();
        loop {
            let made = self.inputs.iter().find_map(|&v| {
                let op = m.def_op(v).filter(|&o| !inside.contains(&o))?;
                let mut operands = m.op(op).operands.iter();
                let of_inputs = operands
                    .all(|o| known.contains(o) || m.def_op(*o).is_some_and(|o| is_number(m, o)));
                (is_elementwise(m, op) && of_inputs).then_some(op)
            });
            let Some(op) = made else { break };
            inside.insert(op);
            known.extend(&m.op(op).results);
        }
        match inside.len() == count {
            true => self,
            false => Arm::new(m, self.results, &inside),
        }
    }
}

/// The operations of a block that compute these values and what nothing else uses.
pub fn own(m: &Module, block: BlockId, values: impl Iterator<Item = ValueId>) -> Vec<OpId> {
    let mut own = Vec::new();
    // Uses of a value that are known not to be others'.
    let mut uses: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut work: Vec<ValueId> = values.collect();
    while let Some(value) = work.pop() {
        let here = |o: &OpId| m.op(*o).block == block && is_elementwise(m, *o);
        let Some(op) = m.def_op(value).filter(here) else {
            continue;
        };
        let count = uses.entry(value).or_default();
        *count += 1;
        if *count == all_uses(m, value) {
            own.push(op);
            work.extend(&m.op(op).operands);
        }
    }
    own
}

fn all_uses(m: &Module, value: ValueId) -> usize {
    let uses = |op: OpId| m.op(op).operands.iter().filter(|&&v| v == value).count();
    m.users(value).into_iter().map(uses).sum()
}

/// Whether an operation works on each register by itself. What is chosen among itself stands in its own branch.
fn is_elementwise(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let count = |v: ValueId| m.types.reg_count(m.ty(v));
    let Some(&result) = data.results.first() else {
        return false;
    };
    let elementwise = data.def().is_pure() && data.def().traits.has(Traits::ELEMENTWISE);
    elementwise
        && view::Rarely::of(data).is_none()
        && data.operands.iter().all(|&v| count(v) == count(result))
}

/// Whether it is the same number in all registers.
fn is_number(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let Some(&result) = data.results.first() else {
        return false;
    };
    let bits = m.types.width(m.ty(result));
    N::of(data.kind) == Some(N::Const)
        && m.bytes(op)
            .is_some_and(|bytes| bytes.len() == bits.div_ceil(8) as usize)
}
