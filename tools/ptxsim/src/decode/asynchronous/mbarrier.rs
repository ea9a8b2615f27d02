//! `mbarrier` (PTX ISA 9.7.13.15).

use crate::decode::Result;
use crate::decode::checked::require_ty;
use crate::decode::memory::{SPACES, order, skip_hints};
use crate::decode::mods::Mods;
use crate::decode::names::Function;
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{Address, MbarOp, Op, Space, Src, WaitPhase};
use crate::program::types::Ty;

pub(super) fn decode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    #[derive(Clone, Copy, PartialEq)]
    enum Name {
        Init,
        Inval,
        Arrive,
        ArriveDrop,
        ExpectTx,
        CompleteTx,
        TestWait,
        TryWait,
        PendingCount,
    }
    let name = mods.one_of(&[
        ("init", Name::Init),
        ("inval", Name::Inval),
        ("arrive", Name::Arrive),
        ("arrive_drop", Name::ArriveDrop),
        ("test_wait", Name::TestWait),
        ("try_wait", Name::TryWait),
        ("pending_count", Name::PendingCount),
        ("complete_tx", Name::CompleteTx),
        ("expect_tx", Name::ExpectTx),
    ]);
    let Some(name) = name else {
        return cx.unsupported(inst);
    };
    let (expect, no_complete) = (mods.flag("expect_tx"), mods.flag("noComplete"));
    let parity = mods.flag("parity");
    order(mods);
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    skip_hints(mods);
    require_ty(cx, inst, mods)?;
    if name == Name::PendingCount {
        let (dst, state) = (cx.dst_at(inst, 0, Ty::U32)?, cx.src_at(inst, 1, Ty::B64)?);
        let nowhere = Address {
            space,
            base: Src::Const(0),
            offset: 0,
            in_frame: false,
        };
        return Ok(Op::Mbarrier {
            op: MbarOp::PendingCount { dst, state },
            address: nowhere,
        });
    }
    let (op, at) = match name {
        Name::Init => (
            MbarOp::Init {
                count: cx.src_at(inst, 1, Ty::U32)?,
            },
            0,
        ),
        Name::Inval => (MbarOp::Inval, 0),
        Name::ExpectTx => (
            MbarOp::ExpectTx {
                bytes: cx.src_at(inst, 1, Ty::U32)?,
            },
            0,
        ),
        Name::CompleteTx => (
            MbarOp::CompleteTx {
                bytes: cx.src_at(inst, 1, Ty::U32)?,
            },
            0,
        ),
        Name::Arrive | Name::ArriveDrop => {
            arrive(cx, inst, expect, no_complete, name == Name::ArriveDrop)?
        }
        _ => {
            let Some(result) = cx.pred_dst(cx.operand(inst, 0)?)? else {
                return cx.error("a wait needs a predicate");
            };
            let phase = cx.src_at(inst, 2, if parity { Ty::U32 } else { Ty::B64 })?;
            let phase = if parity {
                WaitPhase::Parity(phase)
            } else {
                WaitPhase::State(phase)
            };
            (
                MbarOp::TestWait {
                    result,
                    phase,
                    blocking: name == Name::TryWait,
                },
                1,
            )
        }
    };
    Ok(Op::Mbarrier {
        op,
        address: cx.address_at(inst, at, space)?,
    })
}

/// `mbarrier.arrive state, [a]{, count}` with the state optional when the object is remote.
fn arrive<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    expect: bool,
    no_complete: bool,
    drop: bool,
) -> Result<(MbarOp, usize)> {
    let at = usize::from(!matches!(cx.operand(inst, 0)?, Operand::Memory { .. }));
    let state = if at == 1 {
        cx.dst_or_sink(cx.operand(inst, 0)?, Ty::B64)?
    } else {
        None
    };
    let value = inst
        .operands
        .get(at + 1)
        .map(|o| cx.src(o, Ty::U32))
        .transpose()?;
    let (count, expect) = if expect { (None, value) } else { (value, None) };
    Ok((
        MbarOp::Arrive {
            count,
            expect,
            drop,
            no_complete,
            state,
        },
        at,
    ))
}
