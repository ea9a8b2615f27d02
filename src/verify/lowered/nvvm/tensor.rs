//! Tensor memory: registers add up to what the instructions move, steps to the tiles of a matmul.

use super::super::Ctx;
use crate::dialect::enums::TensorMove;
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{Op, ValueId};
use crate::layout::tensor::{COLUMNS, LEAST_COLUMNS};
use crate::verify::{Check, ensure};

/// `None` for what does nothing with it.
pub fn check(c: &Ctx, view: &View<Op>) -> Option<Check> {
    Some(match view {
        View::TensorAlloc(v) => columns(v.columns()),
        View::TensorDealloc(v) => columns(v.columns()),
        View::TensorLd(v) => moved(c, v.result(), v.shape(), v.count(), v.offsets()),
        View::TensorSt(v) => moved(c, v.value(), v.shape(), v.count(), v.offsets()),
        View::TensorMma(v) => matmul(v),
        _ => return None,
    })
}

/// PTX ISA, "tcgen05.alloc": a power of two from 32 to 512.
fn columns(n: i64) -> Check {
    let fits = |n: u64| n.is_power_of_two() && (LEAST_COLUMNS..=COLUMNS).contains(&n);
    ensure(u64::try_from(n).is_ok_and(fits), || {
        format!("{n} columns: no power of two from {LEAST_COLUMNS} to {COLUMNS}")
    })
}

/// Registers of 32 bits of one repetition.
fn registers(shape: TensorMove) -> i64 {
    match shape {
        TensorMove::By32x32 => 1,
        TensorMove::By16x256 => 4,
        TensorMove::By16x128 => 2,
    }
}

/// The registers of `value` are those that the instructions move.
fn moved(c: &Ctx, value: ValueId, shape: TensorMove, count: i64, offsets: &[i64]) -> Check {
    let want = registers(shape) * count * offsets.len() as i64;
    let have = i64::from(c.bits(value)) * c.regs(value) as i64 / 32;
    ensure(have == want, || {
        format!("the value has {have} registers of 32 bits, the instructions move {want}")
    })
}

fn matmul(v: &view::TensorMma<Op>) -> Check {
    for [(one, a), (other, b)] in [
        [("d_m_steps", v.d_m_steps()), ("a_m_steps", v.a_m_steps())],
        [("d_n_steps", v.d_n_steps()), ("b_n_steps", v.b_n_steps())],
        [("a_k_steps", v.a_k_steps()), ("b_k_steps", v.b_k_steps())],
    ] {
        ensure(a.len() == b.len() && !a.is_empty(), || {
            format!("{} of '{one}' and {} of '{other}'", a.len(), b.len())
        })?;
    }
    Ok(())
}
