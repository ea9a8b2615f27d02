//! Kernels and structured control flow.

use super::super::{Ctx, NO_RESULTS};
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{BlockId, Op, Type, ValueId};
use crate::verify::{Check, ensure, fail};

/// `None` for what is no kernel and no control flow.
pub fn check(c: &Ctx, view: &View<Op>) -> Option<Check> {
    Some(match view {
        View::Func(v) => func(c, v),
        View::Return(v) => ensure(v.operands().is_empty(), || NO_RESULTS.into()),
        View::For(v) => for_loop(c, v),
        View::Loop(v) => endless(c, v),
        View::If(v) => branches(c, v),
        View::Yield(v) => yields(c, v.operands()),
        View::Continue(v) => enclosing(c, true).and_then(|around| {
            let carried = around.carried();
            matches(c, "operands", v.operands(), "carried values", carried)
        }),
        View::Break(v) => enclosing(c, false).and_then(|around| {
            let results = around.results();
            matches(c, "operands", v.operands(), "the loop's results", results)
        }),
        _ => return None,
    })
}

/// A loop.
enum Loop<'m> {
    Counted(view::For<'m, Op>),
    Endless(view::Loop<'m, Op>),
}

impl<'m> Loop<'m> {
    fn of(op: &'m Op) -> Option<Self> {
        let counted = view::For::of(op).map(Loop::Counted);
        counted.or_else(|| view::Loop::of(op).map(Loop::Endless))
    }

    fn carried(&self) -> &'m [ValueId] {
        match self {
            Loop::Counted(v) => v.inits(),
            Loop::Endless(v) => v.inits(),
        }
    }

    fn results(&self) -> &'m [ValueId] {
        match self {
            Loop::Counted(v) => v.results(),
            Loop::Endless(v) => v.results(),
        }
    }
}

fn func(c: &Ctx, v: &view::Func<Op>) -> Check {
    let threads = v.reqntid();
    ensure((32..=1024).contains(&threads) && threads % 32 == 0, || {
        format!("{threads} threads are not 1 to 32 whole warps")
    })?;
    let bytes = v.smem_bytes();
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

fn for_loop(c: &Ctx, v: &view::For<Op>) -> Check {
    for bound in [v.upper(), v.step()] {
        c.same_type("bounds and step", v.lower(), bound)?;
    }
    matches(c, "initial values", v.inits(), "the results", v.results())?;
    let args = args(c, block(c, 0)?);
    match args.split_first() {
        Some((&counter, carried)) => {
            c.same_type("counter and bounds", counter, v.lower())?;
            matches(c, "initial values", v.inits(), "arguments", carried)
        }
        None => fail("no counter"),
    }
}

fn endless(c: &Ctx, v: &view::Loop<Op>) -> Check {
    let args = args(c, block(c, 0)?);
    matches(c, "initial values", v.inits(), "arguments", args)
}

fn branches(c: &Ctx, v: &view::If<Op>) -> Check {
    ensure(c.regs(v.condition()) == 1, || {
        "the condition is no scalar".into()
    })?;
    let one_way =
        c.op.regions
            .get(1)
            .is_none_or(|&r| c.m.region(r).blocks.is_empty());
    ensure(!one_way || v.results().is_empty(), || {
        "results, but only one way".into()
    })
}

/// A yield gives the results of its `if`, or the next values of its `for`.
fn yields(c: &Ctx, operands: &[ValueId]) -> Check {
    let results = match c.m.parent_op(c.id).and_then(|p| View::of(c.m.op(p))) {
        Some(View::If(v)) => v.results(),
        Some(View::For(v)) => v.results(),
        _ => return fail("stands neither in an 'if' nor in a 'for'"),
    };
    matches(c, "operands", operands, "the results", results)
}

/// The loop around, through `if`s only; `counted`: it may be one that counts.
fn enclosing<'m>(c: &Ctx<'m>, counted: bool) -> Result<Loop<'m>, String> {
    let mut at = c.id;
    while let Some(parent) = c.m.parent_op(at) {
        let op = c.m.op(parent);
        match Loop::of(op) {
            Some(found @ Loop::Endless(_)) => return Ok(found),
            Some(found) if counted => return Ok(found),
            _ if view::If::of(op).is_some() => at = parent,
            _ => break,
        }
    }
    fail("stands in no loop")
}
