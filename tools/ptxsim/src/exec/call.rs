//! Calls, returns and exits.

use super::env::Env;
use super::fault::Trap;
use super::flow::Flow;
use super::warp::Warp;
use super::{heap, printf, stack};
use crate::exec::frame::Frame;
use crate::program::inst::{CallValue, Callee, Reg};
use crate::program::{lanes, window};

/// Calls may nest this deep.
const MAX_DEPTH: usize = 1024;

/// `call`
pub fn call(
    env: &mut Env<'_>,
    warp: &mut Warp,
    fragment: usize,
    mut active: u32,
    callee: Callee,
    args: &[CallValue],
    returns: &[CallValue],
) -> Result<Flow, Trap> {
    let frame = warp.fragments[fragment].frame();
    let function = match callee {
        Callee::Function(index) => index,
        Callee::Printf => return printf::call(env, warp, frame, active, args, returns),
        Callee::AssertFail => return printf::assertion(env, warp, frame, active, args),
        Callee::Malloc => return heap::malloc(env, warp, frame, active, args, returns),
        Callee::Free => return heap::free(env, warp, frame, active, args),
        Callee::Indirect(src) => {
            let row = warp.source(env, frame, src, active)?;
            let first = lanes(active).next().unwrap_or(0);
            let same = lanes(active)
                .filter(|&l| row[l] == row[first])
                .fold(0, |m, l| m | 1 << l);
            // One target at a time: the lanes that agree go first.
            active = same;
            match env.shared.program.function_addresses.get(&row[first]) {
                Some(&index) => index,
                None => {
                    return Err(Trap::lane(
                        first,
                        format!(
                            "calls {:#x}, which is no function (code starts at {:#x})",
                            row[first],
                            window::CODE
                        ),
                    ));
                }
            }
        }
    };
    warp.isolate(fragment, active);
    if warp.fragments[fragment].frames.len() >= MAX_DEPTH {
        return Err(Trap::new(format!("calls nest deeper than {MAX_DEPTH}")));
    }
    let caller = &env.shared.program.functions[frame.function as usize];
    let info = &env.shared.program.functions[function as usize];
    let tops = lanes(active).map(|lane| stack::pointer(env, warp, frame, lane));
    let top = tops.max().unwrap_or(frame.local + caller.local_bytes);
    let inner = Frame {
        function,
        return_pc: warp.fragments[fragment].pc + 1,
        rows: frame.rows + caller.rows,
        preds: frame.preds + caller.preds,
        local: top.next_multiple_of(16),
        params: (frame.params + caller.param_bytes).next_multiple_of(16),
    };
    warp.make_room(inner, info, active);
    for (i, arg) in args.iter().enumerate() {
        pass(
            env,
            warp,
            frame,
            inner,
            active,
            arg,
            info.params.get(i),
            info.param_rows.get(i).copied().flatten(),
        )?;
    }
    warp.fragments[fragment].frames.push(inner);
    Ok(Flow::Jump(info.start))
}

/// One argument from the caller's frame to the callee's.
#[allow(clippy::too_many_arguments)]
fn pass(
    env: &Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    inner: Frame,
    active: u32,
    arg: &CallValue,
    place: Option<&(u32, u32)>,
    row: Option<u32>,
) -> Result<(), Trap> {
    let Some(&(offset, size)) = place else {
        return Err(Trap::new(
            "call passes more arguments than the function takes",
        ));
    };
    match (arg, row) {
        (CallValue::Param(from, from_size), None) => {
            copy(
                warp,
                active,
                frame.params + from,
                inner.params + offset,
                size.min(*from_size),
            );
            Ok(())
        }
        (CallValue::Value(src), Some(row)) => {
            let value = warp.source(env, frame, *src, active)?;
            warp.set(inner, Reg(row), active, &value);
            Ok(())
        }
        (CallValue::Value(src), None) => {
            let value = warp.source(env, frame, *src, active)?;
            for lane in lanes(active) {
                let at = (inner.params + offset) as usize;
                warp.params[lane][at..at + (size as usize).min(8)]
                    .copy_from_slice(&value[lane].to_le_bytes()[..(size as usize).min(8)]);
            }
            Ok(())
        }
        _ => Err(Trap::new(
            "call passes an argument in another way than the function takes it",
        )),
    }
}

fn copy(warp: &mut Warp, active: u32, from: u32, to: u32, size: u32) {
    for lane in lanes(active) {
        warp.params[lane].copy_within(from as usize..(from + size) as usize, to as usize);
    }
}

/// `ret` of a function.
pub fn ret(env: &Env<'_>, warp: &mut Warp, fragment: usize, active: u32) -> Result<Flow, Trap> {
    warp.isolate(fragment, active);
    let frames = &warp.fragments[fragment].frames;
    let (inner, outer) = match frames.as_slice() {
        [.., outer, inner] => (*inner, *outer),
        _ => return Ok(Flow::Exit(active)),
    };
    let program = env.shared.program;
    let info = &program.functions[inner.function as usize];
    let call = &program.code[inner.return_pc as usize - 1];
    let crate::program::inst::Op::Call { returns, .. } = &call.op else {
        return Err(Trap::new("returns to something that is no call"));
    };
    for (i, target) in returns.iter().enumerate() {
        let Some(&(offset, size)) = info.returns.get(i) else {
            return Err(Trap::new(
                "call expects more results than the function returns",
            ));
        };
        match (target, info.return_rows.get(i).copied().flatten()) {
            (CallValue::Param(to, to_size), None) => {
                copy(
                    warp,
                    active,
                    inner.params + offset,
                    outer.params + to,
                    size.min(*to_size),
                );
            }
            (CallValue::Target(reg), Some(row)) => {
                let value = warp.source(env, inner, crate::program::inst::Src::Reg(row), active)?;
                warp.set(outer, *reg, active, &value);
            }
            _ => {
                return Err(Trap::new(
                    "call takes a result in another way than the function returns it",
                ));
            }
        }
    }
    // What the function has allocated goes with it.
    for lane in lanes(active) {
        warp.stack[lane] = warp.stack[lane].min(inner.local);
    }
    warp.fragments[fragment].frames.pop();
    Ok(Flow::Jump(inner.return_pc))
}
