//! Matmuls that rules gave no instruction, or one larger than the tile: fused multiply-adds.
//!
//! Scaled matmuls that have no instruction, or one larger than the tile, multiply their operands by their scales first.
//! 8-bit floats are multiplied as f16 where the target has no instruction for them. Batches whose matrices warpgroups
//! multiply, or one thread for them, are taken apart; of others each warp has matrices of its own. Matmuls in a row keep
//! their rows in one warp.

use super::missed::Log;
use super::tcgen05::fits;
use super::{fragments, promote};
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::enums::{DotAtom, Rounding};
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::matmul::Matmul;
use crate::ir::{
    Attr, BlockId, Diagnostic, Float, Module, Op, OpBuilder, OpId, Type, TypeId, ValueId,
};
use crate::layout::mma::{MatmulShape, Wgmma};
use crate::lower::build::{cased, constant};
use crate::lower::tileas::look::{reach, reach_through_loops};
use crate::lower::unsupported;
use crate::scalar::Signedness;
use crate::target::{Feature, Target};

/// Gives every matmul under `body` an atom that can do it.
pub fn choose(m: &mut Module, body: BlockId, target: &Target) -> Result<(), Diagnostic> {
    for op in m.ops_under(body) {
        match (C::of(m.op(op).kind), S::of(m.op(op).kind)) {
            (Some(C::MmaF | C::MmaI), _) => remaining(m, op, target)?,
            (_, Some(S::Dot)) => promote::mark(m, op, target),
            // `super::tcgen05` takes it, or applies its scales.
            (_, Some(S::ScaledDot)) if fits::takes(m, op, target).is_some() => continue,
            (_, Some(S::ScaledDot)) => {}
            _ => continue,
        }
        fit(m, op, target)?;
    }
    keep_rows(m, body);
    Ok(())
}

/// What a scaled matmul is in messages.
const BLOCK_SCALE: &str = "block scaling";

/// Whether the tile of a `scaled_dot` is at least as large as its instruction, which may ignore signs of scales there.
fn fits_scaled(m: &Module, op: OpId) -> Result<(), String> {
    let (Some(size), Some(shape)) = (Extents::of(m, op), fragments::atom_shape(m, op)) else {
        return Err("its operands have neither rank 2 nor 3".to_owned());
    };
    let MatmulShape { m: rows, n, k } = size.matrix;
    if !size.hold(shape) {
        return Err(format!(
            "the tile is {rows}x{n}x{k}, {}x{}x{} needed",
            shape.m, shape.n, shape.k
        ));
    }
    let signed = with_scales(m, op).is_ok_and(|(_, scales)| {
        let elem = m.types.elem(m.ty(scales[0]));
        matches!(m.types.get(elem), Type::Float(Float::F8E4M3FN))
    });
    if signed && rows * n < SIGNED_SCALES {
        return Err(format!(
            "the instruction ignores the sign of its scales, which counts in tiles of fewer than {SIGNED_SCALES} elements"
        ));
    }
    Ok(())
}

/// Tiles of fewer elements are multiplied by their f8E4M3FN scales as numbers with a sign: `tileiras` 13.5 does so where four
/// warps have no instruction each, and cuTile's tests have negative scales there. For larger tiles it takes the instructions
/// that ignore the sign, and so does tilec.
const SIGNED_SCALES: u64 = 512;

/// Whether a matmul has an instruction that is not larger than its tile.
pub fn is_by_instruction(m: &Module, op: OpId) -> bool {
    let sizes = Extents::of(m, op).zip(fragments::atom_shape(m, op));
    sizes.is_some_and(|(size, instruction)| size.matrix.holds_rows(instruction))
}

/// Whether an operation multiplies several matrices, each of which warpgroups, or one thread for them, do by themselves.
pub fn is_batch_for_groups(m: &Module, op: OpId, target: &Target) -> bool {
    let several = |s: Extents| s.batch.is_some_and(|n| n > 1) && !by_warps(m, op, s, target);
    S::of(m.op(op).kind) == Some(S::Dot) && Extents::of(m, op).is_some_and(several)
}

/// Matmuls whose result, worked over, is the left operand of another: with whole rows in a warp, what
/// is between them (attention's softmax) needs no other warp, and neither does the second matmul. And those of whose
/// result columns are extracted: in each warp, these are a choice of registers.
pub fn keep_rows(m: &mut Module, body: BlockId) {
    let ops = m.ops_under(body);
    let chosen = |&o: &OpId| matches!(S::of(m.op(o).kind), Some(S::Dot | S::ScaledDot));
    let matmuls = || ops.iter().copied().filter(chosen);
    let mut chained: Vec<OpId> = Vec::new();
    for first in matmuls() {
        let reached = reach(m, &ops, m.result(first));
        let next =
            |&o: &OpId| o != first && Matmul::of(m.op(o)).is_some_and(|p| reached.contains(&p.lhs));
        for second in matmuls().filter(next) {
            chained.extend([first, second]);
        }
    }
    chained.extend(matmuls().filter(|&o| is_cut_by_columns(m, &ops, o)));
    // What they add to is another matmul's result where the sum has several.
    let mut next = 0;
    while let Some(&op) = chained.get(next) {
        let acc = Matmul::of(m.op(op)).and_then(|p| m.def_op(p.acc));
        chained.extend(acc.filter(|o| chosen(o) && !chained.contains(o)));
        next += 1;
    }
    for op in chained {
        *m.attr_mut(op, "by_rows") = Some(Attr::Unit);
    }
}

/// Whether parts of the columns of a matmul's result, and whole columns, are extracted after it.
fn is_cut_by_columns(m: &Module, ops: &[OpId], matmul: OpId) -> bool {
    let result = m.result(matmul);
    let shape = |v: ValueId| m.types.as_tile(m.ty(v)).map_or(&[][..], |t| t.1);
    let cuts = |e: &tile::Extract<Op>| match (shape(e.source()), shape(e.result())) {
        ([rows @ .., columns], [kept @ .., part]) => rows == kept && part < columns,
        _ => false,
    };
    let extracts = ops
        .iter()
        .filter_map(|&o| tile::Extract::of(m.op(o)))
        .filter(|e| shape(e.source()) == shape(result) && cuts(e));
    let sources: Vec<ValueId> = extracts.map(|e| e.source()).collect();
    !sources.is_empty() && {
        let made = reach_through_loops(m, ops, result);
        sources.iter().any(|v| made.contains(v))
    }
}

/// A matmul for which there is no rule: by multiply-adds, unless its operands fit in f16.
fn remaining(m: &mut Module, op: OpId, target: &Target) -> Result<(), Diagnostic> {
    if !widen(m, op, target) {
        become_dot(m, op, DotAtom::Fma);
    }
    Ok(())
}

/// Makes a matmul of 8-bit floats that no rule is for one of f16.
pub fn widen(m: &mut Module, op: OpId, target: &Target) -> bool {
    let [elem, acc] = elements(m, op);
    let f32_acc = matches!(m.types.get(acc), Type::Float(Float::F32));
    let widens = is_fp8(m, elem) && f32_acc;
    if widens {
        let f16 = m.types.float(Float::F16);
        widen_operands(m, op, f16);
        let atom = match target.has(Feature::MmaAmpere) {
            true => DotAtom::M16n8k16,
            false => DotAtom::M16n8k8,
        };
        become_dot(m, op, atom);
    }
    widens
}

/// Whether the operands of a `dot` are signed, as attributes.
pub fn signed(dot: &Op) -> [Option<Attr>; 2] {
    let signs = view::Dot::of(dot).map(|v| [v.signed_lhs(), v.signed_rhs()]);
    signs.map_or([None, None], |s| s.map(|s| Some(Attr::Bool(s))))
}

fn become_dot(m: &mut Module, op: OpId, atom: DotAtom) {
    let data = m.op(op);
    let signs = match tile::MmaI::of(data) {
        Some(v) => [v.signedness_lhs(), v.signedness_rhs()],
        None => [Signedness::Unsigned; 2],
    };
    let [lhs, rhs] = signs.map(|s| Some(Attr::Bool(s == Signedness::Signed)));
    let fast = tile::MmaF::of(data).is_some_and(|v| v.fast_acc());
    let attrs = [
        cased(atom),
        lhs,
        rhs,
        fast.then_some(Attr::Unit),
        None,
        None,
        None,
        None,
        None,
    ];
    m.become_op(op, S::Dot, attrs);
}

fn set_atom(m: &mut Module, op: OpId, atom: DotAtom) {
    *m.attr_mut(op, "atom") = cased(atom);
}

/// The instruction of the same types that has half the depth, if there is one on every target that has the deeper one.
///
/// Source: PTX ISA, "Matrix multiply-accumulate operation using mma instruction", table of shapes.
fn half_as_deep(m: &Module, op: OpId) -> Option<DotAtom> {
    let [elem, acc] = elements(m, op);
    let deep = view::Dot::of(m.op(op))?.atom();
    let half = match (deep, m.types.get(elem), m.types.get(acc)) {
        (DotAtom::M16n8k32, Type::Int(8), _) => DotAtom::M16n8k16,
        (DotAtom::M16n8k32, Type::Float(Float::F8E4M3FN | Float::F8E5M2), _) => DotAtom::M16n8k16,
        (DotAtom::M16n8k16, Type::Float(Float::F16), _) => DotAtom::M16n8k8,
        (DotAtom::M16n8k16, Type::Float(Float::BF16), Type::Float(Float::F32)) => DotAtom::M16n8k8,
        _ => return None,
    };
    Some(half)
}

/// Takes batches apart that warps do not share out, and instructions larger than the tile away.
fn fit(m: &mut Module, op: OpId, target: &Target) -> Result<(), Diagnostic> {
    let size = extents(m, op)?;
    if let Some(shape) = fragments::atom_shape(m, op)
        && !size.matrix.holds_rows(shape)
        && let Some(half) = half_as_deep(m, op)
    {
        set_atom(m, op, half);
    }
    let Some(shape) = fragments::atom_shape(m, op) else {
        return Ok(());
    };
    // Columns that a tile lacks are repeated, but for scales.
    let holds = match S::of(m.op(op).kind) {
        Some(S::Dot) => size.matrix.holds_rows(shape),
        _ => size.hold(shape),
    };
    match size.batch {
        _ if !holds => set_atom(m, op, DotAtom::Fma),
        Some(batch) if batch == 1 || !by_warps(m, op, size, target) => take_apart(m, op, batch),
        _ => {}
    }
    Ok(())
}

/// Whether the matrices of a batch are multiplied by a warp each: no warpgroup can, and no thread for one.
fn by_warps(m: &Module, op: OpId, size: Extents, target: &Target) -> bool {
    let groups = target.has(Feature::Wgmma) || target.has(Feature::Tcgen05);
    let for_groups = groups && size.matrix.m >= Wgmma::M && size.matrix.n >= Wgmma::MIN_N;
    S::of(m.op(op).kind) == Some(S::Dot) && !for_groups
}

/// Extents of a matmul: batch (none in rank 2), and of each matrix.
#[derive(Clone, Copy)]
struct Extents {
    batch: Option<u64>,
    matrix: MatmulShape,
}

impl Extents {
    fn of(m: &Module, op: OpId) -> Option<Extents> {
        let parts = Matmul::of(m.op(op))?;
        let shape = |v: ValueId| Some(m.types.as_tile(m.ty(v))?.1);
        let (batch, rows, k) = match *shape(parts.lhs)? {
            [m, k] => (None, m, k),
            [b, m, k] => (Some(b), m, k),
            _ => return None,
        };
        Some(Extents {
            batch,
            matrix: MatmulShape {
                m: rows,
                n: *shape(parts.acc)?.last()?,
                k,
            },
        })
    }

    /// Whether a tile is at least as large as an instruction.
    fn hold(self, i: MatmulShape) -> bool {
        self.matrix.holds_rows(i) && self.matrix.n >= i.n
    }
}

fn extents(m: &Module, op: OpId) -> Result<Extents, Diagnostic> {
    Extents::of(m, op)
        .ok_or_else(|| unsupported(m, op, "operands of a matmul must have rank 2 or 3"))
}

/// The elements of the left operand and of the accumulator.
fn elements(m: &Module, op: OpId) -> [TypeId; 2] {
    let Matmul { lhs, acc, .. } = Matmul::known(m.op(op));
    [lhs, acc].map(|v| m.types.elem(m.ty(v)))
}

fn is_fp8(m: &Module, elem: TypeId) -> bool {
    matches!(
        m.types.get(elem),
        Type::Float(Float::F8E4M3FN | Float::F8E5M2)
    )
}

/// A builder that inserts before `op`.
fn before(m: &mut Module, op: OpId) -> OpBuilder<'_> {
    let (block, loc) = (m.op(op).block, m.op(op).loc);
    let ops = &m.block(block).ops;
    let position = ops.iter().position(|&o| o == op).unwrap_or(ops.len());
    let mut b = m.at(block, position);
    b.loc = loc;
    b
}

/// The tile type of `value` with another element.
fn with_elem(m: &mut Module, value: ValueId, elem: TypeId) -> TypeId {
    let shape = m
        .types
        .as_tile(m.ty(value))
        .map_or(vec![], |t| t.1.to_vec());
    m.types.tile(elem, &shape)
}

fn cast(m: &mut Module, op: OpId, value: ValueId, elem: TypeId) -> ValueId {
    let ty = with_elem(m, value, elem);
    if m.ty(value) == ty {
        return value;
    }
    let even = cased(Rounding::NearestEven);
    before(m, op).value(C::FToF, &[value], [even], ty)
}

fn widen_operands(m: &mut Module, op: OpId, elem: TypeId) {
    let Matmul { lhs, rhs, .. } = Matmul::known(m.op(op));
    for (name, value) in [("lhs", lhs), ("rhs", rhs)] {
        let wide = cast(m, op, value, elem);
        m.set_operand(op, name, wide);
    }
}

/// Makes scaled matmuls under `body` that no instruction of `target` can do matmuls of scaled operands, which warpgroups
/// multiply, and for which pipelines bring what is scaled.
pub fn unscale(
    m: &mut Module,
    body: BlockId,
    target: &Target,
    log: &mut Log,
) -> Result<(), Diagnostic> {
    for op in m.ops_under(body) {
        let refused = match (C::of(m.op(op).kind), S::of(m.op(op).kind)) {
            (Some(C::MmaFScaled), _) => no_instruction(m, op, target)?,
            (_, Some(S::ScaledDot)) if fits::takes(m, op, target).is_some() => continue,
            (_, Some(S::ScaledDot)) if target.has(Feature::Tcgen05) => {
                fits::Extents::of(m, op, target).err()
            }
            (_, Some(S::ScaledDot)) => match fits_scaled(m, op) {
                Ok(()) => continue,
                Err(why) => Some(why),
            },
            _ => continue,
        };
        if let Some(why) = refused {
            log.note(m, op, BLOCK_SCALE, why);
        }
        scaled(m, op, target)?;
    }
    Ok(())
}

/// A scaled matmul, and its scales.
fn with_scales(m: &Module, op: OpId) -> Result<(Matmul, [ValueId; 2]), Diagnostic> {
    let parts = Matmul::of(m.op(op));
    let found = parts.and_then(|parts| Some((parts, parts.scales?)));
    found.ok_or_else(|| unsupported(m, op, "internal error: a scaled matmul without scales"))
}

/// Why a scaled matmul has no instruction where `target` has such for other types.
fn no_instruction(m: &Module, op: OpId, target: &Target) -> Result<Option<String>, Diagnostic> {
    let (Matmul { lhs: a, .. }, [_, scale]) = with_scales(m, op)?;
    let has_others = target.has(Feature::BlockScale) || target.has(Feature::Tcgen05);
    Ok(has_others.then(|| {
        let [a, scale] = [a, scale].map(|v| fits::element_name(m, v));
        format!("no instruction multiplies {a} by scales of {scale}")
    }))
}

/// Multiplies the operands of a scaled matmul by their scales: what is left is a matmul. Elements of scaled formats have at
/// most four significant bits, their scales four or one: bf16 has room for the product, and for f32's exponents.
fn scaled(m: &mut Module, op: OpId, target: &Target) -> Result<(), Diagnostic> {
    let f32_ty = m.types.float(Float::F32);
    let (Matmul { lhs, rhs, acc, .. }, [lhs_scale, rhs_scale]) = with_scales(m, op)?;
    let mut wide = Vec::new();
    for (value, scale, back) in [(lhs, lhs_scale, 1), (rhs, rhs_scale, 2)] {
        let value = cast(m, op, value, f32_ty);
        let scale = cast(m, op, scale, f32_ty);
        let scale = repeated(m, op, scale, value, back)?;
        let ty = m.ty(value);
        let even = cased(Rounding::NearestEven);
        wide.push(before(m, op).value(C::MulF, &[value, scale], [even], ty));
    }
    let acc_elem = m.types.elem(m.ty(acc));
    let f32_acc = matches!(m.types.get(acc_elem), Type::Float(Float::F32));
    let by_halves = f32_acc && target.has(Feature::MmaAmpere);
    if by_halves {
        let bf16 = m.types.float(Float::BF16);
        for value in &mut wide {
            *value = cast(m, op, *value, bf16);
        }
    }
    m.become_op(op, C::MmaF, [None]);
    let mut data = m.op_mut(op);
    data.operands.truncate(3);
    data.groups.truncate(3);
    for (slot, value) in data.operands.iter_mut().zip(wide) {
        *slot = value;
    }
    drop(data);
    become_dot(
        m,
        op,
        if by_halves {
            DotAtom::M16n8k16
        } else {
            DotAtom::Fma
        },
    );
    Ok(())
}

/// `scale`, each element repeated along the dimension `back` from the last until it is as long
/// as `value`.
fn repeated(
    m: &mut Module,
    op: OpId,
    scale: ValueId,
    value: ValueId,
    back: usize,
) -> Result<ValueId, Diagnostic> {
    let shape = |m: &Module, v| m.types.as_tile(m.ty(v)).map_or(vec![], |t| t.1.to_vec());
    let (blocks, whole) = (shape(m, scale), shape(m, value));
    let dim = whole.len().checked_sub(back);
    let (Some(&many), Some(&all)) = (
        dim.and_then(|d| blocks.get(d)),
        dim.and_then(|d| whole.get(d)),
    ) else {
        return Err(unsupported(m, op, "scales of another rank"));
    };
    if many == 0 || !all.is_multiple_of(many) || blocks.len() != whole.len() {
        return Err(unsupported(
            m,
            op,
            "the scales do not divide the operand into blocks",
        ));
    }
    let after = dim.unwrap_or(0) + 1;
    let elem = m.types.elem(m.ty(scale));
    let mut column = blocks.clone();
    column.insert(after, 1);
    let mut block = blocks;
    block.insert(after, all / many);
    let (column, block, ty) = (
        m.types.tile(elem, &column),
        m.types.tile(elem, &block),
        m.types.tile(elem, &whole),
    );
    let scale = before(m, op).value(C::Reshape, &[scale], [], column);
    let scale = before(m, op).value(C::Broadcast, &[scale], [], block);
    Ok(before(m, op).value(C::Reshape, &[scale], [], ty))
}

/// Makes a scaled matmul one of operands multiplied by their scales.
pub fn apply_scales(m: &mut Module, op: OpId, target: &Target) -> Result<(), Diagnostic> {
    scaled(m, op, target)?;
    fit(m, op, target)
}

/// A batch of matmuls as matmuls of its matrices.
fn take_apart(m: &mut Module, op: OpId, batch: u64) {
    let data = m.op(op).clone();
    let Some(Matmul { acc: start, .. }) = Matmul::of(&data) else {
        return;
    };
    let mut result = start;
    for i in 0..batch {
        let mut ty = m.ty(start);
        let mut parts = Vec::new();
        for &operand in &data.operands {
            let part = slice(m, op, operand, i);
            if operand == start {
                ty = m.ty(part);
            }
            parts.push(part);
        }
        let groups: Vec<&[ValueId]> = parts.iter().map(std::slice::from_ref).collect();
        let mut b = before(m, op);
        let matmul = b.op(data.kind, &groups, data.attrs.iter().cloned(), &[ty], &[]);
        let value = m.result(matmul);
        result = put_back(m, op, value, result, i);
    }
    m.replace_all_uses(m.result(op), result);
    m.erase(op);
}

fn index(m: &mut Module, op: OpId, i: u64) -> [ValueId; 3] {
    let i32_ty = m.types.int(32);
    let scalar = m.types.tile(i32_ty, &[]);
    let mut b = before(m, op);
    [i as i64, 0, 0].map(|x| constant(&mut b, x, scalar))
}

/// Matrix `i` of a batch.
fn slice(m: &mut Module, op: OpId, batch: ValueId, i: u64) -> ValueId {
    let elem = m.types.elem(m.ty(batch));
    let shape = m
        .types
        .as_tile(m.ty(batch))
        .map_or(vec![], |t| t.1.to_vec());
    let mut one = shape.clone();
    if let Some(first) = one.first_mut() {
        *first = 1;
    }
    let (one, flat) = (
        m.types.tile(elem, &one),
        m.types.tile(elem, shape.get(1..).unwrap_or(&[])),
    );
    let at = index(m, op, i);
    let mut b = before(m, op);
    let part = b.op(C::Extract, &[&[batch], &at], [], &[one], &[]);
    let part = b.module.result(part);
    b.value(C::Reshape, &[part], [], flat)
}

/// `batch` with matrix `i` replaced.
fn put_back(m: &mut Module, op: OpId, matrix: ValueId, batch: ValueId, i: u64) -> ValueId {
    let elem = m.types.elem(m.ty(matrix));
    let shape = m
        .types
        .as_tile(m.ty(matrix))
        .map_or(vec![], |t| t.1.to_vec());
    let one = m.types.tile(elem, &[&[1], &shape[..]].concat());
    let whole = m.ty(batch);
    let at = index(m, op, i);
    let mut b = before(m, op);
    let part = b.value(C::Reshape, &[matrix], [], one);
    let new = b.op(C::Insert, &[&[part], &[batch], &at], [], &[whole], &[]);
    m.result(new)
}
