//! What is decided about a kernel before it is rewritten: warps, atoms, pipelines.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums;
use crate::dialect::nv_tileas::Op as S;
use crate::egraph::facts::FactMap;
use crate::ir::{Attr, BlockId, Diagnostic, Float, Module, OpId, Type, TypeId};
use crate::lower::build::case;
use crate::lower::unsupported;
use crate::target::{Feature, Target};

/// What the user may ask for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Use tensor maps where the target has them.
    pub tma: bool,
    /// Warps that hold tiles; `None`: decided per kernel.
    pub warps: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tma: true,
            warps: None,
        }
    }
}

/// The decisions for one kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Warps that hold tiles.
    pub tile_warps: u64,
}

/// Most elements of one tile that a warp should hold in registers.
const ELEMENTS_PER_WARP: u64 = 2048;

/// Decides for `func`.
pub fn of(
    m: &mut Module,
    func: OpId,
    _target: &Target,
    options: &Options,
    _facts: &FactMap,
) -> Result<Plan, Diagnostic> {
    let tile_warps = options.warps.unwrap_or_else(|| default_warps(m, func));
    Ok(Plan { tile_warps })
}

/// Four warps, or eight where the largest tile would fill four warps' registers.
fn default_warps(m: &Module, func: OpId) -> u64 {
    let Some(body) = m.body_of(func, 0) else {
        return 4;
    };
    let largest = m
        .ops_under(body)
        .iter()
        .flat_map(|&op| &m.op(op).results)
        .filter_map(|&v| m.types.as_tile(m.ty(v)))
        .map(|(_, shape)| shape.iter().product::<u64>())
        .max()
        .unwrap_or(1);
    if largest > 4 * ELEMENTS_PER_WARP {
        8
    } else {
        4
    }
}

/// Products choose a synchronous atom where no pipeline has given them another.
pub fn products(m: &mut Module, body: BlockId, _plan: &Plan) -> Result<(), Diagnostic> {
    for op in m.ops_under(body) {
        if matches!(C::of(m.op(op).kind), Some(C::MmaF | C::MmaI)) {
            dot(m, op)?;
        }
    }
    Ok(())
}

/// mma.sync instruction shapes by operand element and accumulator.
/// Source: PTX ISA, "Warp Level Matrix Instructions: mma".
fn mma_shape(m: &Module, elem: TypeId, acc: TypeId) -> Option<[i32; 3]> {
    Some(match (m.types.get(elem), m.types.get(acc)) {
        (Type::Float(Float::F16 | Float::BF16), Type::Float(Float::F32)) => [16, 8, 16],
        (Type::Float(Float::F16), Type::Float(Float::F16)) => [16, 8, 16],
        (Type::Float(Float::TF32), Type::Float(Float::F32)) => [16, 8, 8],
        (Type::Float(Float::F8E4M3FN | Float::F8E5M2), Type::Float(Float::F32)) => [16, 8, 32],
        (Type::Float(Float::F64), Type::Float(Float::F64)) => [8, 8, 4],
        (Type::Int(8), Type::Int(32)) => [16, 8, 32],
        _ => return None,
    })
}

fn dot(m: &mut Module, op: OpId) -> Result<(), Diagnostic> {
    let data = m.op(op).clone();
    let (elem, acc) = (
        m.types.elem(m.ty(data.operands[0])),
        m.types.elem(m.ty(data.operands[2])),
    );
    let Some(shape) = mma_shape(m, elem, acc) else {
        return Err(unsupported(
            m,
            op,
            "no matrix instruction for these element types",
        ));
    };
    let signed = |name: &str| Some(Attr::Bool(data.enum_named(name) == Some(1)));
    let attrs = [
        case(&enums::DOT_ATOM, "mma_sync"),
        Some(Attr::I32s(shape.to_vec())),
        signed("signedness_lhs"),
        signed("signedness_rhs"),
    ];
    let op = m.op_mut(op);
    op.kind = S::Dot.into();
    op.attrs = attrs.into_iter().collect();
    Ok(())
}

/// Whether the target can run the pipelines of [`super::tma`].
pub fn has_wgmma(target: &Target, options: &Options) -> bool {
    options.tma && target.has(Feature::Wgmma) && target.has(Feature::Tma)
}
