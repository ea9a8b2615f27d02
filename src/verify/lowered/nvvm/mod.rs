//! `nvvm`: the conventions at the head of [`crate::dialect::nvvm`].

mod control;
mod elements;
mod matrix;
mod memory;
mod tensor;

use super::Ctx;
use crate::dialect::Traits;
use crate::dialect::nvvm::Op;
use crate::ir::{Attr, Dense, Type};
use crate::verify::{Check, ensure};

pub fn check(c: &Ctx) -> Check {
    let Some(kind) = Op::of(c.op.kind) else {
        return Ok(());
    };
    if c.op.def().traits.has(Traits::ELEMENTWISE) {
        one_count(c, kind)?;
    }
    elements::check(c, kind)?;
    match kind {
        Op::Const => constant(c),
        Op::Splat => splat(c),
        Op::Take => take(c),
        Op::Concat => concat(c),
        Op::Bitcast => bitcast(c),
        Op::Func | Op::Return | Op::For | Op::If | Op::Loop => control::check(c, kind),
        Op::Yield | Op::Continue | Op::Break => control::check(c, kind),
        Op::MmaSync | Op::Wgmma | Op::WgmmaWait => matrix::check(c, kind),
        Op::TensorAlloc | Op::TensorDealloc | Op::TensorLd | Op::TensorSt | Op::TensorMma => {
            tensor::check(c, kind)
        }
        _ => memory::check(c, kind),
    }
}

/// Elementwise operations have one register count throughout.
fn one_count(c: &Ctx, kind: Op) -> Check {
    if kind == Op::Bitcast {
        return Ok(());
    }
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

fn constant(c: &Ctx) -> Check {
    let result = c.op.results[0];
    let Some(Attr::Dense {
        data: Dense::Bytes(bytes),
        ..
    }) = c.op.attr_named("value")
    else {
        return Err("the value is no number".into());
    };
    let width = c.bits(result).div_ceil(8) as usize;
    let all = width * c.regs(result);
    ensure(bytes.len() == width || bytes.len() == all, || {
        format!("{} bytes of value for {}", bytes.len(), c.text(result))
    })
}

fn splat(c: &Ctx) -> Check {
    let source = c.op.operands[0];
    ensure(c.regs(source) == 1, || {
        format!("the operand is {}, not a scalar", c.text(source))
    })?;
    same_elements(c)
}

/// Operands and results have one element type.
fn same_elements(c: &Ctx) -> Check {
    let result = c.op.results[0];
    match c.op.operands.iter().find(|&&v| c.elem(v) != c.elem(result)) {
        None => Ok(()),
        Some(&v) => Err(format!(
            "elements of {} become {}",
            c.text(v),
            c.text(result)
        )),
    }
}

fn take(c: &Ctx) -> Check {
    let (source, result) = (c.op.operands[0], c.op.results[0]);
    let (indices, n) = (c.ints("indices"), c.regs(source));
    ensure(indices.len() == c.regs(result), || {
        format!("{} indices for {}", indices.len(), c.text(result))
    })?;
    let inside = |i: &i64| usize::try_from(*i).is_ok_and(|i| i < n);
    match indices.iter().find(|i| !inside(i)) {
        None => same_elements(c),
        Some(i) => Err(format!("index {i} into {}", c.text(source))),
    }
}

fn concat(c: &Ctx) -> Check {
    let n: usize = c.op.operands.iter().map(|&v| c.regs(v)).sum();
    ensure(n == c.regs(c.op.results[0]), || {
        format!("{n} registers become {}", c.text(c.op.results[0]))
    })?;
    same_elements(c)
}

fn bitcast(c: &Ctx) -> Check {
    let (a, b) = (c.op.operands[0], c.op.results[0]);
    let total = |v| u64::from(c.bits(v)) * c.regs(v) as u64;
    let casts = |v| !matches!(c.elem(v), Type::TensorMap | Type::Token);
    ensure(casts(a) && casts(b) && total(a) == total(b), || {
        format!("{} and {} have different sizes", c.text(a), c.text(b))
    })
}
