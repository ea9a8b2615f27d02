//! Matrix units: fragments add up to the tiles.

use super::super::Ctx;
use super::control;
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{Op, Type};
use crate::verify::{Check, ensure, fail};

/// `None` for what is none of theirs.
pub fn check(c: &Ctx, view: &View<Op>) -> Option<Check> {
    Some(match view {
        View::MmaSync(v) => mma(c, v),
        View::Wgmma(v) => wgmma(c, v),
        // The results are the operands.
        View::WgmmaWait(v) => control::matches(c, "operands", v.accs(), "the results", v.results()),
        _ => return None,
    })
}

/// A warp's 32 lanes share each instruction's matrices evenly.
fn mma(c: &Ctx, v: &view::MmaSync<Op>) -> Check {
    let (&[m, n, k], &[mt, nt, kt]) = (v.shape(), v.tiles()) else {
        return fail("'shape' and 'tiles' have three entries each");
    };
    let elements = |counts: [i32; 4]| counts.map(i64::from).iter().product::<i64>();
    for (name, v, want) in [
        ("a", v.a(), elements([mt, kt, m, k])),
        ("b", v.b(), elements([nt, kt, n, k])),
        ("c", v.c(), elements([mt, nt, m, n])),
    ] {
        let held = 32 * c.regs(v) as i64;
        ensure(held == want, || {
            format!("'{name}' has {held} elements in a warp, the tiles {want}")
        })?;
    }
    Ok(())
}

/// PTX ISA, "wgmma.mma_async": m64nNkK, a warpgroup holds 64·N of the accumulator.
fn wgmma(c: &Ctx, v: &view::Wgmma<Op>) -> Check {
    let (n, m_tiles, steps) = (v.n(), v.m_tiles(), v.k_steps());
    ensure((8..=256).contains(&n) && n % 8 == 0, || {
        format!("n is {n}, not a multiple of 8 up to 256")
    })?;
    let (acc, a) = (v.acc(), v.a());
    let want = m_tiles * 64 * n / 128;
    ensure(c.regs(acc) as i64 == want, || {
        format!("{} for an accumulator of {want}", c.text(acc))
    })?;
    let from_memory = matches!(c.elem(a), Type::Int(64)) && c.regs(a) == 1;
    let given = (v.a_k_steps().len() as i64, v.b_k_steps().len() as i64);
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
