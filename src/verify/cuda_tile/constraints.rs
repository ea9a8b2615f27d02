//! Checks the types of operands and results against their rows.

use crate::asm::type_text;
use crate::dialect::cuda_tile::{Op, TABLE};
use crate::dialect::{Arity, Elem, Is};
use crate::ir::{Module, Op as IrOp, Type, TypeId, ValueId};
use crate::verify::{Check, fail};

/// The element types that each value of an operation may have by its own: the name of each operand and
/// result, and its types. What other rules say besides is left out.
pub fn element_types(op: Op) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let def = &TABLE[op as usize];
    let names = def.operands.iter().map(|o| o.name);
    let names = names.chain(def.results.iter().map(|r| r.name));
    names.zip(
        def.operand_types
            .iter()
            .chain(def.result_types)
            .map(|is| is.elements()),
    )
}

/// Checks the types of all operands and results.
pub fn check(module: &Module, kind: Op, op: &IrOp) -> Check {
    let row = &TABLE[kind as usize];
    let mut number = 0;
    for (i, is) in row.operand_types.iter().enumerate() {
        let list = row.operands[i].arity == Arity::Variadic;
        for &value in op.group(i) {
            one(module, "operand", number, *is, list, value)?;
            number += 1;
        }
    }
    let list = op.def().results.len() == 1 && op.def().results[0].arity == Arity::Variadic;
    for (i, &value) in op.results.iter().enumerate() {
        let is = row
            .result_types
            .get(if list { 0 } else { i })
            .copied()
            .unwrap_or(Is::Any);
        one(module, "result", i, is, list, value)?;
    }
    Ok(())
}

fn one(module: &Module, what: &str, number: usize, is: Is, list: bool, value: ValueId) -> Check {
    let ty = module.ty(value);
    if holds(is, module, ty) {
        return Ok(());
    }
    let list = if list { "variadic of " } else { "" };
    fail(format!(
        "{what} #{number} must be {list}{}, but got '{}'",
        is.name(),
        type_text(module, ty)
    ))
}

/// Whether a type is what `is` allows. A tile of `nv_tileas` is held to the same, whatever its layout.
fn holds(is: Is, module: &Module, ty: TypeId) -> bool {
    match (is, module.types.get(ty)) {
        (Is::Any, _)
        | (Is::Token, Type::Token)
        | (Is::AnyTile, Type::Tile { .. } | Type::Distributed { .. })
        | (Is::TensorView, Type::TensorView { .. })
        | (Is::PartitionView, Type::PartitionView { .. })
        | (Is::StridedView, Type::StridedView { .. })
        | (Is::GatherScatterView, Type::GatherScatterView { .. })
        | (
            Is::TileView,
            Type::PartitionView { .. } | Type::StridedView { .. } | Type::GatherScatterView { .. },
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
