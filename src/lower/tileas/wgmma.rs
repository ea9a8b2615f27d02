//! Matmuls by warpgroups (`wgmma`): which can be, and from where they read their operands ([`super::operands`]).
//!
//! The right operand is read from shared memory, the left one from there or from registers. What a pipeline has
//! brought is read in place; any other right operand is stored to a buffer of its own first. A left operand that is
//! computed next to its matmul comes from registers, as attention's probabilities do; one that exists before the
//! loop around the matmul goes to a buffer, where it costs no registers.
//!
//! Every matmul is waited for at once here. [`super::overlap`] then lets them overlap with what follows.

use super::atoms::Extents;
use super::buffers::ROWS;
use super::decided::Plan;
use super::look::place;
use super::missed::Log;
use super::operands::{
    Source, drop_unused, fence_copies, in_place, inner_dimension, is_loaded, is_stationary,
    order_of_rhs, read_where_brought, stored_transposed,
};
use super::paired_k::{self, Renumbered};
use super::promote::{self, Promotion};
use super::staging::{Form, Staging, Stored};
use super::{matmul, swap};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{Attr, BlockId, Diagnostic, Module, OpId, ValueId};
use crate::layout::mma::Wgmma;
use crate::layout::shared::SharedLayout;
use crate::layout::wgmma_desc;
use crate::target::{Feature, Target};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Makes every matmul under `body` that can be one a matmul of `plan`'s warpgroups, whose operands' buffers may take
/// the bytes of shared memory that it leaves for them. Returns what is left of these.
pub fn convert(
    m: &mut Module,
    body: BlockId,
    target: &Target,
    plan: &Plan,
    log: &mut Log,
) -> Result<u64, Diagnostic> {
    let (warps, room) = (plan.tile_warps, plan.staging);
    if !target.has(Feature::Wgmma) || !warps.is_multiple_of(4) {
        return Ok(room);
    }
    let mut staging = Staging::new(body);
    let mut renumbered = Renumbered::default();
    let dots = m.ops_under(body).into_iter();
    let mut dots: VecDeque<OpId> = dots
        .filter(|&o| S::of(m.op(o).kind) == Some(S::Dot))
        .collect();
    while let Some(dot) = dots.pop_front() {
        let split = match Split::of(m, dot, warps) {
            Ok(split) => split,
            Err(why) => {
                log.note(m, dot, "wgmma", why);
                continue;
            }
        };
        let stored = Operands::of(m, body, dot, split, true);
        let with = staging.with(m, dot, stored.stored());
        let fits = !stored.lhs_converted || fits_all(m, body, with, &dots, warps, room);
        let operands = match fits {
            true => stored,
            false => Operands::of(m, body, dot, split, false),
        };
        let more = staging.with(m, dot, operands.stored());
        if more.bytes() > room {
            let why = format!(
                "its operands need {} bytes of shared memory, {} are left",
                more.bytes() - staging.bytes(),
                room - staging.bytes()
            );
            log.note(m, dot, "wgmma", why);
            continue;
        }
        staging = more;
        if operands.renumbered {
            paired_k::renumber(m, dot, &mut renumbered);
        }
        let promotion = Promotion::of(m, body, dot, target, plan, split.columns);
        operands.apply(m, dot, split.groups, promotion, &mut staging)?;
    }
    let left = staging.finish(m, room);
    fence_copies(m, body);
    note_calls(m, body, log);
    Ok(left)
}

/// ptxas waits for each `wgmma` of a kernel that calls a function, wherever the call stands, and says so (C7510): one that is
/// not in the module might be entered while some are under way. Assertions and prints call `vprintf`.
fn note_calls(m: &Module, body: BlockId, log: &mut Log) {
    let ops = m.ops_under(body);
    let calls = |o: &&OpId| matches!(C::of(m.op(**o).kind), Some(C::Assert | C::Print));
    let call = ops.iter().find(calls).filter(|_| {
        let mut ops = ops.iter();
        ops.any(|&o| S::of(m.op(o).kind) == Some(S::AsyncDot))
    });
    if let Some(&call) = call {
        let why = "ptxas waits for each where a kernel prints, as assertions do";
        log.note(m, call, "wgmma that overlap", why);
    }
}

/// Whether what `dots` cannot do without still fits beside what is stored.
fn fits_all(
    m: &Module,
    body: BlockId,
    mut staging: Staging,
    dots: &VecDeque<OpId>,
    warps: u64,
    room: u64,
) -> bool {
    for &dot in dots {
        if let Ok(split) = Split::of(m, dot, warps) {
            let operands = Operands::of(m, body, dot, split, false);
            staging = staging.with(m, dot, operands.stored());
        }
    }
    staging.bytes() <= room
}

/// How a matmul is divided among warpgroups.
#[derive(Clone, Copy)]
struct Split {
    /// Warpgroups along the rows and the columns.
    groups: [u64; 2],
    /// Columns of a warpgroup.
    columns: u64,
}

impl Split {
    /// That of `dot` among so many warps, or why there is none.
    fn of(m: &Module, dot: OpId, warps: u64) -> Result<Split, String> {
        let extents = Extents::of(m, dot)?;
        match extents.spread(warps / 4) {
            Some(groups) => Ok(Split {
                groups,
                columns: extents.columns / groups[1],
            }),
            None => Err(format!(
                "its rows and columns cannot be divided among {warps} warps"
            )),
        }
    }
}

/// What [`convert`] will store, when the tiles of the loads in `brought` come through rings.
pub fn staging(m: &Module, body: BlockId, facts: &FactMap, brought: &FxHashSet<OpId>) -> Staging {
    let mut staging = Staging::new(body);
    for dot in m.ops_under(body) {
        if S::of(m.op(dot).kind) != Some(S::Dot) || Extents::of(m, dot).is_err() {
            continue;
        }
        let Some(Matmul { lhs, rhs, .. }) = Matmul::of(m.op(dot)) else {
            continue;
        };
        if swap::is_expected(m, facts, dot, brought) {
            continue;
        }
        let right = !read_where_brought(m, facts, rhs, 0, brought);
        let left =
            !read_where_brought(m, facts, lhs, 1, brought) && is_stationary(m, body, lhs, dot);
        let stored = [
            right.then(|| Stored::expected(rhs, Side::Right)),
            left.then(|| Stored::expected(lhs, Side::Left)),
        ];
        staging = staging.with(m, dot, stored.into_iter().flatten());
    }
    staging
}

/// Whether warpgroups take the left operand of `dot` from the registers in which it was computed.
pub fn takes_left_as_computed(m: &Module, body: BlockId, dot: OpId, warps: u64) -> bool {
    let Some(Matmul { lhs, .. }) = Matmul::of(m.op(dot)) else {
        return false;
    };
    let split = Split::of(m, dot, warps);
    split.is_ok_and(|s| !travels(m, s, lhs)) && !is_stationary(m, body, lhs, dot)
}

/// Whether a left operand in registers lies in others than its fragments: what is loaded does, and warpgroups side by side
/// each need what all have computed.
fn travels(m: &Module, split: Split, lhs: ValueId) -> bool {
    split.groups[1] > 1 || is_loaded(m, lhs)
}

/// Where the operands of a matmul are read.
struct Operands {
    lhs: Source,
    /// Whether the left one is stored for want of registers, and could be in these after a trip through scratch.
    lhs_converted: bool,
    rhs: Source,
    /// The tiles, as the kernel has them.
    tiles: [ValueId; 2],
    /// Whether K is renumbered ([`paired_k`]).
    renumbered: bool,
}

impl Operands {
    /// `saves`: whether a left operand is stored that could be in registers.
    fn of(m: &Module, body: BlockId, dot: OpId, split: Split, saves: bool) -> Operands {
        let Matmul {
            lhs: left,
            rhs: right,
            ..
        } = Matmul::known(m.op(dot));
        let columns = split.columns.min(Wgmma::MAX_N);
        let brought = in_place(m, left, 0, Wgmma::M);
        let stationary = is_stationary(m, body, left, dot);
        let transposed = |tile: ValueId, dim: usize, mn: u64| {
            let describes = |s: &SharedLayout| wgmma_desc::describe(s, dim, mn).is_ok();
            stored_transposed(m, tile, &describes)
        };
        let lhs_converted = saves && brought.is_none() && !stationary && travels(m, split, left);
        let lhs = match brought {
            Some(source) => source,
            None if lhs_converted || stationary => {
                transposed(left, 0, Wgmma::M).unwrap_or(Source::Stored(Form::Order(ROWS)))
            }
            None => Source::Registers,
        };
        let rhs = in_place(m, right, 1, columns)
            .or_else(|| transposed(right, 1, columns))
            .unwrap_or_else(|| Source::Stored(Form::Order(order_of_rhs(m, right, columns))));
        let renumbered = paired_k::is_wanted(m, dot, &lhs, &rhs);
        let rhs = match rhs {
            Source::Stored(form) if renumbered => Source::Stored(Form::Renumbered(form.order())),
            rhs => rhs,
        };
        Operands {
            lhs,
            lhs_converted,
            rhs,
            tiles: [left, right],
            renumbered,
        }
    }

    /// What is stored of them.
    fn stored(&self) -> impl Iterator<Item = Stored> + use<> {
        let [left, right] = self.tiles;
        let stored = [self.rhs.stored(right), self.lhs.stored(left)];
        stored.into_iter().flatten()
    }

    fn apply(
        self,
        m: &mut Module,
        dot: OpId,
        spread: [u64; 2],
        promotion: Option<Promotion>,
        staging: &mut Staging,
    ) -> Result<(), Diagnostic> {
        let in_registers = matches!(self.lhs, Source::Registers);
        let lhs = Matmul::known(m.op(dot)).lhs;
        let bytes = m.types.bits(m.ty(lhs)) == Some(8);
        let paired = in_registers && bytes && inner_dimension(m, lhs) == Some(0);
        let fresh = promotion == Some(Promotion::Beside) || promote::starts_from_zero(m, dot);
        let data = m.op(dot).clone();
        let matmul = Matmul::known(&data);
        let [left, right] = self.tiles;
        let (lhs, lhs_iteration) = self.lhs.place(m, dot, Side::Left, left, staging)?;
        let (rhs, rhs_iteration) = self.rhs.place(m, dot, Side::Right, right, staging)?;
        let (block, at) = place(m, dot);
        let result = m.result(dot);
        let ty = m.ty(result);
        let i32_ty = m.types.int(32);
        let mut b = m.at(block, at);
        b.loc = data.loc;
        let acc = match promotion {
            Some(Promotion::Beside) => promote::zeros(&mut b, ty),
            _ => matmul.acc,
        };
        let groups: [&[ValueId]; 6] = [
            &[lhs],
            &[rhs],
            &[acc],
            lhs_iteration.as_slice(),
            rhs_iteration.as_slice(),
            &[],
        ];
        let signed = matmul::signed(&data);
        let attrs = [
            Some(Attr::I32s(spread.iter().map(|&n| n as i32).collect())),
            signed[0].clone(),
            signed[1].clone(),
            fresh.then_some(Attr::Unit),
            promotion.map(|_| Attr::Unit),
            paired.then_some(Attr::Unit),
            promotion.and_then(Promotion::part).map(|n| Attr::Int {
                value: n as i64,
                ty: i32_ty,
            }),
        ];
        let none = Attr::Int {
            value: 0,
            ty: i32_ty,
        };
        let issued = b.op(S::AsyncDot, &groups, attrs, &[ty], &[]);
        let issued = b.module.result(issued);
        let mut done = b.value(S::AsyncDotWait, &[issued], [Some(none)], ty);
        if promotion == Some(Promotion::Beside) {
            done = promote::sum(&mut b, matmul.acc, done);
        }
        m.replace_all_uses(result, done);
        m.erase(dot);
        drop_unused(m, [matmul.lhs, matmul.rhs]);
        Ok(())
    }
}
