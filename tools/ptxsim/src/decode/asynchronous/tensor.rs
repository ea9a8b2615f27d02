//! Tensor copies and tensor maps (PTX ISA 9.7.9.25.5, 9.7.9.28).

use super::{completion, direction};
use crate::decode::Result;
use crate::decode::checked::require_ty;
use crate::decode::logic::immediate;
use crate::decode::memory::{SPACES, skip_hints};
use crate::decode::mods::Mods;
use crate::decode::names::Function;
use crate::parse::ast::{Instruction, Operand};
use crate::program::inst::{
    Address, AtomOp, BulkDirection, MapField, Op, Space, Src, TensorCopy, TensorMode,
};
use crate::program::types::Ty;

/// The map and the coordinates of `[map, {x, y}]`.
fn map_operand<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    index: usize,
) -> Result<(Address, Vec<Src>)> {
    let operand = cx.operand(inst, index)?;
    let Operand::Memory { extra, .. } = operand else {
        return cx.error("expected [tensorMap, {coordinates}]");
    };
    let coords = match extra.first() {
        Some(list) => cx.srcs(list, Ty::S32)?,
        None => return cx.error("expected coordinates after the tensor map"),
    };
    Ok((cx.address(operand, Space::Generic)?, coords))
}

pub(super) fn copy<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
    reduce: Option<AtomOp>,
    prefetch: bool,
) -> Result<Op> {
    let rank = mods.one_of(&[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)]);
    let Some(rank) = rank else {
        return cx.unsupported(inst);
    };
    let direction = if prefetch {
        mods.flag("L2");
        mods.flag("global");
        BulkDirection::Prefetch
    } else {
        direction(cx, inst, mods)?
    };
    completion(mods);
    let multicast = mods.flag("multicast::cluster");
    let pair = mods.one_of(&[("cta_group::1", false), ("cta_group::2", true)]);
    let hint = skip_hints(mods);
    let mode = mods.one_of(MODES).unwrap_or(Mode::Tile);
    let is_load = direction == BulkDirection::Load;
    let (map_at, shared_at) = if is_load {
        (1, Some(0))
    } else {
        (0, (direction == BulkDirection::Store).then_some(1))
    };
    let (map, coords) = map_operand(cx, inst, map_at)?;
    let rows = matches!(mode, Mode::Gather4 | Mode::Scatter4);
    let expected = if rows { 5 } else { rank };
    if coords.len() != expected {
        return cx.error(format!(
            "a {rank}-dimensional copy needs {expected} coordinates, found {}",
            coords.len()
        ));
    }
    let shared_space = if is_load {
        Space::SharedCluster
    } else {
        Space::Shared
    };
    let shared = shared_at
        .map(|i| cx.address_at(inst, i, shared_space))
        .transpose()?;
    let barrier = if is_load {
        Some(cx.address_at(inst, 2, Space::SharedCluster)?)
    } else {
        None
    };
    let mut next = if is_load {
        3
    } else {
        map_at + 1 + usize::from(shared_at.is_some())
    };
    let mode = tensor_mode(cx, inst, mode, rank, direction, &mut next)?;
    let multicast = if multicast {
        next += 1;
        Some(cx.src_at(inst, next - 1, Ty::U16)?)
    } else {
        None
    };
    if hint {
        cx.src_at(inst, next, Ty::B64)?;
    }
    let copy = TensorCopy {
        map,
        coords,
        shared,
        barrier,
        direction,
        mode,
        reduce,
        multicast,
        pair: pair.unwrap_or(false),
    };
    Ok(Op::TensorCopy(Box::new(copy)))
}

/// The words of a tensor copy's mode.
#[derive(Clone, Copy)]
enum Mode {
    Tile,
    Im2col,
    W,
    W128,
    Gather4,
    Scatter4,
}

const MODES: &[(&str, Mode)] = &[
    ("tile", Mode::Tile),
    ("im2col", Mode::Im2col),
    ("im2col_no_offs", Mode::Im2col),
    ("im2col::w", Mode::W),
    ("im2col::w::128", Mode::W128),
    ("tile::gather4", Mode::Gather4),
    ("tile::scatter4", Mode::Scatter4),
];

/// The mode with its offsets, which loads and prefetches have at `next`.
fn tensor_mode<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mode: Mode,
    rank: usize,
    direction: BulkDirection,
    next: &mut usize,
) -> Result<TensorMode> {
    let store = direction == BulkDirection::Store;
    let count = match mode {
        Mode::Tile => return Ok(TensorMode::Tile),
        Mode::Gather4 => return Ok(TensorMode::Gather4),
        Mode::Scatter4 => return Ok(TensorMode::Scatter4),
        Mode::W | Mode::W128 if store => return cx.unsupported(inst),
        _ if rank < 3 => return cx.unsupported(inst),
        Mode::Im2col if store => {
            return Ok(TensorMode::Im2col {
                offsets: Vec::new(),
            });
        }
        Mode::Im2col => rank - 2,
        Mode::W | Mode::W128 => 2,
    };
    let offsets = cx.srcs(cx.operand(inst, *next)?, Ty::U16)?;
    *next += 1;
    match (mode, offsets.as_slice()) {
        (_, given) if given.len() != count => cx.error(format!(
            "an im2col copy of {rank} dimensions needs {count} offsets, found {}",
            given.len()
        )),
        (Mode::W | Mode::W128, &[halo, offset]) => Ok(TensorMode::Im2colWide {
            all_128: matches!(mode, Mode::W128),
            halo,
            offset,
        }),
        _ => Ok(TensorMode::Im2col { offsets }),
    }
}

/// `tensormap.replace` and `tensormap.cp_fenceproxy`
pub(super) fn map<'a>(
    cx: &mut Function<'_, 'a>,
    inst: &Instruction<'a>,
    mods: &mut Mods<'_>,
) -> Result<Op> {
    if mods.flag("cp_fenceproxy") {
        for word in [
            "global",
            "shared::cta",
            "tensormap::generic",
            "release",
            "sync",
            "aligned",
        ] {
            mods.flag(word);
        }
        skip_hints(mods);
        let (dst, src) = (
            cx.address_at(inst, 0, Space::Global)?,
            cx.address_at(inst, 1, Space::Shared)?,
        );
        return Ok(Op::TensormapCopy { dst, src });
    }
    if !mods.flag("replace") {
        return cx.unsupported(inst);
    }
    mods.flag("tile");
    let field = mods.one_of(&[
        ("global_address", MapField::GlobalAddress),
        ("rank", MapField::Rank),
        ("box_dim", MapField::BoxDim),
        ("global_dim", MapField::GlobalDim),
        ("global_stride", MapField::GlobalStride),
        ("element_stride", MapField::ElementStride),
        ("elemtype", MapField::Elemtype),
        ("interleave_layout", MapField::Interleave),
        ("swizzle_mode", MapField::Swizzle),
        ("swizzle_atomicity", MapField::SwizzleAtomicity),
        ("fill_mode", MapField::Fill),
    ]);
    let Some(field) = field else {
        return cx.unsupported(inst);
    };
    let space = mods.one_of(SPACES).unwrap_or(Space::Generic);
    mods.flag("b1024");
    let ty = require_ty(cx, inst, mods)?;
    let address = cx.address_at(inst, 0, space)?;
    let indexed = matches!(
        field,
        MapField::BoxDim | MapField::GlobalDim | MapField::GlobalStride | MapField::ElementStride
    );
    let index = if indexed {
        immediate(cx, inst, 1)? as u32
    } else {
        0
    };
    let value = cx.src_at(inst, if indexed { 2 } else { 1 }, ty)?;
    Ok(Op::TensormapReplace {
        address,
        field,
        index,
        value,
    })
}
