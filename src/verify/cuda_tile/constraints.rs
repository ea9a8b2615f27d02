//! Which types the operands and results of each operation may have, as data.

use crate::asm::type_text;
use crate::dialect::Arity;
use crate::dialect::cuda_tile::{Op, TABLE};
use crate::ir::{Float, Module, Op as IrOp, Type, TypeId, ValueId};
use crate::verify::{Check, fail};

/// What a type may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    /// A tile with one of these elements.
    Tile {
        elems: &'static [Elem],
        scalar: bool,
        /// What messages call it.
        label: &'static str,
    },
    AnyTile,
    Token,
    TensorView,
    /// Any of the three views that have tiles.
    TileView,
    PartitionView,
    StridedView,
    GatherScatterView,
    Any,
}

/// An element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elem {
    I(u32),
    F(Float),
    Pointer,
}

const fn tile(elems: &'static [Elem]) -> Is {
    Is::Tile {
        elems,
        scalar: false,
        label: "tile",
    }
}

const fn scalar(elems: &'static [Elem]) -> Is {
    Is::Tile {
        elems,
        scalar: true,
        label: "0D tile",
    }
}

const fn labelled(label: &'static str, elems: &'static [Elem]) -> Is {
    Is::Tile {
        elems,
        scalar: false,
        label,
    }
}

const F16: Elem = Elem::F(Float::F16);
const BF16: Elem = Elem::F(Float::BF16);
const F32: Elem = Elem::F(Float::F32);
const F64: Elem = Elem::F(Float::F64);
const TF32: Elem = Elem::F(Float::TF32);
const E4M3: Elem = Elem::F(Float::F8E4M3FN);
const E5M2: Elem = Elem::F(Float::F8E5M2);
const E8M0: Elem = Elem::F(Float::F8E8M0FNU);
const E2M1: Elem = Elem::F(Float::F4E2M1FN);
const E5M3: Elem = Elem::F(Float::F8E5M3FNU);
const I1: Elem = Elem::I(1);
const I8: Elem = Elem::I(8);
const I16: Elem = Elem::I(16);
const I32: Elem = Elem::I(32);
const I64: Elem = Elem::I(64);

const INTS: &[Elem] = &[I1, I8, I16, I32, I64];
const INT: Is = tile(INTS);
const INT_I4: Is = tile(&[I1, I8, I16, I32, I64, Elem::I(4)]);
const SMALL_INT: Is = tile(&[I1, I8, I16, I32]);
const BASE_FLOAT: Is = tile(&[F16, BF16, F32, F64]);
const FLOAT: Is = tile(&[F16, BF16, F32, F64, TF32, E4M3, E5M2, E8M0, E2M1, E5M3]);
const NUMBER: Is = tile(&[
    I1, I8, I16, I32, I64, F16, BF16, F32, F64, TF32, E4M3, E5M2, E8M0, E2M1, E5M3,
]);
const NUMBER_I4: Is = tile(&[
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    F64,
    TF32,
    E4M3,
    E5M2,
    E8M0,
    E2M1,
    E5M3,
    Elem::I(4),
]);
const BOOL: Is = tile(&[I1]);
const BYTES: Is = tile(&[I8]);
const LONG: Is = tile(&[I64]);
const POINTER: Is = tile(&[Elem::Pointer]);
const TILE: Is = Is::AnyTile;
const SCALAR_POINTER: Is = scalar(&[Elem::Pointer]);
const SCALAR_INT: Is = scalar(INTS);
const SCALAR_I32: Is = scalar(&[I32]);
const SCALAR_BOOL: Is = scalar(&[I1]);
const MMAF: Is = labelled(
    "mmaf operand tile type",
    &[F16, BF16, F32, F64, TF32, E4M3, E5M2],
);
const MMAF_ACC: Is = labelled("mmaf acc/result tile type", &[F16, F32, F64]);
const SCALED: Is = labelled("mmaf_scaled operand tile type", &[E4M3, E5M2, E2M1]);
const SCALED_SCALE: Is = labelled("mmaf_scaled scale tile type", &[E4M3, E8M0, E5M3]);
const SCALED_ACC: Is = labelled("mmaf_scaled result tile type", &[F32]);
const MMAI: Is = labelled("mmai operand tile type", &[I8]);
const MMAI_ACC: Is = labelled("mmai acc tile type", &[I32]);
const ANY: Is = Is::Any;
const TOKEN: Is = Is::Token;
const VIEW: Is = Is::TileView;

/// Constraints per operand group, then per result.
type Row = (Op, &'static [Is], &'static [Is]);

#[rustfmt::skip]
static ROWS: &[Row] = &[
    (Op::AbsF, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::AbsI, &[INT], &[INT]),
    (Op::AddF, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::AddI, &[INT, INT], &[INT]),
    (Op::Alloca, &[], &[SCALAR_POINTER]),
    (Op::AndI, &[INT, INT], &[INT]),
    (Op::Assert, &[BOOL], &[]),
    (Op::Assume, &[ANY], &[ANY]),
    (Op::Atan2, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::AtomicCas, &[POINTER, TILE, TILE, BOOL, TOKEN], &[TILE, TOKEN]),
    (Op::AtomicRedView, &[VIEW, INT, TILE, TOKEN], &[TOKEN]),
    (Op::AtomicRmw, &[POINTER, TILE, BOOL, TOKEN], &[TILE, TOKEN]),
    (Op::Bitcast, &[NUMBER], &[NUMBER]),
    (Op::Break, &[ANY], &[]),
    (Op::Broadcast, &[TILE], &[TILE]),
    (Op::Cat, &[TILE, TILE], &[TILE]),
    (Op::Ceil, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::CmpF, &[BASE_FLOAT, BASE_FLOAT], &[BOOL]),
    (Op::CmpI, &[INT, INT], &[BOOL]),
    (Op::Constant, &[], &[NUMBER]),
    (Op::Continue, &[ANY], &[]),
    (Op::Cos, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::CosH, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::DivF, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::DivI, &[INT, INT], &[INT]),
    (Op::Entry, &[], &[]),
    (Op::Exp, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::Exp2, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::ExtI, &[INT_I4], &[INT_I4]),
    (Op::Extract, &[TILE, SCALAR_I32], &[TILE]),
    (Op::Floor, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::Fma, &[BASE_FLOAT, BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::For, &[SCALAR_INT, SCALAR_INT, SCALAR_INT, ANY], &[ANY]),
    (Op::FPowF, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::FPowI, &[BASE_FLOAT, SMALL_INT], &[BASE_FLOAT]),
    (Op::FToF, &[FLOAT], &[FLOAT]),
    (Op::FToI, &[FLOAT], &[INT]),
    (Op::GdcLaunchDependents, &[TOKEN], &[TOKEN]),
    (Op::GdcWait, &[TOKEN], &[TOKEN]),
    (Op::GetGlobal, &[], &[SCALAR_POINTER]),
    (Op::GetIndexSpaceShape, &[VIEW], &[SCALAR_INT]),
    (Op::GetNumTileBlocks, &[], &[SCALAR_I32, SCALAR_I32, SCALAR_I32]),
    (Op::GetTensorShape, &[Is::TensorView], &[SCALAR_INT]),
    (Op::GetTileBlockId, &[], &[SCALAR_I32, SCALAR_I32, SCALAR_I32]),
    (Op::Global, &[], &[]),
    (Op::If, &[SCALAR_BOOL], &[ANY]),
    (Op::Insert, &[TILE, TILE, SCALAR_I32], &[TILE]),
    (Op::IntToPtr, &[LONG], &[POINTER]),
    (Op::Iota, &[], &[INT]),
    (Op::IToF, &[INT], &[FLOAT]),
    (Op::JoinTokens, &[TOKEN], &[TOKEN]),
    (Op::LoadPtr, &[POINTER, BOOL, NUMBER, TOKEN], &[TILE, TOKEN]),
    (Op::LoadView, &[VIEW, INT, TOKEN], &[TILE, TOKEN]),
    (Op::Log, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::Log2, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::Loop, &[ANY], &[ANY]),
    (Op::MakeGatherScatterView, &[Is::TensorView], &[Is::GatherScatterView]),
    (Op::MakePartitionView, &[Is::TensorView], &[Is::PartitionView]),
    (Op::MakeStridedView, &[Is::TensorView], &[Is::StridedView]),
    (Op::MakeTensorView, &[SCALAR_POINTER, SCALAR_INT, SCALAR_INT], &[Is::TensorView]),
    (Op::MakeToken, &[], &[TOKEN]),
    (Op::MaxF, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::MaxI, &[INT, INT], &[INT]),
    (Op::MemoryFenceAlias, &[TOKEN], &[TOKEN]),
    (Op::MinF, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::MinI, &[INT, INT], &[INT]),
    (Op::MmaF, &[MMAF, MMAF, MMAF_ACC], &[MMAF_ACC]),
    (Op::MmaFScaled, &[SCALED, SCALED, SCALED_ACC, SCALED_SCALE, SCALED_SCALE], &[SCALED_ACC]),
    (Op::MmaI, &[MMAI, MMAI, MMAI_ACC], &[MMAI_ACC]),
    (Op::Module, &[], &[]),
    (Op::MulF, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::MulhiI, &[INT, INT], &[INT]),
    (Op::MulI, &[INT, INT], &[INT]),
    (Op::MultimemLoadReduceView, &[VIEW, INT, TOKEN], &[TILE, TOKEN]),
    (Op::MultimemReduceView, &[VIEW, TILE, INT, TOKEN], &[TOKEN]),
    (Op::MultimemStoreView, &[VIEW, TILE, INT, TOKEN], &[TOKEN]),
    (Op::NegF, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::NegI, &[INT], &[INT]),
    (Op::Offset, &[POINTER, INT], &[POINTER]),
    (Op::OrI, &[INT, INT], &[INT]),
    (Op::Pack, &[NUMBER_I4], &[BYTES]),
    (Op::Permute, &[TILE], &[TILE]),
    (Op::PreviewCall, &[ANY], &[ANY]),
    (Op::Print, &[TILE, TOKEN], &[TOKEN]),
    (Op::PtrToInt, &[POINTER], &[LONG]),
    (Op::PtrToPtr, &[POINTER], &[POINTER]),
    (Op::Reduce, &[TILE], &[TILE]),
    (Op::RemF, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::RemI, &[INT, INT], &[INT]),
    (Op::Reshape, &[TILE], &[TILE]),
    (Op::Return, &[ANY], &[]),
    (Op::Rsqrt, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::Scan, &[TILE], &[TILE]),
    (Op::Select, &[BOOL, TILE, TILE], &[TILE]),
    (Op::ShLI, &[INT, INT], &[INT]),
    (Op::ShRI, &[INT, INT], &[INT]),
    (Op::Sin, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::SinH, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::Sqrt, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::StorePtr, &[POINTER, TILE, BOOL, TOKEN], &[TOKEN]),
    (Op::StoreView, &[TILE, VIEW, INT, TOKEN], &[TOKEN]),
    (Op::SubF, &[BASE_FLOAT, BASE_FLOAT], &[BASE_FLOAT]),
    (Op::SubI, &[INT, INT], &[INT]),
    (Op::Tan, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::TanH, &[BASE_FLOAT], &[BASE_FLOAT]),
    (Op::TruncI, &[INT_I4], &[INT_I4]),
    (Op::Unpack, &[BYTES], &[NUMBER_I4]),
    (Op::XOrI, &[INT, INT], &[INT]),
    (Op::Yield, &[ANY], &[]),
];

/// The rows in the order of the operation table.
fn row(op: Op) -> &'static Row {
    static BY_OP: std::sync::LazyLock<Vec<&Row>> = std::sync::LazyLock::new(|| {
        let find = |op: &Op| ROWS.iter().find(|r| r.0 == *op);
        // A test checks that every operation has its row.
        Op::ALL
            .iter()
            .map(|op| find(op).unwrap_or(&ROWS[0]))
            .collect()
    });
    BY_OP[op as usize]
}

/// The element types that each value of an operation may have by its own: the name of each operand and
/// result, and its types. What other rules say besides is left out.
pub fn element_types(op: Op) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let (_, operands, results) = row(op);
    let def = &TABLE[op as usize];
    let names = def.operands.iter().map(|o| o.name);
    let names = names.chain(def.results.iter().map(|r| r.name));
    names.zip(operands.iter().chain(*results).map(|is| is.elements()))
}

/// Checks the types of all operands and results.
pub fn check(module: &Module, kind: Op, op: &IrOp) -> Check {
    let (_, operands, results) = row(kind);
    let mut number = 0;
    for (i, is) in operands.iter().enumerate() {
        let list = TABLE[kind as usize].operands[i].arity == Arity::Variadic;
        for &value in op.group(i) {
            one(module, "operand", number, *is, list, value)?;
            number += 1;
        }
    }
    let list = op.def().results.len() == 1 && op.def().results[0].arity == Arity::Variadic;
    for (i, &value) in op.results.iter().enumerate() {
        let is = results
            .get(if list { 0 } else { i })
            .copied()
            .unwrap_or(Is::Any);
        one(module, "result", i, is, list, value)?;
    }
    Ok(())
}

fn one(module: &Module, what: &str, number: usize, is: Is, list: bool, value: ValueId) -> Check {
    let ty = module.ty(value);
    if is.holds(module, ty) {
        return Ok(());
    }
    let list = if list { "variadic of " } else { "" };
    fail(format!(
        "{what} #{number} must be {list}{}, but got '{}'",
        is.name(),
        type_text(module, ty)
    ))
}

impl Is {
    /// A tile of `nv_tileas` is held to the same, whatever its layout.
    fn holds(self, module: &Module, ty: TypeId) -> bool {
        match (self, module.types.get(ty)) {
            (Is::Any, _)
            | (Is::Token, Type::Token)
            | (Is::AnyTile, Type::Tile { .. } | Type::Distributed { .. })
            | (Is::TensorView, Type::TensorView { .. })
            | (Is::PartitionView, Type::PartitionView { .. })
            | (Is::StridedView, Type::StridedView { .. })
            | (Is::GatherScatterView, Type::GatherScatterView { .. })
            | (
                Is::TileView,
                Type::PartitionView { .. }
                | Type::StridedView { .. }
                | Type::GatherScatterView { .. },
            ) => true,
            (
                Is::Tile { elems, scalar, .. },
                Type::Tile { elem, shape } | Type::Distributed { elem, shape, .. },
            ) => {
                let elem = match module.types.get(*elem) {
                    Type::Int(n) => Elem::I(*n),
                    Type::Float(f) => Elem::F(*f),
                    Type::Ptr { .. } => Elem::Pointer,
                    _ => return false,
                };
                elems.contains(&elem) && (!scalar || shape.is_empty())
            }
            _ => false,
        }
    }

    /// The names of the element types of what this holds of.
    fn elements(self) -> Vec<String> {
        let list = |elems: &[Elem]| elems.iter().map(|e| e.name()).collect();
        let numbers = |is: Is| match is {
            Is::Tile { elems, .. } => list(elems),
            _ => Vec::new(),
        };
        match self {
            Is::Tile { elems, .. } => list(elems),
            Is::Token => Vec::new(),
            Is::AnyTile | Is::Any => {
                let mut all: Vec<String> = numbers(NUMBER_I4);
                all.push(Elem::Pointer.name());
                all
            }
            _ => numbers(NUMBER),
        }
    }

    fn name(self) -> String {
        match self {
            Is::Tile { elems, label, .. } => {
                let names: Vec<String> = elems.iter().map(|e| e.name()).collect();
                format!("{label} of {} values", names.join(" or "))
            }
            Is::AnyTile => "Tile type".into(),
            Is::Token => "cuda tile token type".into(),
            Is::TensorView => "tensor view type".into(),
            Is::TileView => "TileView instance".into(),
            Is::PartitionView => "partition view type".into(),
            Is::StridedView => "strided view type".into(),
            Is::GatherScatterView => "gather/scatter view type".into(),
            // It holds of everything.
            Is::Any => String::new(),
        }
    }
}

impl Elem {
    fn name(self) -> String {
        match self {
            Elem::I(n) => format!("i{n}"),
            Elem::F(f) => f.name().into(),
            Elem::Pointer => "Pointer type".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_row_of_the_right_size() {
        for &op in Op::ALL {
            let (of, operands, results) = row(op);
            let def = &TABLE[op as usize];
            assert_eq!(*of, op);
            assert_eq!(operands.len(), def.operands.len(), "{op:?}");
            assert_eq!(results.len(), def.results.len(), "{op:?}");
        }
    }
}
