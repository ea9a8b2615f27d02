//! The body of one function.

use super::binding::Binding;
use super::builder::Builder;
use super::names::Function;
use super::variables::MAX_SMALL_BYTES;
use super::{Result, instruction, operand};
use crate::clock::weight::Weight;
use crate::parse::ast::{self, Statement, VarSpace, Variable};
use crate::program::class::Class;
use crate::program::inst::Op;
use crate::program::{EntryParam, FunctionInfo, window};

/// Decodes a function whose first instruction will be number `start`.
pub(super) fn decode<'a>(
    builder: &mut Builder<'a>,
    function: &'a ast::Function<'a>,
    start: u32,
    params: &[EntryParam],
) -> Result<(FunctionInfo, Vec<crate::program::inst::Inst>)> {
    let mut cx = Function::new(builder, function.name, function.is_entry, function.line);
    if function.is_entry {
        for (formal, param) in function.params.iter().zip(params) {
            cx.bind_variable(
                formal.name,
                VarSpace::Param,
                window::PARAM + u64::from(param.offset),
                param.size,
            );
        }
    } else {
        for formal in &function.returns {
            let (place, row) = formal_place(&mut cx, formal)?;
            cx.info.returns.push(place);
            cx.info.return_rows.push(row);
        }
        for formal in &function.params {
            let (place, row) = formal_place(&mut cx, formal)?;
            cx.info.params.push(place);
            cx.info.param_rows.push(row);
        }
    }
    cx.info.start = start;
    let body = function.body.as_deref().unwrap_or(&[]);
    block(&mut cx, body)?;
    let end = if function.is_entry {
        Op::Exit
    } else {
        Op::Return
    };
    cx.push(operand::ALWAYS, end);
    cx.resolve_labels(start)?;
    Ok((cx.info, cx.code))
}

fn formal_place<'a>(
    cx: &mut Function<'_, 'a>,
    formal: &'a Variable<'a>,
) -> Result<((u32, u32), Option<u32>)> {
    if formal.space == VarSpace::Reg {
        cx.declare_registers(formal.ty, 1, &[(formal.name, None)])?;
        let row = match cx.lookup(formal.name) {
            Some(Binding::Register { row, .. }) => Some(row),
            _ => return cx.error("predicate parameters are not supported"),
        };
        return Ok(((0, 0), row));
    }
    let place = call_param(cx, formal)?;
    Ok((place, None))
}

/// Room for a call parameter in the frame.
fn call_param<'a>(cx: &mut Function<'_, 'a>, variable: &Variable<'a>) -> Result<(u32, u32)> {
    let (size, align) = cx.layout(variable)?;
    let offset = cx.info.param_bytes.next_multiple_of(align.max(8));
    if u64::from(offset) + u64::from(size) > MAX_SMALL_BYTES {
        return cx.error("call parameters are too large");
    }
    cx.info.param_bytes = offset + size;
    cx.bind_variable(variable.name, VarSpace::Param, u64::from(offset), size);
    Ok((offset, size))
}

fn block<'a>(cx: &mut Function<'_, 'a>, statements: &'a [Statement<'a>]) -> Result<()> {
    cx.open_scope(statements)?;
    for statement in statements {
        match statement {
            Statement::Registers {
                ty,
                vector,
                names,
                line,
            } => {
                cx.line = *line;
                cx.declare_registers(ty, *vector, names)?;
            }
            Statement::Variable(variable) => declare(cx, variable)?,
            Statement::Label(name, _) => cx.place_label(name),
            Statement::Block(inner) => block(cx, inner)?,
            Statement::BranchTargets(..) | Statement::CallPrototype(_) => {}
            Statement::Instruction(inst) => {
                cx.line = inst.line;
                cx.class = Class::of(&inst.opcode);
                cx.weight = Weight::of(&inst.opcode);
                instruction(cx, inst)?;
            }
        }
    }
    cx.close_scope();
    Ok(())
}

fn declare<'a>(cx: &mut Function<'_, 'a>, variable: &'a Variable<'a>) -> Result<()> {
    match variable.space {
        VarSpace::Local => {
            let (size, align) = cx.layout(variable)?;
            let offset = cx.info.local_bytes.next_multiple_of(align);
            if u64::from(offset) + u64::from(size) > MAX_SMALL_BYTES {
                return cx.error("too much local memory");
            }
            cx.info.local_bytes = offset + size;
            cx.bind_variable(variable.name, VarSpace::Local, u64::from(offset), size);
            Ok(())
        }
        VarSpace::Param => call_param(cx, variable).map(|_| ()),
        // Placed for the whole module beforehand; the module's table finds them.
        _ => Ok(()),
    }
}
