//! `nvvm`: the conventions at the head of [`crate::dialect::nvvm`].

mod control;
mod elements;
mod matrix;
mod memory;
mod tensor;

use super::Ctx;
use crate::dialect::Traits;
use crate::dialect::nvvm::Op;
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{self, Attr, Dense, Type, ValueId};
use crate::verify::{Check, ensure};

pub fn check(c: &Ctx) -> Check {
    let (Some(kind), Some(view)) = (Op::of(c.op.kind), View::of(c.op)) else {
        return Ok(());
    };
    if c.op.def().traits.has(Traits::ELEMENTWISE) && kind != Op::Bitcast {
        one_count(c)?;
    }
    elements::check(c, kind)?;
    match &view {
        View::Const(v) => constant(c, v),
        View::Splat(v) => splat(c, v),
        View::Take(v) => take(c, v),
        View::Concat(v) => concat(c, v),
        View::Bitcast(v) => bitcast(c, v),
        _ => control::check(c, &view)
            .or_else(|| matrix::check(c, &view))
            .or_else(|| tensor::check(c, &view))
            .unwrap_or_else(|| memory::check(c, &view)),
    }
}

/// Elementwise operations have one register count throughout.
fn one_count(c: &Ctx) -> Check {
    let mut counts =
        c.op.operands
            .iter()
            .chain(&c.op.results)
            .map(|&v| c.regs(v));
    let first = counts.next().unwrap_or(1);
    match counts.find(|&n| n != first) {
        None => Ok(()),
        Some(n) => Err(format!("values of {first} and of {n} registers")),
    }
}

fn constant(c: &Ctx, v: &view::Const<ir::Op>) -> Check {
    let result = v.result();
    let Attr::Dense {
        data: Dense::Bytes(bytes),
        ..
    } = v.value()
    else {
        return Err("the value is no number".into());
    };
    let width = c.bits(result).div_ceil(8) as usize;
    let all = width * c.regs(result);
    ensure(bytes.len() == width || bytes.len() == all, || {
        format!("{} bytes of value for {}", bytes.len(), c.text(result))
    })
}

fn splat(c: &Ctx, v: &view::Splat<ir::Op>) -> Check {
    ensure(c.regs(v.source()) == 1, || {
        format!("the operand is {}, not a scalar", c.text(v.source()))
    })?;
    same_elements(c, &[v.source()], v.result())
}

/// Operands and result have one element type.
fn same_elements(c: &Ctx, operands: &[ValueId], result: ValueId) -> Check {
    match operands.iter().find(|&&v| c.elem(v) != c.elem(result)) {
        None => Ok(()),
        Some(&v) => Err(format!(
            "elements of {} become {}",
            c.text(v),
            c.text(result)
        )),
    }
}

fn take(c: &Ctx, v: &view::Take<ir::Op>) -> Check {
    let (source, result) = (v.source(), v.result());
    let (indices, n) = (v.indices(), c.regs(source));
    ensure(indices.len() == c.regs(result), || {
        format!("{} indices for {}", indices.len(), c.text(result))
    })?;
    let inside = |i: &i32| usize::try_from(*i).is_ok_and(|i| i < n);
    match indices.iter().find(|i| !inside(i)) {
        None => same_elements(c, &[source], result),
        Some(i) => Err(format!("index {i} into {}", c.text(source))),
    }
}

fn concat(c: &Ctx, v: &view::Concat<ir::Op>) -> Check {
    let n: usize = v.sources().iter().map(|&v| c.regs(v)).sum();
    ensure(n == c.regs(v.result()), || {
        format!("{n} registers become {}", c.text(v.result()))
    })?;
    same_elements(c, v.sources(), v.result())
}

fn bitcast(c: &Ctx, v: &view::Bitcast<ir::Op>) -> Check {
    let (a, b) = (v.source(), v.result());
    let total = |v| u64::from(c.bits(v)) * c.regs(v) as u64;
    let casts = |v| !matches!(c.elem(v), Type::TensorMap | Type::Token);
    ensure(casts(a) && casts(b) && total(a) == total(b), || {
        format!("{} and {} have different sizes", c.text(a), c.text(b))
    })
}
