//! The instructions of matmuls, and how warps share out the result.

use crate::dialect::enums::DotAtom;
use crate::dialect::nv_tileas::view::{self, View};
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{Diagnostic, Module, OpId, ValueId};
use crate::layout::bank::Taken;
use crate::layout::mma::{Batch, MatmulShape, MmaSync, Paired, Wgmma};
use crate::layout::scales::MmaScales;
use crate::layout::{Layout, LayoutError};
use crate::lower::unsupported;

/// Instruction shapes, in the order of `enums::DOT_ATOM`.
const fn instruction(atom: DotAtom) -> Option<MatmulShape> {
    let (m, n, k) = match atom {
        DotAtom::M16n8k8 => (16, 8, 8),
        DotAtom::M16n8k16 => (16, 8, 16),
        DotAtom::M16n8k32 => (16, 8, 32),
        DotAtom::M16n8k64 => (16, 8, 64),
        DotAtom::M8n8k4 => (8, 8, 4),
        DotAtom::M8n8k16 => (8, 8, 16),
        DotAtom::Fma => return None,
    };
    Some(MatmulShape { m, n, k })
}

/// The atom of a `dot` or `scaled_dot`, and whether warps share out its rows first.
fn atom_of(m: &Module, op: OpId) -> Option<(DotAtom, bool)> {
    match View::of(m.op(op))? {
        View::Dot(v) => Some((v.atom(), v.by_rows())),
        View::ScaledDot(v) => Some((v.atom(), v.by_rows())),
        _ => None,
    }
}

/// The instruction shape of a `dot` or `scaled_dot`; none of multiply-adds.
pub fn atom_shape(m: &Module, op: OpId) -> Option<MatmulShape> {
    instruction(atom_of(m, op)?.0)
}

/// Whether a `dot` is done by multiply-adds.
pub fn is_fma(m: &Module, op: OpId) -> bool {
    atom_shape(m, op).is_none()
}

/// Whether an operation is a `dot` that threads do by multiply-adds.
pub fn by_threads(m: &Module, op: OpId) -> bool {
    matches!(View::of(m.op(op)), Some(View::Dot(_))) && is_fma(m, op)
}

/// The mma.sync tiling of a `dot` or `scaled_dot`: shape from its atom, warps over rows and columns.
pub fn mma_of(m: &Module, op: OpId, warps: u64) -> Option<MmaSync> {
    let (atom, by_rows) = atom_of(m, op)?;
    let v = Matmul::of(m.op(op))?;
    let (elem, lhs) = m.types.as_tile(m.ty(v.lhs))?;
    let (_, acc) = m.types.as_tile(m.ty(v.acc))?;
    let (&[.., rows, k], &[.., columns]) = (lhs, acc.get(acc.len().checked_sub(1)?..)?) else {
        return None;
    };
    let instruction = instruction(atom)?;
    let tile = MatmulShape {
        m: rows,
        n: columns,
        k,
    };
    let spread = match by_rows {
        true => rows_first,
        false => as_square,
    };
    // Warps that have a matrix of their own share no operands.
    let batch = match *lhs {
        [matrices, _, _] => Some(Batch {
            matrices,
            warps: warps.min(matrices),
        }),
        _ => None,
    };
    let warps = warps / batch.map_or(1, |b| b.warps);
    let (warps_m, warps_n) = spread(warps, rows / instruction.m, columns / instruction.n);
    Some(MmaSync {
        tile,
        instruction,
        element_bits: m.types.bits(elem)?,
        warps_m,
        warps_n,
        batch,
        paired: paired(m, op),
    })
}

/// Which rows and columns of a `dot` those of its instructions are.
fn paired(m: &Module, op: OpId) -> Paired {
    view::Dot::of(m.op(op)).map_or(Paired::NONE, |v| Paired {
        rows: v.paired_rows(),
        columns: v.paired_columns().map_or(1, |n| n.max(1) as u64),
    })
}

/// A tile that a matmul of warps reads in fragments.
pub struct Operand {
    pub dot: OpId,
    pub side: Side,
    pub tile: ValueId,
    /// Of a thread, for its fragments.
    pub registers: u64,
}

impl Operand {
    /// Those of `dot`, if warps do it, whose side and tile `wanted` says.
    ///
    /// # Errors
    /// Where the instruction has no layout for one of them.
    pub fn of(
        m: &Module,
        dot: OpId,
        warps: u64,
        wanted: impl Fn(Side, ValueId) -> bool,
    ) -> Result<Vec<Operand>, Diagnostic> {
        let matmul = Matmul::of(m.op(dot)).filter(|_| view::Dot::of(m.op(dot)).is_some());
        let (Some(mma), Some(Matmul { lhs, rhs, .. })) = (mma_of(m, dot, warps), matmul) else {
            return Ok(Vec::new());
        };
        let sides = [(Side::Left, lhs), (Side::Right, rhs)].into_iter();
        let wanted = sides.filter(|&(side, tile)| wanted(side, tile));
        let operand = |(side, tile): (Side, ValueId)| {
            let layout = operand_of(&mma, side);
            let layout = layout.map_err(|e| unsupported(m, dot, format!("no layout: {e}")))?;
            let bits = m.types.width(m.types.elem(m.ty(tile)));
            Ok(Operand {
                dot,
                side,
                tile,
                registers: (layout.registers() * u64::from(bits)).div_ceil(32),
            })
        };
        wanted.map(operand).collect()
    }
}

/// The layout in which a matmul reads its operand on a side.
pub fn operand_of(mma: &MmaSync, side: Side) -> Result<Layout, LayoutError> {
    match side {
        Side::Left => mma.a(),
        Side::Right => mma.b(),
    }
}

/// How the instructions of a `dot` of so many `warps` take the elements of `tile`, which it multiplies.
pub fn taken(m: &Module, dot: OpId, tile: ValueId, warps: u64) -> Option<Taken> {
    let matmul = view::Dot::of(m.op(dot)).and_then(|_| Matmul::of(m.op(dot)))?;
    let mma = mma_of(m, dot, warps)?;
    let (i, [rows, columns, _]) = (mma.instruction, mma.instructions());
    let of = |side: Side| match side {
        Side::Left => (i.m * i.k, columns),
        Side::Right => (i.n * i.k, rows),
    };
    let sides = Side::BOTH
        .into_iter()
        .filter(|&s| matmul.operand(s) == tile);
    let all = sides.map(of).reduce(|a, b| (a.0.max(b.0), a.1 + b.1));
    all.map(|(of_warp, times)| Taken {
        beside: (of_warp / 32).max(1) as u32,
        times: times.max(1) as u32,
    })
}

/// Which thread holds which scale factor of a `scaled_dot`.
pub fn scales_of(m: &Module, op: OpId, warps: u64) -> Option<MmaScales> {
    let [scale, _] = Matmul::of(m.op(op))?.scales?;
    let along_k = *m.types.as_tile(m.ty(scale))?.1.last()?;
    Some(MmaScales {
        mma: mma_of(m, op, warps)?,
        along_k,
    })
}

/// Warps over rows and columns: as square a part per warp as can be had.
fn as_square(warps: u64, mut rows: u64, columns: u64) -> (u64, u64) {
    let (mut m, mut n, mut left, mut cols) = (1, 1, warps, columns);
    while left > 1 {
        // A step along m is 16 rows, along n 8 columns.
        if rows > 1 && (rows * 2 >= cols || cols <= 1) {
            m *= 2;
            rows /= 2;
        } else if cols > 1 {
            n *= 2;
            cols /= 2;
        } else {
            // More warps than instruction tiles: the rest repeat the rows' work.
            n *= 2;
        }
        left /= 2;
    }
    (m, n)
}

/// Warps over rows as far as there are rows, then over columns.
fn rows_first(warps: u64, rows: u64, _columns: u64) -> (u64, u64) {
    let m = warps.min(rows.max(1));
    (m, warps / m)
}

/// The warpgroup tiling of an `async.dot`.
pub fn wgmma_of(m: &Module, op: OpId) -> Option<Wgmma> {
    let v = view::AsyncDot::of(m.op(op))?;
    let (elem, lhs) = m.types.as_tile(m.ty(v.lhs()))?;
    let (_, acc) = m.types.as_tile(m.ty(v.acc()))?;
    let lhs: Vec<u64> = lhs.iter().copied().filter(|&n| n > 1).collect();
    let (&[rows, k], &[_, columns]) = (&lhs[..], acc) else {
        return None;
    };
    let &[gm, gn] = v.warpgroups() else {
        return None;
    };
    Some(Wgmma {
        tile: MatmulShape {
            m: rows,
            n: columns,
            k,
        },
        element_bits: m.types.bits(elem)?,
        warpgroups_m: gm as u64,
        warpgroups_n: gn as u64,
        paired: v.paired(),
    })
}
