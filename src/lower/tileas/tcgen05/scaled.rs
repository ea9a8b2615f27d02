//! Matmuls by block-scaled `tcgen05.mma`.
//!
//! Operands are read in shared memory; their scales, too, where they lie as `tcgen05.cp` brings them to tensor memory,
//! and otherwise once they have been stored so. The thread that multiplies copies them first.

use super::columns::Held;
use super::fits::{Extents, Scaled};
use super::home::Home;
use super::{Accumulator, Convert, Reads};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::facts::matmul::Matmul;
use crate::ir::{Diagnostic, Module, OpId, Type, ValueId};
use crate::layout::shared::SharedLayout;
use crate::layout::tcgen05 as instruction;
use crate::layout::tensor::{LANES, Share, TensorMatrix};
use crate::layout::{LayoutError, bytes};
use crate::lower::tileas::buffers::{ROWS, shared_type, swizzled};
use crate::lower::tileas::look::{is_view, place};
use crate::lower::tileas::operands;
use crate::lower::tileas::relation::Relation;
use crate::lower::tileas::staging::{Form, Staging, Stored};

/// Most columns of an instruction.
const MOST_COLUMNS: u64 = 256;

/// A shared operand as its bytes; `side`: 0 for the left one.
pub fn whole_bytes(shared: &SharedLayout, side: usize) -> Result<SharedLayout, LayoutError> {
    let shared = shared.squeezed()?;
    if shared.element_bits() != 4 {
        return Ok(shared);
    }
    match bytes::joined(shared.layout(), 1 - side, 2)? {
        Some(layout) => SharedLayout::new(layout, 8),
        None => Err(LayoutError::Unsupported(format!(
            "pairs of K in a byte of {}",
            shared.layout()
        ))),
    }
}

/// Where an operand or its scales are read.
enum Source {
    /// In the buffer that this load reads, which shows them so.
    Seen(OpId, SharedLayout),
    /// In a buffer that they are stored to, like this.
    Stored(Form, SharedLayout),
}

impl Source {
    /// `tile` where it lies, if that `fits`.
    fn seen(m: &Module, tile: ValueId, fits: impl Fn(&SharedLayout) -> bool) -> Option<Source> {
        let mut views = Vec::new();
        let mut at = tile;
        let load = loop {
            let op = m.def_op(at)?;
            if S::of(m.op(op).kind) == Some(S::LocalLoad) {
                break op;
            }
            if !is_view(m, op) {
                return None;
            }
            views.push(op);
            at = m.source(op);
        };
        let Type::SharedTile { layout, .. } = *m.types.get(m.ty(m.source(load))) else {
            return None;
        };
        let mut layout = m.layouts.get(layout).clone();
        for op in views.into_iter().rev() {
            let relation = Relation::of(m, op)?;
            layout = relation.result_of(m, m.result(op), &layout).ok()?;
        }
        let shared = SharedLayout::new(layout, m.types.bits(m.ty(tile))?).ok()?;
        fits(&shared).then_some(Source::Seen(load, shared))
    }

    /// What is stored of `tile`, if it is.
    fn stored(&self, tile: ValueId) -> Option<Stored> {
        match *self {
            Source::Seen(..) => None,
            Source::Stored(form, _) => Some(Stored { tile, form }),
        }
    }

    /// The buffer of `tile`, and its iteration.
    fn place(
        self,
        m: &mut Module,
        dot: OpId,
        tile: ValueId,
        staging: &mut Staging,
    ) -> (ValueId, Option<ValueId>) {
        let (load, shared) = match self {
            Source::Seen(load, shared) => (load, shared),
            Source::Stored(form, layout) => {
                let buffer = staging.place(m, dot, Stored { tile, form }, tile, &layout);
                return (buffer, None);
            }
        };
        let (buffer, iteration) = (m.source(load), access::iteration(m.op(load)));
        let stages = match m.types.get(m.ty(buffer)) {
            Type::SharedTile { stages, .. } => *stages,
            _ => 1,
        };
        let ty = shared_type(m, tile, &shared, stages);
        let Some(alloc) = m.def_op(buffer).filter(|_| m.ty(buffer) != ty) else {
            return (buffer, iteration);
        };
        let (block, at) = place(m, alloc);
        let view = m.at(block, at + 1).value(S::SharedView, &[buffer], [], ty);
        (view, iteration)
    }
}

/// Where an operand is read; `side`: 0 for the left one, `mn`: its rows or columns of an instruction.
fn operand(m: &Module, tile: ValueId, side: usize, mn: u64) -> Result<Source, String> {
    let describes = |shared: &SharedLayout| {
        let bytes = whole_bytes(shared, side);
        bytes.is_ok_and(|b| instruction::describe(&b, side, mn).is_ok())
    };
    if let Some(source) = Source::seen(m, tile, describes) {
        return Ok(source);
    }
    let order = match side {
        0 => ROWS,
        _ => operands::order_of_rhs(m, tile, mn),
    };
    match swizzled(m, tile, order) {
        Ok((layout, _)) if layout.element_bits() == 8 => {
            Ok(Source::Stored(Form::Order(order), layout))
        }
        _ => Err("an operand of four bits does not lie in shared memory as it is read".to_owned()),
    }
}

impl Convert {
    /// Rewrites the `scaled_dot`, or says why not.
    pub(super) fn scaled(
        &mut self,
        m: &mut Module,
        dot: OpId,
        extents: Extents,
    ) -> Result<Result<(), String>, Diagnostic> {
        let matmul = Matmul::known(m.op(dot));
        let Some(tiles) = matmul.scales else {
            return Ok(Err("it has no scales".to_owned()));
        };
        let Some(scaled) = Scaled::of(m, matmul.lhs, matmul.rhs, tiles) else {
            return Ok(Err("no instruction takes such scales".to_owned()));
        };
        let acc = TensorMatrix {
            rows: extents.rows,
            columns: extents.columns,
            lanes: extents.lanes,
            cell: 32,
            element_bits: 32,
        };
        if let Err(e) = Share::new(acc, self.groups) {
            return Ok(Err(format!(
                "{} warps cannot share it out: {e}",
                4 * self.groups
            )));
        }
        let home = Home::find(m, self.body, [dot, dot]);
        let held = |columns: u64, once: bool| Held {
            ahead: None,
            buffer: None,
            dot,
            loops: home.as_ref().map_or(0, Home::loops),
            columns,
            once,
        };
        let acc_held = held(acc.all_columns(), false);
        let scales_held = held(scaled.columns(), true);
        if !self.fits(m, &[acc_held, scales_held]) {
            return Ok(Err("tensor memory has no columns left".to_owned()));
        }
        let (rows, columns) = (extents.lanes, extents.columns.min(MOST_COLUMNS));
        let operands = operand(m, matmul.lhs, 0, rows)
            .and_then(|lhs| Ok((lhs, operand(m, matmul.rhs, 1, columns)?)));
        let (lhs, rhs) = match operands {
            Ok(operands) => operands,
            Err(why) => return Ok(Err(why)),
        };
        let mut places = vec![(matmul.lhs, lhs), (matmul.rhs, rhs)];
        for (i, (tile, side)) in tiles.into_iter().zip(&scaled.sides).enumerate() {
            let k_dim = 1 - i;
            let source = match Source::seen(m, tile, |s| side.copies(s, k_dim).is_some()) {
                Some(source) => source,
                None => match side.memory(k_dim) {
                    Ok(layout) => Source::Stored(Form::Scales(i), layout),
                    Err(e) => return Ok(Err(e.to_string())),
                },
            };
            places.push((tile, source));
        }
        let stored = places.iter().filter_map(|(tile, s)| s.stored(*tile));
        if let Err(why) = self.stage(m, dot, stored) {
            return Ok(Err(why));
        }
        let buffer = self.buffer(m, matmul.acc, acc, acc_held);
        let scales = self.columns(m, scales_held);
        let staging = &mut self.staging;
        let read: Vec<_> = places
            .into_iter()
            .map(|(tile, source)| source.place(m, dot, tile, staging))
            .collect();
        let &[lhs, rhs, lhs_scale, rhs_scale] = &read[..] else {
            return Ok(Err("an operand is missing".to_owned()));
        };
        let reads = Reads {
            lhs,
            rhs,
            scales: Some(([lhs_scale, rhs_scale], scales)),
        };
        let acc = Accumulator {
            buffer,
            home: home.as_ref(),
            ends: [true; 2],
        };
        self.rewrite(m, dot, reads, acc);
        Ok(Ok(()))
    }

    /// A buffer of words in tensor memory.
    fn columns(&mut self, m: &mut Module, held: Held) -> ValueId {
        let elem = m.types.int(32);
        let ty = m.types.intern(Type::TensorTile {
            elem,
            shape: [LANES, held.columns].as_slice().into(),
            lanes: LANES as u32,
            cell: 32,
            stages: 1,
        });
        self.allocate(m, ty, held)
    }
}
