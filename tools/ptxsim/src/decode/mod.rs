//! Syntax tree to decoded program: names resolved, opcodes understood. Whatever is not understood is an error with its
//! line and mnemonic.

mod asynchronous;
mod binding;
mod builder;
mod checked;
mod compare;
mod control;
mod cvt;
mod extremum;
mod finish;
mod float;
mod formats;
mod fragments;
mod function;
mod integer;
mod lanes;
mod literal;
mod logic;
mod matrix;
mod memory;
mod mods;
mod module;
mod names;
mod operand;
mod placed;
mod stochastic;
mod tcgen05;
mod variables;
mod video;
mod warp;
mod wmma;

use mods::Mods;
pub use module::{decode, decode_placed};
use names::Function;
pub use placed::{Places, Wanted};

use crate::parse::ParseError;
use crate::parse::ast::Instruction;
use crate::program::inst::{Op, Src};

type Result<T> = std::result::Result<T, ParseError>;

/// Decodes one instruction of a function.
fn instruction<'a>(cx: &mut Function<'_, 'a>, inst: &Instruction<'a>) -> Result<()> {
    let mut mods = Mods::new(&inst.opcode);
    let guard = match inst.guard {
        Some((name, negated)) => {
            let mut guard = cx.pred_named(name)?;
            guard.negated = negated;
            guard
        }
        None => operand::ALWAYS,
    };
    let own_rows = cx.info.rows;
    let op = family(cx, inst, &mut mods)?;
    if let Some(word) = mods.leftover() {
        return cx.error(format!(
            "modifier `.{word}` of `{}` is not supported",
            inst.mnemonic()
        ));
    }
    let op = without_temporary(cx, op, own_rows);
    cx.push(guard, op);
    Ok(())
}

/// A move of a special register, which its operand has put into a temporary (a row after
/// `own_rows`), is one instruction.
fn without_temporary(cx: &mut Function<'_, '_>, op: Op, own_rows: u32) -> Op {
    if let Op::Move {
        dst,
        src: Src::Reg(row),
    } = op
        && let Some(Op::Special {
            dst: temporary,
            special,
        }) = cx.code.last().map(|i| &i.op)
        && temporary.0 == row
        && row >= own_rows
    {
        let special = *special;
        cx.code.pop();
        return Op::Special { dst, special };
    }
    op
}

/// Hands the instruction to the family that knows its mnemonic.
fn family<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    let name = inst.opcode.first().copied().unwrap_or("");
    match name {
        "mov" | "setp" | "set" | "selp" | "slct" | "not" | "and" | "or" | "xor" | "lop3"
        | "cnot" | "shl" | "shr" | "shf" | "prmt" | "bfe" | "bfi" | "bfind" | "brev" | "popc"
        | "clz" | "fns" | "bmsk" | "szext" => logic::decode(cx, inst, mods),
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "abs" | "neg" | "min" | "max"
        | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "copysign"
        | "testp" | "addc" | "subc" | "madc" | "sad" | "mul24" | "mad24" | "dp4a" | "dp2a" => {
            if integer::is_integer(inst) {
                integer::decode(cx, inst, mods)
            } else {
                float::decode(cx, inst, mods)
            }
        }
        "cvt" => cvt::decode(cx, inst, mods),
        "ld" | "ldu" | "st" | "atom" | "red" | "cvta" | "isspacep" | "prefetch" | "prefetchu"
        | "mapa" | "getctarank" | "applypriority" | "discard" | "createpolicy" | "multimem"
        | "stacksave" | "stackrestore" | "alloca" => memory::decode(cx, inst, mods),
        "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent" => {
            control::decode(cx, inst, mods)
        }
        "bar" | "barrier" | "fence" | "membar" | "shfl" | "vote" | "match" | "redux" | "elect"
        | "activemask" | "griddepcontrol" | "setmaxnreg" => warp::decode(cx, inst, mods),
        "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" | "wgmma" => {
            matrix::decode(cx, inst, mods)
        }
        "tcgen05" => tcgen05::decode(cx, inst, mods),
        "cp" | "mbarrier" | "tensormap" | "clusterlaunchcontrol" => {
            asynchronous::decode(cx, inst, mods)
        }
        _ if video::is_video(name) => video::decode(cx, inst, mods),
        _ => cx.unsupported(inst),
    }
}

pub use logic::second_row;
