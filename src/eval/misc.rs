//! Facts, assertions, output, block coordinates and tokens.

use std::fmt::Write as _;

use smallvec::smallvec;

use super::context::Fault;
use super::operation::{Action, Decoded, Operation};
use super::print::Format;
use super::shape::strides;
use super::types::{Dims, Elem, TileType};
use super::value::{Value, Values};
use crate::dialect::cuda_tile::{Op as Name, view};
use crate::ir::{AssumePredicate, Attr, DYNAMIC, Module, OpId, Type, ValueId};
use crate::scalar::{Lanes, int};

pub fn decode(o: &Operation) -> Decoded {
    Ok(Some(match o.name {
        Name::Assume => assume(o)?,
        Name::Assert => assert(o)?,
        Name::Print => print(o)?,
        Name::GetTileBlockId => Box::new(|context, _| Ok(coordinates(context.block))),
        Name::GetNumTileBlocks => Box::new(|context, _| Ok(coordinates(context.grid))),
        // Ordering within a block is program order, and there is one grid.
        Name::MakeToken
        | Name::JoinTokens
        | Name::GdcWait
        | Name::GdcLaunchDependents
        | Name::MemoryFenceAlias => Box::new(|_, _| {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            Ok(smallvec![Value::Token])
        }),
        _ => return Ok(None),
    }))
}

fn coordinates(xyz: [u32; 3]) -> Values {
    xyz.iter()
        .map(|&v| Value::splat(32, u64::from(v)))
        .collect()
}

/// The coordinates of an element, as `[1, 2]`.
fn place(shape: &[usize], mut index: usize) -> String {
    let mut at = Vec::new();
    for stride in strides(shape) {
        at.push((index / stride).to_string());
        index %= stride;
    }
    format!("[{}]", at.join(", "))
}

/// A failed assertion is kept, and the block goes on. Each element that does not hold prints a line, which is tileiras':
/// `FILE:LINE: tile block: [X, Y, Z], position: [I, J]: MESSAGE`.
fn assert(o: &Operation) -> Result<Action, String> {
    let (ty, op) = (o.operand(0)?, o.id);
    let text = o.text("message")?.to_owned();
    let line = o.module.source_of(o.op.loc).file_and_line();
    Ok(Box::new(move |context, args| {
        let condition = args.lanes(0)?;
        let mut failed = (0..ty.count())
            .filter(|&i| condition.get(i) == 0)
            .peekable();
        if let Some(&first) = failed.peek() {
            let (mut output, block, mut more) = (context.output.borrow_mut(), context.block, 0);
            for i in failed {
                let at = place(&ty.shape, i);
                let _ = writeln!(
                    output,
                    "{line}: tile block: {block:?}, position: {at}: {text}"
                );
                more += usize::from(i != first);
            }
            let more = match more {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let message = format!(
                "assertion failed at {}{more}: {text}",
                place(&ty.shape, first)
            );
            let mut assertion = context.assertion.borrow_mut();
            assertion.get_or_insert(Fault { op, message });
        }
        Ok(Values::new())
    }))
}

fn print(o: &Operation) -> Result<Action, String> {
    let count = o.op.group(0).len();
    let types: Result<Vec<TileType>, String> = (0..count).map(|i| o.operand(i)).collect();
    let (types, format) = (types?, Format::parse(o.text("str")?));
    let tokens = o.op.results.len();
    if format.values() != count {
        return Err(format!(
            "the format takes {} values, not {count}",
            format.values()
        ));
    }
    Ok(Box::new(move |context, args| {
        let lanes: Result<Vec<&Lanes>, String> = (0..count).map(|i| args.lanes(i)).collect();
        let mut output = context.output.borrow_mut();
        format.write(&mut output, &types, &lanes?);
        Ok(std::iter::repeat_n(Value::Token, tokens).collect())
    }))
}

fn assume(o: &Operation) -> Result<Action, String> {
    let Attr::Assume(predicate) = o.attr("predicate")? else {
        return Err("attribute `predicate` is not a predicate".into());
    };
    if matches!(
        o.module.types.get(o.operand_type(0)?),
        Type::TensorView { .. }
    ) {
        return assume_base(predicate.clone());
    }
    let (ty, predicate) = (o.operand(0)?, predicate.clone());
    check_dimensions(&predicate, ty.shape.len())?;
    let of_one = |&v: &ValueId| is_constant(o.module, v);
    let unused = o.op.operands.first().is_some_and(of_one)
        || (o.op.results.first()).is_some_and(|&v| strides_over_one(o.module, v));
    if unused && matches!(predicate, AssumePredicate::DivBy { .. }) {
        return Ok(Box::new(|_, args| Ok(smallvec![args.value(0)?])));
    }
    Ok(Box::new(move |_, args| {
        let lanes = args.lanes(0)?;
        match violation(&predicate, &ty, lanes) {
            None => Ok(smallvec![args.value(0)?]),
            Some(i) => Err(format!(
                "a false assumption: element {} is {}, against {}",
                place(&ty.shape, i),
                shown(ty.elem, lanes.get(i)),
                describe(&predicate)
            )),
        }
    }))
}

/// Whether a value is a constant, on which other assumptions may have been made. Nobody can use a
/// false divisibility of one, and clients state it: cuTile Python of the stride 1 of a dimension of
/// extent 1.
fn is_constant(module: &Module, value: ValueId) -> bool {
    let mut value = value;
    loop {
        let Some(op) = module.def_op(value).map(|op| module.op(op)) else {
            return false;
        };
        match Name::of(op.kind) {
            Some(Name::Constant) => return true,
            Some(Name::Assume) => match op.operands.first() {
                Some(&operand) => value = operand,
                None => return false,
            },
            _ => return false,
        }
    }
}

/// Whether a value is nothing but the stride of dimensions of extent 1, which no access goes along: cuTile Python takes
/// any for divisible.
fn strides_over_one(module: &Module, value: ValueId) -> bool {
    let users = module.users(value);
    let harmless = |&user: &OpId| {
        let op = module.op(user);
        if Name::of(op.kind) == Some(Name::Assume) {
            return op.results.iter().all(|&v| strides_over_one(module, v));
        }
        let Some(v) = view::MakeTensorView::of(op) else {
            return false;
        };
        let Type::TensorView { shape, strides, .. } = module.types.get(module.ty(v.result()))
        else {
            return false;
        };
        let given = shape.iter().zip(strides).filter(|(_, s)| **s == DYNAMIC);
        let of_one =
            |(&stride, (&extent, _)): (&ValueId, (&i64, &i64))| stride != value || extent == 1;
        let others = v.base() != value && !v.dynamicShape().contains(&value);
        others && v.dynamicStrides().iter().zip(given).all(of_one)
    };
    !users.is_empty() && users.iter().all(harmless)
}

fn assume_base(predicate: AssumePredicate) -> Result<Action, String> {
    let AssumePredicate::DivBy { divisor, .. } = predicate else {
        return Err("only divisibility can be assumed of a tensor view".into());
    };
    Ok(Box::new(move |_, args| {
        let base = args.tensor(0)?.base;
        if divisor != 0 && !base.is_multiple_of(divisor) {
            return Err(format!(
                "a false assumption: the base is {base:#x}, against div_by<{divisor}>"
            ));
        }
        Ok(smallvec![args.value(0)?])
    }))
}

fn check_dimensions(predicate: &AssumePredicate, rank: usize) -> Result<(), String> {
    let fits = match predicate {
        AssumePredicate::DivBy { every, along, .. } => {
            every.is_none_or(|e| e > 0)
                && along.is_none_or(|d| usize::try_from(d).is_ok_and(|d| d < rank.max(1)))
        }
        AssumePredicate::SameElements(groups) => {
            groups.len() == rank && groups.iter().all(|&g| g > 0)
        }
        AssumePredicate::Bounded { .. } => true,
    };
    if fits {
        Ok(())
    } else {
        Err("the predicate does not fit the tile".into())
    }
}

fn shown(elem: Elem, bits: u64) -> String {
    match elem {
        Elem::Int(width) => int::sign_extend(width, bits).to_string(),
        _ => format!("{bits:#x}"),
    }
}

fn describe(predicate: &AssumePredicate) -> String {
    let bound = |b: &Option<i64>| b.map_or("?".into(), |b| b.to_string());
    match predicate {
        AssumePredicate::DivBy {
            divisor,
            every: Some(every),
            along: Some(along),
        } => format!("div_by<{divisor}, every {every} along {along}>"),
        AssumePredicate::DivBy { divisor, .. } => format!("div_by<{divisor}>"),
        AssumePredicate::SameElements(groups) => format!("same_elements<{groups:?}>"),
        AssumePredicate::Bounded { lower, upper } => {
            format!("bounded<{}, {}>", bound(lower), bound(upper))
        }
    }
}

/// The first element that breaks the predicate.
fn violation(predicate: &AssumePredicate, ty: &TileType, lanes: &Lanes) -> Option<usize> {
    let (shape, steps) = (&ty.shape, strides(&ty.shape));
    // Every element of a splat is alike.
    let distinct = lanes.len().min(ty.count());
    match predicate {
        &AssumePredicate::DivBy {
            divisor,
            every,
            along,
        } => {
            let every = every.unwrap_or(1).max(1) as usize;
            let along = along.unwrap_or(0) as usize;
            (0..if every == 1 { distinct } else { ty.count() }).find(|&i| {
                let (extent, step) = (
                    shape.get(along).copied().unwrap_or(1),
                    steps.get(along).copied().unwrap_or(1),
                );
                let within = i / step % extent % every;
                !divisible(ty.elem, lanes, i, within, step, divisor)
            })
        }
        AssumePredicate::SameElements(groups) => {
            if distinct == 1 {
                return None;
            }
            (0..ty.count())
                .find(|&i| lanes.get(i) != lanes.get(group_start(i, shape, &steps, groups)))
        }
        &AssumePredicate::Bounded { lower, upper } => {
            let width = ty.elem.bits();
            (0..distinct).find(|&i| {
                let value = int::sign_extend(width, lanes.get(i));
                lower.is_some_and(|l| value < l) || upper.is_some_and(|u| value > u)
            })
        }
    }
}

/// Whether element `i`, `within` places after its group's first, fits the group: the first is
/// divisible and each other one above its predecessor by 1, or by the pointee's size.
fn divisible(
    elem: Elem,
    lanes: &Lanes,
    i: usize,
    within: usize,
    step: usize,
    divisor: u64,
) -> bool {
    let value = |i: usize| match elem {
        Elem::Int(width) => i128::from(int::sign_extend(width, lanes.get(i))),
        _ => i128::from(lanes.get(i)),
    };
    if within == 0 {
        return divisor == 0 || value(i) % i128::from(divisor) == 0;
    }
    let by = match elem {
        Elem::Ptr { pointee } => i128::from(pointee / 8),
        _ => 1,
    };
    value(i) == value(i - step) + by
}

fn group_start(i: usize, shape: &Dims, steps: &Dims, groups: &[i64]) -> usize {
    let mut start = i;
    for ((&extent, &step), &group) in shape.iter().zip(steps).zip(groups) {
        start -= i / step % extent % group as usize * step;
    }
    start
}
