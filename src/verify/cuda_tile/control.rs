//! Control flow: loops, branches, exits, entries.

use super::{Ctx, bodies};
use crate::dialect::cuda_tile::{Op, view};
use crate::ir::{self, Attr, BlockId, OpId, Type, ValueId};
use crate::verify::{Check, ensure, fail};

/// Where an operation may stand.
pub fn parent(c: &Ctx) -> Check {
    let parent = c.module.parent_op(c.id).map(|p| c.module.op(p).kind);
    let kind = parent.and_then(Op::of);
    let allowed: &[Op] = match c.kind {
        Op::Yield => &[Op::If, Op::Reduce, Op::Scan],
        Op::Break => &[Op::If, Op::Loop],
        Op::Continue => &[Op::For, Op::If, Op::Loop],
        Op::Return => &[Op::Entry, Op::If, Op::Loop],
        Op::Entry | Op::Global => {
            let top = parent.is_none() || kind == Some(Op::Module);
            return ensure(top, || "expects parent op 'cuda_tile.module'".into());
        }
        // What is read is the module; an operation of that name stands inside it.
        Op::Module => return fail("cannot be nested"),
        _ => {
            let inside = parent.is_some() && kind != Some(Op::Module);
            ensure(inside, || "must be inside a 'cuda_tile.entry'".into())?;
            let aggregate = kind.filter(|k| matches!(k, Op::Reduce | Op::Scan));
            return match aggregate.filter(|_| !bodies::has_no_effects(c, c.id)) {
                Some(parent) => fail(format!(
                    "only memory-effect-free operations are allowed inside '{}'",
                    bodies::full_name(parent)
                )),
                None => Ok(()),
            };
        }
    };
    ensure(kind.is_some_and(|k| allowed.contains(&k)), || {
        let names: Vec<_> = allowed.iter().map(|&op| bodies::full_name(op)).collect();
        format!("expects parent op to be one of '{}'", names.join(", "))
    })
}

fn body(c: &Ctx, i: usize, ends: &[Op]) -> Result<BlockId, String> {
    let block = bodies::single_block(c, i)?;
    // That there is one follows from the structure.
    if let Some(last) = c.module.terminator(block) {
        bodies::ends_with(c, last, ends)?;
    }
    Ok(block)
}

/// The enclosing loop or entry, through `if`s only.
fn enclosing(c: &Ctx, loops: &[Op]) -> Result<OpId, String> {
    let mut at = c.id;
    while let Some(parent) = c.module.parent_op(at) {
        match Op::of(c.module.op(parent).kind) {
            Some(kind) if loops.contains(&kind) => return Ok(parent),
            Some(Op::If) => at = parent,
            _ => break,
        }
    }
    let mut names: Vec<_> = loops.iter().map(|&op| bodies::full_name(op)).collect();
    names.push("cuda_tile.if".into());
    fail(format!(
        "can only be nested within a ancestor chain of '{}' operations",
        names.join("', '")
    ))
}

fn same_types(c: &Ctx, a: &[ValueId], b: &[ValueId]) -> bool {
    let ty = |v: &ValueId| c.module.ty(*v);
    a.iter().map(ty).eq(b.iter().map(ty))
}

pub fn break_op(c: &Ctx) -> Check {
    let parent = c.module.op(enclosing(c, &[Op::Loop])?);
    ensure(same_types(c, &parent.results, &c.op.operands), || {
        format!(
            "operand types must correspond to the parent loop result types: ({}) vs ({})",
            c.list(&c.op.operands),
            c.list(&parent.results)
        )
    })
}

pub fn continue_op(c: &Ctx) -> Check {
    let parent = c.module.op(enclosing(c, &[Op::For, Op::Loop])?);
    let (name, what, wanted) = match Op::of(parent.kind) {
        Some(Op::Loop) => ("loop", "iter_values", parent.operands.as_slice()),
        _ => ("for", "return types", parent.results.as_slice()),
    };
    ensure(same_types(c, wanted, &c.op.operands), || {
        format!(
            "`{name}` is missing a valid terminator. `continue` op should have operand types that match the parent loop {what}: ({}), but found: ({})",
            c.list(wanted),
            c.list(&c.op.operands)
        )
    })
}

pub fn return_op(c: &Ctx) -> Check {
    // `if`s and `loop`s all the way to the entry.
    let mut at = c.id;
    while let Some(parent) = c.module.parent_op(at) {
        match Op::of(c.module.op(parent).kind) {
            Some(Op::Entry) => return returns_nothing(c, parent),
            Some(Op::If | Op::Loop) => at = parent,
            _ => break,
        }
    }
    fail("must be used within a cuda_tile.entry, cuda_tile.if, or cuda_tile.loop operation")
}

fn returns_nothing(c: &Ctx, entry: OpId) -> Check {
    let n = c.op.operands.len();
    ensure(n == 0, || {
        let name = c.module.symbol(entry).unwrap_or_default();
        format!("has {n} operands, but enclosing function (@{name}) returns 0")
    })
}

pub fn if_op(c: &Ctx) -> Check {
    const ENDS: &[Op] = &[Op::Yield, Op::Continue, Op::Break, Op::Return];
    no_views(c, "result type")?;
    let mut branches = vec![("then", body(c, 0, ENDS)?)];
    match c.module.region(c.op.regions[1]).blocks.is_empty() {
        false => branches.push(("else", body(c, 1, ENDS)?)),
        true => ensure(c.op.results.is_empty(), || {
            "has non-empty return type, must define else branch".into()
        })?,
    }
    for (i, (name, block)) in branches.into_iter().enumerate() {
        ensure(c.module.block(block).args.is_empty(), || {
            format!("region #{i} should have no arguments")
        })?;
        let last = c.module.terminator(block).map(|t| c.module.op(t));
        if let Some(last) = last.filter(|l| Op::of(l.kind) == Some(Op::Yield)) {
            yields(c, name, &last.operands)?;
        }
    }
    Ok(())
}

fn yields(c: &Ctx, branch: &str, values: &[ValueId]) -> Check {
    let results = &c.op.results;
    ensure(results.is_empty() || !values.is_empty(), || {
        format!(
            "has return type of {} but {branch} branch does not yield anything",
            c.list(results)
        )
    })?;
    ensure(!results.is_empty() || values.is_empty(), || {
        format!(
            "does not return a value, but {branch} branch yields {}",
            c.list(values)
        )
    })?;
    ensure(same_types(c, results, values), || {
        format!(
            "type does not match yield type, {branch} branch yields {} but op result type is {}",
            c.list(values),
            c.list(results)
        )
    })
}

/// Views do not leave regions.
fn no_views(c: &Ctx, what: &str) -> Check {
    for (i, &value) in c.op.results.iter().enumerate() {
        view_refused(c, value, &format!("{what} {i}"))?;
    }
    Ok(())
}

fn view_refused(c: &Ctx, value: ValueId, subject: &str) -> Check {
    match c.type_of(value) {
        Type::TensorView { .. } => fail(format!(
            "{subject} is a tensor_view, which is not supported"
        )),
        Type::PartitionView { .. } | Type::StridedView { .. } | Type::GatherScatterView { .. } => {
            fail(format!("{subject} is a tile view, which is not supported"))
        }
        _ => Ok(()),
    }
}

pub fn for_op(c: &Ctx, v: &view::For<ir::Op>) -> Check {
    let block = body(c, 0, &[Op::Continue])?;
    let args = &c.module.block(block).args;
    let Some((&induction, carried)) = args.split_first() else {
        return fail("expected at least one block argument for induction variable");
    };
    let (got, want) = (c.module.ty(induction), c.module.ty(v.lowerBound()));
    ensure(got == want, || {
        format!(
            "expected induction variable to be same type as bounds and step: {} vs {}",
            c.text(got),
            c.text(want)
        )
    })?;
    carried_values(c, v.initValues(), carried)?;
    ensure(same_types(c, v.initValues(), v.resultValues()), || {
        "failed to verify that all of {initValues, resultValues} have same type".into()
    })
}

pub fn loop_op(c: &Ctx, v: &view::Loop<ir::Op>) -> Check {
    let block = body(c, 0, &[Op::Continue, Op::Break, Op::Return])?;
    carried_values(c, v.initValues(), &c.module.block(block).args)
}

fn carried_values(c: &Ctx, initial: &[ValueId], inner: &[ValueId]) -> Check {
    ensure(initial.len() == inner.len(), || {
        format!(
            "mismatch in number of region iterator values and loop iterator inits: {} vs {}",
            inner.len(),
            initial.len()
        )
    })?;
    for (i, (&a, &b)) in initial.iter().zip(inner).enumerate() {
        view_refused(c, b, &format!("loop-carried value {i}"))?;
        ensure(c.module.ty(a) == c.module.ty(b), || {
            format!(
                "init value {i} and region iter_value {i} have different type: {} != {}",
                c.text(c.module.ty(a)),
                c.text(c.module.ty(b))
            )
        })?;
    }
    no_views(c, "result type")
}

/// Attributes of arguments: a dictionary for each, of names with a dialect's prefix.
fn argument_attributes(c: &Ctx, given: Option<&Attr>, arguments: usize) -> Check {
    let Some(Attr::Array(items)) = given else {
        return Ok(());
    };
    let dictionary = |item: &Attr| matches!(item, Attr::Dict(_));
    ensure(items.iter().all(dictionary), || {
        "attribute 'arg_attrs' failed to satisfy constraint: Array of dictionary attributes".into()
    })?;
    ensure(items.len() == arguments, || {
        format!(
            "expects argument attribute array to have the same number of elements as the number of function arguments, got {}, but expected {arguments}",
            items.len()
        )
    })?;
    let mut entries = items.iter().flat_map(|item| match item {
        Attr::Dict(entries) => entries.as_slice(),
        _ => &[],
    });
    ensure(
        entries.all(|(name, _)| c.module.str(*name).contains('.')),
        || "arguments may only have dialect attributes".into(),
    )
}

pub fn entry(c: &Ctx, v: &view::Entry<ir::Op>) -> Check {
    let Type::Function { params, results } = c.get(v.function_type()) else {
        return fail(
            "attribute 'function_type' failed to satisfy constraint: type attribute of function type",
        );
    };
    ensure(results.is_empty(), || {
        "entry op must not return values".into()
    })?;
    argument_attributes(c, v.arg_attrs(), params.len())?;
    let block = body(c, 0, &[Op::Return])?;
    let args = &c.module.block(block).args;
    ensure(args.len() == params.len(), || {
        format!(
            "entry block must have {} arguments to match function signature",
            params.len()
        )
    })?;
    for (i, (&arg, &param)) in args.iter().zip(params).enumerate() {
        ensure(c.module.ty(arg) == param, || {
            format!(
                "type of entry block argument #{i}({}) must match the type of the corresponding argument in function signature({})",
                c.text(c.module.ty(arg)),
                c.text(param)
            )
        })?;
        match c.get(param) {
            Type::Tile { shape, .. } => ensure(shape.is_empty(), || {
                "entry op must have scalar types (rank 0 !cuda_tile.tile)".into()
            })?,
            _ => {
                return fail(format!(
                    "unsupported type in bytecode for entry argument #{i}: {}; expected a rank-0 !cuda_tile.tile type",
                    c.text(param)
                ));
            }
        }
    }
    Ok(())
}
