//! Which elements the operands and results of each operation have, as data.

use super::super::Ctx;
use crate::dialect::modes;
use crate::dialect::nvvm::Op as N;
use crate::ir::{self, Attr, EnumAttr, Type, ValueId};
use crate::verify::{Check, ensure};

/// What an element may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    Int,
    Float,
    Bool,
    I32,
    I64,
    /// An address, global or shared.
    Address,
    /// An integer or an address: what compares and selects alike.
    Ordinal,
    Shared,
    Map,
    Any,
}

impl Is {
    fn holds(self, ty: &Type) -> bool {
        let address = matches!(ty, Type::Ptr { .. } | Type::SharedPtr);
        match self {
            Is::Int => matches!(ty, Type::Int(_)),
            Is::Float => matches!(ty, Type::Float(_)),
            Is::Bool => matches!(ty, Type::Int(1)),
            Is::I32 => matches!(ty, Type::Int(32)),
            Is::I64 => matches!(ty, Type::Int(64)),
            Is::Address => address,
            Is::Ordinal => address || matches!(ty, Type::Int(_)),
            Is::Shared => matches!(ty, Type::SharedPtr),
            // A parameter, or where the kernel put one that it made.
            Is::Map => matches!(ty, Type::TensorMap | Type::Ptr { .. }),
            Is::Any => true,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Is::Int => "integers",
            Is::Float => "floats",
            Is::Bool => "i1",
            Is::I32 => "i32",
            Is::I64 => "i64",
            Is::Address => "addresses",
            Is::Ordinal => "integers or addresses",
            Is::Shared => "shared addresses",
            Is::Map => "a tensor map",
            Is::Any => "anything",
        }
    }
}

/// How the width of the result relates to that of operand 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Width {
    Same,
    Narrower,
    Wider,
    Twice,
    Free,
}

/// Operations, elements per operand group, elements of the result, widths.
struct Row(&'static [N], &'static [Is], Is, Width);

use Is::{Address, Any, Bool, Float, I32, I64, Int, Map, Ordinal, Shared};
use Width::{Free, Narrower, Same, Twice, Wider};

#[rustfmt::skip]
static ROWS: &[Row] = &[
    Row(&[N::Add, N::Sub, N::Mul, N::MulHi, N::MulHiS, N::DivS, N::DivU, N::RemS, N::RemU, N::MinS, N::MinU, N::MaxS,
          N::MaxU, N::And, N::Or, N::Xor, N::Shl, N::ShrS, N::ShrU], &[Int, Int], Int, Same),
    Row(&[N::Not, N::Abs], &[Int], Int, Same),
    Row(&[N::Popc, N::Clz], &[Int], Int, Free),
    Row(&[N::Mad, N::Lop3, N::ShfL, N::ShfR], &[Int, Int, Int], Int, Same),
    Row(&[N::MulWideS, N::MulWideU, N::JoinBytes], &[Int, Int], Int, Twice),
    Row(&[N::SpreadByte], &[Int], Int, Twice),
    Row(&[N::ShlBy, N::ShrBy], &[Int], Int, Same),
    Row(&[N::SpreadNibble], &[Int], Int, Wider),
    Row(&[N::TestClear], &[I32, I32], Bool, Free),
    Row(&[N::WarpUniform], &[I32], I32, Same),
    Row(&[N::MadWideS, N::MadWideU], &[Int, Int, Ordinal], Ordinal, Free),
    Row(&[N::ICmp], &[Ordinal, Ordinal], Bool, Free),
    Row(&[N::ICmpAnd, N::ICmpOr], &[Ordinal, Ordinal, Bool], Bool, Free),
    Row(&[N::Select, N::Rarely], &[Bool, Any, Any], Any, Free),
    Row(&[N::PtrAdd], &[Address, Int], Address, Same),
    Row(&[N::FAdd, N::FSub, N::FMul, N::FDiv, N::FMin, N::FMax], &[Float, Float], Float, Same),
    Row(&[N::Fma], &[Float, Float, Float], Float, Same),
    Row(&[N::FNeg, N::FAbs, N::Sqrt, N::Rsqrt, N::Rcp, N::Ex2, N::Lg2, N::Sin, N::Cos, N::Tanh, N::FRound],
        &[Float], Float, Same),
    Row(&[N::FCmp], &[Float, Float], Bool, Free),
    Row(&[N::Trunc], &[Int], Int, Narrower),
    Row(&[N::ZExt, N::SExt], &[Int], Int, Wider),
    Row(&[N::SIToF, N::UIToF], &[Int], Float, Free),
    Row(&[N::FToSI, N::FToUI], &[Float], Int, Free),
    Row(&[N::FToF], &[Float], Float, Free),
    Row(&[N::Ld], &[Address, Bool, Any], Any, Free),
    Row(&[N::St], &[Address, Any, Bool], Any, Free),
    Row(&[N::AtomicRmw], &[Address, Any, Bool], Any, Free),
    Row(&[N::AtomicCas], &[Address, Any, Any, Bool], Any, Free),
    Row(&[N::MultimemLoad], &[Address, Bool, Any], Any, Free),
    Row(&[N::RedAdd], &[Address, Float, Bool], Any, Free),
    Row(&[N::MultimemReduce, N::MultimemStore], &[Address, Any, Bool], Any, Free),
    Row(&[N::CpAsync], &[Shared, Address, I32, Bool], Any, Free),
    Row(&[N::LdMatrix], &[Shared], Any, Free),
    Row(&[N::StMatrix], &[Shared, Any], Any, Free),
    Row(&[N::Shfl], &[Any, I32], Any, Same),
    Row(&[N::Redux], &[Any], Any, Same),
    Row(&[N::Elect], &[], Bool, Free),
    Row(&[N::Sreg], &[], I32, Free),
    Row(&[N::SmemBase], &[], Shared, Free),
    Row(&[N::AddressOf], &[], Address, Free),
    Row(&[N::MbarInit, N::MbarArrive, N::MbarArriveCopies], &[Shared], Any, Free),
    Row(&[N::MbarArriveAt], &[Shared, I32], Any, Free),
    Row(&[N::MbarExpectTx, N::MbarWait], &[Shared, I32], Any, Free),
    Row(&[N::TmaLoad, N::TmaMulticast, N::TmaPair], &[Shared, Map, I32, Shared], Any, Free),
    Row(&[N::TmaStore], &[Map, I32, Shared], Any, Free),
    Row(&[N::PrefetchMap], &[Map], Any, Free),
    Row(&[N::MapNumber], &[Shared, Int], Any, Free),
    Row(&[N::MapConstant], &[Shared], Any, Free),
    Row(&[N::MapAcquire], &[Address], Any, Free),
    Row(&[N::Wgmma], &[Any, I64, Any, Bool], Any, Free),
    Row(&[N::TensorAlloc, N::TensorCommit], &[Shared], Any, Free),
    Row(&[N::TensorDealloc, N::TensorLd], &[I32], Any, Free),
    Row(&[N::TensorSt], &[I32, Any], Any, Free),
    Row(&[N::TensorMma], &[I32, Int, I64, Bool], Any, Free),
    Row(&[N::TensorCopy], &[I32, I64], Any, Free),
    Row(&[N::TensorMmaScaled], &[I32, I64, I64, I32, Bool], Any, Free),
    Row(&[N::For], &[Int, Int, Int, Any], Any, Free),
    Row(&[N::If], &[Bool], Any, Free),
];

pub fn check(c: &Ctx, kind: N) -> Check {
    let Some(Row(_, operands, result, width)) = ROWS.iter().find(|r| r.0.contains(&kind)) else {
        return Ok(());
    };
    for (i, is) in operands.iter().enumerate() {
        for &v in c.op.group(i) {
            fits(c, c.op.def().operands[i].name, *is, v)?;
        }
    }
    for &v in &c.op.results {
        fits(c, "result", *result, v)?;
    }
    rounding(c)?;
    match (c.op.operands.first(), c.op.results.first()) {
        (Some(&source), Some(&result)) => widths(c, *width, source, result),
        _ => Ok(()),
    }
}

/// The rounding mode is one of those that the operation's row admits.
fn rounding(c: &Ctx) -> Check {
    let Some((modes, at)) = modes::of(c.op.def()) else {
        return Ok(());
    };
    let Some(&Attr::Enum(EnumAttr(mode))) = c.op.attr(at) else {
        return Ok(());
    };
    let result = c.op.results.first();
    let is_f32 = result.is_some_and(|&v| matches!(c.elem(v), Type::Float(ir::Float::F32)));
    ensure(modes.admit(mode, is_f32), || {
        format!("no instruction rounds to {} here", modes::name(mode))
    })
}

fn fits(c: &Ctx, name: &str, is: Is, v: ValueId) -> Check {
    ensure(is.holds(c.elem(v)), || {
        format!("'{name}' must be {}, but is {}", is.name(), c.text(v))
    })
}

fn widths(c: &Ctx, width: Width, source: ValueId, result: ValueId) -> Check {
    let (from, to) = (c.bits(source), c.bits(result));
    let holds = match width {
        Width::Same => c.elem(source) == c.elem(result),
        Width::Narrower => to < from,
        Width::Wider => to > from,
        Width::Twice => to == 2 * from,
        Width::Free => true,
    };
    ensure(holds, || {
        format!("{} becomes {}", c.text(source), c.text(result))
    })
}
