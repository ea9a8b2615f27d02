//! Control flow (PTX ISA 9.7.12, 9.7.19).

use super::Result;
use super::binding::Binding;
use super::checked::require_ty;
use super::mods::Mods;
use super::names::Function;
use crate::parse::ast::{Instruction, Operand, VarSpace};
use crate::program::inst::{CallValue, Callee, Op};
use crate::program::types::Ty;

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    match inst.opcode[0] {
        "bra" => {
            let uniform = mods.flag("uni");
            let Operand::Name(label, None) = cx.operand(inst, 0)? else {
                return cx.error("bra needs a label");
            };
            Ok(Op::Branch {
                target: cx.label(label)?,
                uniform,
            })
        }
        "brx" => {
            if !mods.flag("idx") {
                return cx.unsupported(inst);
            }
            mods.flag("uni");
            let index = cx.src_at(inst, 0, Ty::U32)?;
            let Operand::Name(list, None) = cx.operand(inst, 1)? else {
                return cx.error("brx.idx needs a list");
            };
            Ok(Op::BranchIndirect {
                index,
                targets: cx.branch_targets(list)?,
            })
        }
        "call" => call(cx, inst, mods),
        "ret" => {
            mods.flag("uni");
            Ok(if cx.is_entry { Op::Exit } else { Op::Return })
        }
        "exit" => Ok(Op::Exit),
        "trap" => Ok(Op::Trap),
        "brkpt" => Ok(Op::Breakpoint),
        "pmevent" => {
            mods.flag("mask");
            Ok(Op::Nop)
        }
        "nanosleep" => {
            require_ty(cx, inst, mods)?;
            Ok(Op::Nanosleep)
        }
        _ => cx.unsupported(inst),
    }
}

/// `call (returns), name, (arguments), prototype;` with either list absent.
fn call<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>, mods: &mut Mods<'_>) -> Result<Op> {
    mods.flag("uni");
    let mut operands = inst.operands.iter();
    let mut next = operands.next();
    let mut returns = Vec::new();
    if let Some(Operand::Tuple(items)) = next {
        for item in items {
            returns.push(call_value(cx, item, true)?);
        }
        next = operands.next();
    }
    let callee = match next {
        Some(Operand::Name(name, None)) => callee(cx, name)?,
        _ => return cx.error("call needs a function"),
    };
    let mut args = Vec::new();
    if let Some(Operand::Tuple(items)) = operands.next() {
        for item in items {
            args.push(call_value(cx, item, false)?);
        }
    }
    Ok(Op::Call {
        callee,
        args,
        returns,
    })
}

fn callee(cx: &mut Function<'_, '_>, name: &str) -> Result<Callee> {
    if let Some(Binding::Register { row, .. }) = cx.lookup(name) {
        return Ok(Callee::Indirect(crate::program::inst::Src::Reg(row)));
    }
    match (name, cx.program.function(name)) {
        (_, Some(index)) => Ok(Callee::Function(index)),
        ("vprintf", None) => Ok(Callee::Printf),
        ("__assertfail", None) => Ok(Callee::AssertFail),
        ("malloc", None) => Ok(Callee::Malloc),
        ("free", None) => Ok(Callee::Free),
        _ => cx.error(format!("function `{name}` has no body here")),
    }
}

fn call_value<'a>(
    cx: &mut Function<'_, 'a>,
    operand: &Operand<'a>,
    is_return: bool,
) -> Result<CallValue> {
    if let Operand::Name(name, None) = operand
        && let Some(Binding::Variable {
            space: VarSpace::Param,
            address,
            size,
        }) = cx.lookup(name)
    {
        return Ok(CallValue::Param(address as u32, size));
    }
    if is_return {
        return Ok(CallValue::Target(cx.dst(operand, Ty::B8)?));
    }
    Ok(CallValue::Value(cx.src(operand, Ty::B32)?))
}
