//! What matmuls take as tf32 is rounded by the tensor copies that bring it.
//!
//! ```text
//! a = tiled_load A[i, k] : 128x32xf32         a = tiled_load (A as tf32)[i, k] : 128x32xtf32
//! b = ftof a : 128x32xtf32               →    dot a, …
//! dot b, …
//! ```
//! A tensor copy of elements of `tf32` rounds each `f32` of memory to the nearest, ties to even, and leaves infinities and NaN
//! (CUDA driver API, `CU_TENSOR_MAP_DATA_TYPE_TFLOAT32`; which way it rounds was measured on sm_120 for Triton's pull request
//! 11751). Nothing else rounds what it loads: where no producer brings all of these tiles, they are converted in registers.

use super::look::loop_around;
use super::operands::reads_in_place;
use super::options::Options;
use super::pipeline::slice::copy_whole_beside;
use super::retype::{Bases, Uses};
use super::tcgen05::across::is_read_across;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::{Padding, Rounding};
use crate::dialect::nv_tileas::view::TiledLoad;
use crate::facts::access::pointee;
use crate::facts::matmul::{Matmul, Side};
use crate::facts::{self, FactMap};
use crate::ir::{Float, Module, OpId, Type, TypeId, ValueId};
use crate::lower::build::cased;
use crate::target::{Feature, Target};
use rustc_hash::FxHashSet;

/// The loads in loops of `func` of which only tf32 is used, if a producer may bring them, and so that `tcgen05` reads them in place.
pub fn find(m: &mut Module, func: OpId, target: &Target, options: &Options) -> Vec<OpId> {
    if !(options.tma && options.roles && target.has(Feature::Tma)) {
        return Vec::new();
    }
    let mut found = candidates(m, func);
    if found.is_empty() || !target.has(Feature::Tcgen05) {
        return found;
    }
    // `tcgen05` reads elements of 32 bits along K, and wide rows across. Others are converted on their way to where they are read.
    let copy = copy_whole_beside(m, func);
    let loads = candidates(m, copy);
    load(m, &loads);
    let facts = facts::of(m, copy);
    let in_copy = m.body_of(copy, 0);
    let across = |l| in_copy.is_some_and(|body| is_read_across(m, body, target, &facts, l));
    let mut in_place = loads
        .iter()
        .map(|&l| is_read_along(m, copy, &facts, l) || across(l));
    found.retain(|_| in_place.next() == Some(true));
    m.erase(copy);
    found
}

fn candidates(m: &Module, func: OpId) -> Vec<OpId> {
    let Some(body) = m.body_of(func, 0) else {
        return Vec::new();
    };
    let rounded = |&op: &OpId| {
        let load = TiledLoad::of(m.op(op));
        // Other numbers outside of the tensor would have to be rounded as well.
        let load = load.filter(|v| matches!(v.padding(), None | Some(Padding::Zero)));
        load.is_some_and(|v| is(m, m.ty(v.tile()), Float::F32) && uses(m, v.tile()).is_some())
            && loop_around(m, body, m.op(op).block).is_some()
    };
    m.ops_under(body).into_iter().filter(rounded).collect()
}

/// Whether all matmuls of `func` that read what `load` loads read it along the rows in which it is brought.
fn is_read_along(m: &Module, func: OpId, facts: &FactMap, load: OpId) -> bool {
    let load: FxHashSet<OpId> = [load].into_iter().collect();
    let ops = m.body_of(func, 0).map_or_else(Vec::new, |b| m.ops_under(b));
    let mut matmuls = ops.into_iter().filter_map(|o| Matmul::of(m.op(o)));
    let along = |of, side| reads_in_place(m, facts, of, side, &load) != Some(false);
    matmuls.all(|of| Side::BOTH.into_iter().all(|side| along(of, side)))
}

/// How a loaded tile is used, if as tf32 only.
fn uses(m: &Module, tile: ValueId) -> Option<(Uses, TypeId)> {
    let mut uses = Uses::of(rounds);
    let elem = uses.follow(m, tile)?;
    Some((uses, elem))
}

/// Whether an operation rounds to the nearest tf32.
fn rounds(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let even = cased(Rounding::NearestEven);
    let rounding = data.attr_named("rounding_mode");
    C::of(data.kind) == Some(C::FToF)
        && (rounding.is_none() || rounding == even.as_ref())
        && is(m, m.ty(m.result(op)), Float::TF32)
}

fn is(m: &Module, ty: TypeId, float: Float) -> bool {
    *m.types.get(m.types.elem(ty)) == Type::Float(float)
}

/// Lets the copies of `loads` round.
pub fn load(m: &mut Module, loads: &[OpId]) {
    let mut bases = Bases::default();
    for &op in loads {
        let load = TiledLoad::of(m.op(op)).map(|v| (v.base(), v.tile()));
        if let Some((base, tile)) = load
            && let Some((uses, elem)) = uses(m, tile)
        {
            uses.load_as(m, op, base, elem, &mut bases);
        }
    }
}

/// Whether a load's copy has to round: it loads what is f32 in memory as tf32.
pub fn is_to_round(m: &Module, load: OpId) -> bool {
    let base = TiledLoad::of(m.op(load)).map(|v| v.base());
    base.is_some_and(|base| {
        let made = m
            .def_op(base)
            .filter(|&o| C::of(m.op(o).kind) == Some(C::PtrToPtr));
        let is = |v, float| is(m, pointee(m, v), float);
        made.is_some_and(|o| is(base, Float::TF32) && is(m.source(o), Float::F32))
    })
}
