//! Matrix units: fragments add up to the tiles.

use super::super::Ctx;
use super::control;
use crate::dialect::nvvm::Op as N;
use crate::ir::Type;
use crate::verify::{Check, ensure, fail};

pub fn check(c: &Ctx, kind: N) -> Check {
    match kind {
        N::MmaSync => mma(c),
        N::Wgmma => wgmma(c),
        _ => waits(c),
    }
}

/// A warp's 32 lanes share each instruction's matrices evenly.
fn mma(c: &Ctx) -> Check {
    let (shape, tiles) = (c.ints("shape"), c.ints("tiles"));
    let ([m, n, k], [mt, nt, kt]) = (&shape[..], &tiles[..]) else {
        return fail("'shape' and 'tiles' have three entries each");
    };
    for (i, want) in [mt * kt * m * k, nt * kt * n * k, mt * nt * m * n]
        .into_iter()
        .enumerate()
    {
        let v = c.op.operands[i];
        let held = 32 * c.regs(v) as i64;
        ensure(held == want, || {
            let name = c.op.def().operands[i].name;
            format!("'{name}' has {held} elements in a warp, the tiles {want}")
        })?;
    }
    Ok(())
}

/// PTX ISA, "wgmma.mma_async": m64nNkK, a warpgroup holds 64·N of the accumulator.
fn wgmma(c: &Ctx) -> Check {
    let (n, m_tiles, steps) = (c.int("n"), c.int("m_tiles"), c.int("k_steps"));
    ensure((8..=256).contains(&n) && n % 8 == 0, || {
        format!("n is {n}, not a multiple of 8 up to 256")
    })?;
    let (acc, a) = (c.op.operands[2], c.op.operands[0]);
    let want = m_tiles * 64 * n / 128;
    ensure(c.regs(acc) as i64 == want, || {
        format!("{} for an accumulator of {want}", c.text(acc))
    })?;
    let from_memory = matches!(c.elem(a), Type::Int(64)) && c.regs(a) == 1;
    let given = (
        c.ints("a_k_steps").len() as i64,
        c.ints("b_k_steps").len() as i64,
    );
    ensure(
        given.1 >= steps && (!from_memory || given.0 >= steps),
        || {
            format!(
                "descriptor steps for {} and {} of {steps} k steps",
                given.0, given.1
            )
        },
    )
}

/// The results are the operands.
fn waits(c: &Ctx) -> Check {
    control::matches(c, "operands", &c.op.operands, "the results", &c.op.results)
}
