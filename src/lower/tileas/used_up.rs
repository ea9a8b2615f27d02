//! Matmuls whose result is used up in parts, where registers are short.
//!
//! ```text
//! for … (state)                           registers of a thread:
//!   p = dot a, b, 0                         64 of state, 64 of p
//!   state = state · decay + p        →      64 of state, 32 of a half of p
//! ```
//! A tile that is added to what a matmul makes, or scaled and added to it, lives beside all of that. Where a thread has not
//! as many registers, the matmul makes one part of its result after the other, and what follows element by element is
//! done with each of them before the next one is begun.

use super::buffers::layout_in;
use super::decided::Kernel;
use super::fragments::{is_fma, mma_of, wgmma_of};
use super::limits::REGISTERS_BESIDE_LOADS;
use super::look::{ancestor_in, place};
use super::missed::Log;
use super::pressure::{self, Weights};
use super::promote::starts_from_zero;
use crate::dialect::Traits;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{BlockId, Def, Module, OpId, ValueId};
use crate::layout::mma::Wgmma;
use crate::layout::wgmma_desc;
use std::cell::LazyCell;

/// What is done, in messages.
const WHAT: &str = "result used up in parts";
/// Fewest registers of a part: with fewer, operands are read more often than they are multiplied.
const LEAST: u64 = 16;
/// Fewest registers of a product that is worth it.
const WORTH: u64 = 48;
/// Most parts of a result.
const MOST: u64 = 4;
/// Fewest columns of a part of a warpgroup's matmul.
const FEWEST_COLUMNS: u64 = 32;

/// Cuts the matmuls of a kernel that a thread has too few registers for.
pub fn in_parts(m: &mut Module, kernel: &Kernel<'_>, log: &mut Log) {
    let (body, warps, available) = (kernel.body, kernel.warps(), kernel.registers());
    let has = available.saturating_sub(REGISTERS_BESIDE_LOADS);
    // Parts change nothing of what the others are decided by.
    for Crowded {
        op,
        product,
        beside,
    } in crowded(m, body, warps, has)
    {
        if let Some(how) = cut(m, op, warps, product, has.saturating_sub(beside)) {
            let why = format!(
                "{how}, for {beside} registers are held beside its {product}, and a thread has {available}"
            );
            log.changed(m.op(op).loc, WHAT, why);
        }
    }
}

/// A matmul whose result has no room beside what else lives.
struct Crowded {
    op: OpId,
    /// Registers of its result.
    product: u64,
    /// Registers that live beside it.
    beside: u64,
}

/// Those under `body` whose results are used up, where a thread `has` so many registers.
fn crowded(m: &Module, body: BlockId, warps: u64, has: u64) -> Vec<Crowded> {
    let weights = LazyCell::new(|| Weights::of(m, body, warps));
    let living = LazyCell::new(|| pressure::around(m, body, warps));
    let look = |op: OpId| {
        let made = made_alone(m, op).filter(|&made| is_used_up(m, body, made, &weights))?;
        let product = weights.weight(made);
        let around = living.get(&op).copied().unwrap_or_default();
        let beside = match S::of(m.op(op).kind) {
            // The left operand is read until the last part.
            Some(S::AsyncDot) => around.before,
            _ => around.behind,
        };
        (product >= WORTH && product > has.saturating_sub(beside)).then_some(Crowded {
            op,
            product,
            beside,
        })
    };
    m.ops_under(body).into_iter().filter_map(look).collect()
}

/// What a matmul makes, starting from zero and waited for at once.
fn made_alone(m: &Module, op: OpId) -> Option<ValueId> {
    let result = m.op(op).results.first().copied();
    match view::View::of(m.op(op))? {
        view::View::Dot(v) => result.filter(|_| !v.promoted() && starts_from_zero(m, op)),
        view::View::AsyncDot(v) if v.fresh() && !v.promoted() && v.part().is_none() => {
            let &[wait] = m.users(v.result()).as_slice() else {
                return None;
            };
            let all = view::AsyncDotWait::of(m.op(wait)).filter(|w| w.pending() == 0)?;
            (m.op(wait).block == m.op(op).block).then_some(all.result())
        }
        _ => None,
    }
}

/// Whether what follows `made` element by element ends other tiles' lives.
fn is_used_up(m: &Module, body: BlockId, made: ValueId, weights: &Weights<'_>) -> bool {
    let Some(first) = m.def_op(made) else {
        return false;
    };
    let block = m.op(first).block;
    let mut last = made;
    let mut beside = Vec::new();
    let mut at = 0;
    while let &[user] = m.users(last).as_slice()
        && m.op(user).block == block
        && m.op(user).def().traits.has(Traits::ELEMENTWISE)
    {
        let others = m.op(user).operands.iter().filter(|&&v| v != last);
        beside.extend(others.map(|&v| weights.root(v)));
        at = place(m, user).1;
        last = m.result(user);
    }
    let ends = |&tile: &ValueId| {
        let of_block = match m.value(tile).def {
            Def::Argument { block: home, .. } => home == block,
            Def::Result { op, .. } => m.op(op).block == block,
        };
        let done = |op: OpId| ancestor_in(m, body, block, op).is_some_and(|o| place(m, o).1 <= at);
        weights.weight(tile) > 0 && of_block && m.users(tile).into_iter().all(done)
    };
    beside.iter().any(ends)
}

/// Whether a matmul of warpgroups can read so many columns of its right operand where that lies: of one with contiguous
/// columns not less than its swizzle moves together.
fn are_read(m: &Module, op: OpId, columns: u64) -> bool {
    let rhs = view::AsyncDot::of(m.op(op)).map(|v| v.rhs());
    let shared = rhs.and_then(|rhs| layout_in(m, rhs)?.squeezed().ok());
    shared.is_some_and(|shared| wgmma_desc::describe(&shared, 1, columns).is_ok())
}

/// Cuts a matmul of `product` registers so that a part has room in `spare`, or comes near it. Returns how.
fn cut(m: &mut Module, op: OpId, warps: u64, product: u64, spare: u64) -> Option<String> {
    if let Some(w) = wgmma_of(m, op) {
        let rows = w.tile.m / (Wgmma::M * w.warpgroups_m);
        let mut columns = w.instruction_n();
        // A thread of a warpgroup has half a register for each column of 64 rows.
        while columns / 2 > spare && columns > FEWEST_COLUMNS && are_read(m, op, columns / 2) {
            columns /= 2;
        }
        if rows == 1 && columns == w.group_n() {
            return None;
        }
        m.set_i32(op, "part", columns as i64);
        return Some(format!(
            "64 rows and {columns} columns of a warpgroup at a time"
        ));
    }
    let most = match mma_of(m, op, warps) {
        _ if is_fma(m, op) => MOST,
        Some(mma) => mma.instructions()[0].min(MOST),
        None => 1,
    };
    let mut parts = 1;
    while parts < most && product / parts > spare && product / (2 * parts) >= LEAST {
        parts *= 2;
    }
    if parts == 1 {
        return None;
    }
    m.set_i32(op, "parts", parts as i64);
    Some(format!("one of {parts} parts at a time"))
}
