//! Kernels and structured control flow.

use super::super::{Ctx, NO_RESULTS};
use crate::dialect::nvvm::Op as N;
use crate::ir::{BlockId, OpId, Type, ValueId};
use crate::verify::{Check, ensure, fail};

pub fn check(c: &Ctx, kind: N) -> Check {
    match kind {
        N::Func => func(c),
        N::Return => ensure(c.op.operands.is_empty(), || NO_RESULTS.into()),
        N::For => for_loop(c),
        N::Loop => {
            let body = block(c, 0)?;
            matches(
                c,
                "initial values",
                &c.op.operands,
                "arguments",
                args(c, body),
            )
        }
        N::If => branches(c),
        N::Yield => yields(c),
        N::Continue => {
            let around = c.m.op(enclosing(c, &[N::For, N::Loop])?);
            let carried = match N::of(around.kind) {
                Some(N::For) => &around.operands[3..],
                _ => &around.operands[..],
            };
            matches(c, "operands", &c.op.operands, "carried values", carried)
        }
        N::Break => {
            let around = c.m.op(enclosing(c, &[N::Loop])?);
            matches(
                c,
                "operands",
                &c.op.operands,
                "the loop's results",
                &around.results,
            )
        }
        _ => Ok(()),
    }
}

fn func(c: &Ctx) -> Check {
    let threads = c.int("reqntid");
    ensure((32..=1024).contains(&threads) && threads % 32 == 0, || {
        format!("{threads} threads are not 1 to 32 whole warps")
    })?;
    let bytes = c.int("smem_bytes");
    ensure(bytes >= 0, || format!("{bytes} bytes of shared memory"))?;
    for &arg in args(c, block(c, 0)?) {
        let scalar = c.regs(arg) == 1 && !matches!(c.elem(arg), Type::SharedPtr);
        ensure(scalar, || format!("a parameter of type {}", c.text(arg)))?;
    }
    Ok(())
}

/// The only block of region `i`.
fn block(c: &Ctx, i: usize) -> Result<BlockId, String> {
    match c
        .op
        .regions
        .get(i)
        .map(|&r| c.m.region(r).blocks.as_slice())
    {
        Some([block]) => Ok(*block),
        _ => fail(format!("region #{i} has not one block")),
    }
}

fn args<'m>(c: &Ctx<'m>, block: BlockId) -> &'m [ValueId] {
    &c.m.block(block).args
}

/// Two lists of values have the same types.
pub fn matches(c: &Ctx, what: &str, a: &[ValueId], other: &str, b: &[ValueId]) -> Check {
    let types = |v: &[ValueId]| v.iter().map(|&v| c.ty(v)).collect::<Vec<_>>();
    let list = |v: &[ValueId]| v.iter().map(|&v| c.text(v)).collect::<Vec<_>>().join(", ");
    ensure(types(a) == types(b), || {
        format!("{what} ({}) are not {other} ({})", list(a), list(b))
    })
}

fn for_loop(c: &Ctx) -> Check {
    let bounds = &c.op.operands[..3];
    for &bound in &bounds[1..] {
        c.same_type("bounds and step", bounds[0], bound)?;
    }
    let inits = &c.op.operands[3..];
    matches(c, "initial values", inits, "the results", &c.op.results)?;
    let args = args(c, block(c, 0)?);
    match args.split_first() {
        Some((&counter, carried)) => {
            c.same_type("counter and bounds", counter, bounds[0])?;
            matches(c, "initial values", inits, "arguments", carried)
        }
        None => fail("no counter"),
    }
}

fn branches(c: &Ctx) -> Check {
    ensure(c.regs(c.op.operands[0]) == 1, || {
        "the condition is no scalar".into()
    })?;
    let one_way =
        c.op.regions
            .get(1)
            .is_none_or(|&r| c.m.region(r).blocks.is_empty());
    ensure(!one_way || c.op.results.is_empty(), || {
        "results, but only one way".into()
    })
}

/// A yield gives the results of its `if`, or the next values of its `for`.
fn yields(c: &Ctx) -> Check {
    let around = c.m.parent_op(c.id).map(|p| c.m.op(p));
    match around.and_then(|p| Some((N::of(p.kind)?, p))) {
        Some((N::If | N::For, p)) => {
            matches(c, "operands", &c.op.operands, "the results", &p.results)
        }
        _ => fail("stands neither in an 'if' nor in a 'for'"),
    }
}

/// The loop around, through `if`s only.
fn enclosing(c: &Ctx, loops: &[N]) -> Result<OpId, String> {
    let mut at = c.id;
    while let Some(parent) = c.m.parent_op(at) {
        match N::of(c.m.op(parent).kind) {
            Some(kind) if loops.contains(&kind) => return Ok(parent),
            Some(N::If) => at = parent,
            _ => break,
        }
    }
    fail("stands in no loop")
}
