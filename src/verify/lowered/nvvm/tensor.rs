//! Tensor memory: registers add up to what the instructions move, steps to the tiles of a matmul.

use super::super::Ctx;
use crate::dialect::nvvm::Op as N;
use crate::layout::tensor::{COLUMNS, LEAST_COLUMNS};
use crate::verify::{Check, ensure};

pub fn check(c: &Ctx, kind: N) -> Check {
    match kind {
        N::TensorAlloc | N::TensorDealloc => columns(c),
        N::TensorLd => moved(c, c.bits(c.op.results[0]), c.regs(c.op.results[0])),
        N::TensorSt => moved(c, c.bits(c.op.operands[1]), c.regs(c.op.operands[1])),
        _ => matmul(c),
    }
}

/// PTX ISA, "tcgen05.alloc": a power of two from 32 to 512.
fn columns(c: &Ctx) -> Check {
    let n = u64::try_from(c.int("columns")).unwrap_or(0);
    ensure(
        n.is_power_of_two() && (LEAST_COLUMNS..=COLUMNS).contains(&n),
        || format!("{n} columns: no power of two from {LEAST_COLUMNS} to {COLUMNS}"),
    )
}

/// Registers of 32 bits of one repetition, in the order of `enums::TENSOR_MOVE`.
const REGISTERS: [i64; 3] = [1, 4, 2];

fn moved(c: &Ctx, bits: u32, registers: usize) -> Check {
    let shape = c.op.enum_named("shape").unwrap_or(0);
    let each = REGISTERS.get(usize::from(shape)).copied().unwrap_or(1);
    let want = each * c.int("count") * c.ints("offsets").len() as i64;
    let have = i64::from(bits) * registers as i64 / 32;
    ensure(have == want, || {
        format!("the value has {have} registers of 32 bits, the instructions move {want}")
    })
}

fn matmul(c: &Ctx) -> Check {
    let count = |name| c.ints(name).len();
    for [one, other] in [
        ["d_m_steps", "a_m_steps"],
        ["d_n_steps", "b_n_steps"],
        ["a_k_steps", "b_k_steps"],
    ] {
        ensure(count(one) == count(other) && count(one) > 0, || {
            format!(
                "{} of '{one}' and {} of '{other}'",
                count(one),
                count(other)
            )
        })?;
    }
    Ok(())
}
