//! Rules that follow from the operation tables, for every dialect.

use slotmap::SecondaryMap;

use super::{Check, ensure, fail, relaid};
use crate::asm::type_text;
use crate::dialect::cuda_tile::Op as CudaTile;
use crate::dialect::{Arity, AttrKind, Default, Dialect, OpKind, ResultType, Traits};
use crate::ir::{Attr, BlockId, Module, Op, OpId, Type, TypeId, ValueId};

/// Checks each operation under the module's body and reports the outcome, parents first.
pub fn visit(module: &Module, report: &mut dyn FnMut(OpId, Check)) {
    let mut scope = Scope {
        visible: SecondaryMap::new(),
        island: 0,
        islands: 0,
    };
    for &op in &module.block(module.body).ops {
        operation(module, op, &mut scope, report);
    }
}

/// Which values may be used: those of the enclosing blocks up to an isolated operation.
struct Scope {
    /// Visible values and the island (body of an isolated operation) that they belong to.
    visible: SecondaryMap<ValueId, u32>,
    island: u32,
    islands: u32,
}

impl Scope {
    fn sees(&self, value: ValueId) -> bool {
        self.visible.get(value) == Some(&self.island)
    }
}

fn operation(module: &Module, id: OpId, scope: &mut Scope, report: &mut dyn FnMut(OpId, Check)) {
    let op = module.op(id);
    let outcome = dominance(op, scope)
        .and_then(|()| arity(op))
        .and_then(|()| attributes(op))
        .and_then(|()| results(module, op))
        .and_then(|()| traits(module, op))
        .and_then(|()| regions(module, op))
        .and_then(|()| last(module, id));
    report(id, outcome);
    let outer = scope.island;
    if op.def().traits.has(Traits::ISOLATED) {
        scope.islands += 1;
        scope.island = scope.islands;
    }
    for &region in &op.regions {
        let mut defined = Vec::new();
        for &block in &module.region(region).blocks {
            for &arg in &module.block(block).args {
                scope.visible.insert(arg, scope.island);
                defined.push(arg);
            }
            for &inner in &module.block(block).ops {
                operation(module, inner, scope, report);
                defined.extend_from_slice(&module.op(inner).results);
            }
        }
        for value in defined {
            scope.visible.remove(value);
        }
    }
    scope.island = outer;
    for &result in &op.results {
        scope.visible.insert(result, scope.island);
    }
}

fn dominance(op: &Op, scope: &Scope) -> Check {
    match op.operands.iter().position(|&v| !scope.sees(v)) {
        Some(i) => fail(format!("operand #{i} does not dominate this use")),
        None => Ok(()),
    }
}

/// Operand groups, numbers of attributes, results and regions.
fn arity(op: &Op) -> Check {
    let def = op.def();
    let ordered = op.groups.windows(2).all(|w| w[0] <= w[1]);
    let all = op.groups.last().map_or(0, |&e| e as usize) == op.operands.len();
    ensure(
        op.groups.len() == def.operands.len() && ordered && all,
        || {
            let (want, got) = (def.operands.len(), op.groups.len());
            format!("expected {want} operand groups over all operands, got {got}")
        },
    )?;
    for (i, group) in def.operands.iter().enumerate() {
        let n = op.group(i).len();
        let fits = match group.arity {
            Arity::One => n == 1,
            Arity::Optional => n <= 1,
            Arity::Variadic => true,
        };
        ensure(fits, || match group.arity {
            Arity::One => format!("requires one operand '{}', got {n}", group.name),
            _ => format!("requires at most one operand '{}', got {n}", group.name),
        })?;
    }
    ensure(op.attrs.len() == def.attrs.len(), || {
        format!(
            "expected {} attributes, got {}",
            def.attrs.len(),
            op.attrs.len()
        )
    })?;
    let list = def.results.iter().any(|r| r.arity == Arity::Variadic);
    ensure(list || op.results.len() == def.results.len(), || {
        let (want, got) = (def.results.len(), op.results.len());
        format!("expected {want} results, got {got}")
    })?;
    // Roles that a kernel does not have are left out.
    let least = match op.kind.dialect {
        Dialect::TileAs => def.regions.iter().filter(|r| !r.optional).count(),
        _ => def.regions.len(),
    };
    ensure(
        (least..=def.regions.len()).contains(&op.regions.len()),
        || {
            format!(
                "expected {} regions, got {}",
                def.regions.len(),
                op.regions.len()
            )
        },
    )
}

fn attributes(op: &Op) -> Check {
    for (def, attr) in op.def().attrs.iter().zip(&op.attrs) {
        let Some(attr) = attr else {
            let needed = !def.optional && def.default == Default::None;
            ensure(!needed, || format!("requires attribute '{}'", def.name))?;
            continue;
        };
        ensure(kind_fits(def.kind, attr), || {
            format!(
                "attribute '{}' failed to satisfy constraint: {}",
                def.name,
                def.kind.words()
            )
        })?;
    }
    Ok(())
}

fn kind_fits(kind: AttrKind, attr: &Attr) -> bool {
    match (kind, attr) {
        (AttrKind::Enum(def), Attr::Enum(case)) => usize::from(case.0) < def.cases.len(),
        (AttrKind::Unit, Attr::Unit)
        | (AttrKind::Bool, Attr::Bool(_))
        | (AttrKind::Int(_), Attr::Int { .. })
        | (AttrKind::Type, Attr::Type(_))
        | (AttrKind::Str, Attr::Str(_))
        | (AttrKind::Symbol, Attr::Symbol(_))
        | (AttrKind::I32s, Attr::I32s(_))
        | (AttrKind::I64s, Attr::I64s(_))
        | (AttrKind::Bools, Attr::Bools(_))
        | (AttrKind::Dense, Attr::Dense { .. })
        | (AttrKind::Assume, Attr::Assume(_))
        | (AttrKind::Array, Attr::Array(_))
        | (AttrKind::Hints, Attr::Hints(_)) => true,
        _ => false,
    }
}

/// Results whose type follows from an operand.
fn results(module: &Module, op: &Op) -> Check {
    let ty = |i: u8| op.operands.get(usize::from(i)).map(|&v| module.ty(v));
    for (i, (def, &result)) in op.def().results.iter().zip(&op.results).enumerate() {
        let got = module.ty(result);
        let fits = match def.ty {
            ResultType::Explicit => true,
            ResultType::Operand(i) => {
                let laid_out = op.kind.dialect == Dialect::CudaTile;
                ty(i).is_some_and(|t| t == got || laid_out && relaid(module, t, got))
            }
            ResultType::BoolLike(i) => ty(i).is_some_and(|t| is_bool_like(module, t, got)),
            ResultType::Token => matches!(module.types.get(got), Type::Token),
        };
        ensure(fits, || match def.ty {
            ResultType::Operand(i) => {
                let mut names = [operand_name(op, i), def.name];
                if op.kind == OpKind::from(CudaTile::Offset) {
                    names.reverse();
                }
                format!(
                    "failed to verify that all of {{{}}} have same type",
                    names.join(", ")
                )
            }
            ResultType::Token => {
                format!(
                    "result #{i} must be cuda tile token type, but got '{}'",
                    type_text(module, got)
                )
            }
            ResultType::BoolLike(_)
                if !matches!(module.types.get(module.types.elem(got)), Type::Int(1)) =>
            {
                format!(
                    "result #{i} must be tile of i1 values, but got '{}'",
                    type_text(module, got)
                )
            }
            _ => "failed to verify that Result type has i1 element type and same shape as operands"
                .into(),
        })?;
    }
    Ok(())
}

fn operand_name(op: &Op, i: u8) -> &'static str {
    op.def()
        .operands
        .get(usize::from(i))
        .map_or("operand", |o| o.name)
}

fn is_bool_like(module: &Module, operand: TypeId, result: TypeId) -> bool {
    let (Some((_, a)), Some((elem, b))) =
        (module.types.as_tile(operand), module.types.as_tile(result))
    else {
        // Scalars and register arrays of the lower dialects.
        return matches!(module.types.get(module.types.elem(result)), Type::Int(1));
    };
    a == b && matches!(module.types.get(elem), Type::Int(1))
}

fn traits(module: &Module, op: &Op) -> Check {
    let mut values = op.operands.iter().chain(&op.results).map(|&v| module.ty(v));
    let Some(first) = values.next() else {
        return Ok(());
    };
    let def = op.def();
    let names = || {
        let operands = def.operands.iter().map(|o| o.name);
        let all: Vec<_> = operands.chain(def.results.iter().map(|r| r.name)).collect();
        all.join(", ")
    };
    if def.traits.has(Traits::SAME_TYPE) {
        return ensure(values.all(|t| t == first), || {
            agreement(op).unwrap_or_else(|| {
                format!(
                    "failed to verify that all of {{{}}} have same type",
                    names()
                )
            })
        });
    }
    if def.traits.has(Traits::ELEMENTWISE) {
        let shape = |t| module.types.as_tile(t).map(|(_, s)| s);
        return ensure(values.all(|t| shape(t) == shape(first)), || {
            agreement(op).unwrap_or_else(|| {
                format!(
                    "failed to verify that all of {{{}}} have same shape",
                    names()
                )
            })
        });
    }
    Ok(())
}

/// What the dialect itself says of operations whose values do not agree, where that does not follow
/// from the order of its operands.
fn agreement(op: &Op) -> Option<String> {
    let text = match CudaTile::of(op.kind)? {
        CudaTile::FPowF => "failed to verify that all of {result, source, exponent} have same type",
        CudaTile::FPowI => "failed to verify that all of {source, exponent} have same shape",
        CudaTile::Offset => "requires the same shape for all operands and results",
        _ => return None,
    };
    Some(text.into())
}

fn regions(module: &Module, op: &Op) -> Check {
    for (i, (def, &region)) in op.def().regions.iter().zip(&op.regions).enumerate() {
        let blocks = &module.region(region).blocks;
        ensure(def.optional || !blocks.is_empty(), || {
            format!(
                "region #{i} ('{}') failed to verify constraint: region with 1 blocks",
                def.name
            )
        })?;
        for &block in blocks {
            terminator(module, op.kind, block)?;
        }
    }
    Ok(())
}

/// A block ends with a terminator, except in a module.
fn terminator(module: &Module, parent: OpKind, block: BlockId) -> Check {
    if parent == crate::dialect::cuda_tile::Op::Module.into() {
        return Ok(());
    }
    let is_end = |&op: &OpId| module.op(op).def().traits.has(Traits::TERMINATOR);
    let Some(last) = module.block(block).ops.last() else {
        return fail(
            "invalid block structure: block is expected to have a terminator operation, but it is empty",
        );
    };
    ensure(is_end(last), || {
        format!(
            "invalid block structure: block is expected to have a terminator operation, but the last operation '{}' is not a terminator.",
            module.op(*last).kind
        )
    })?;
    Ok(())
}

/// A terminator has no operation after it.
fn last(module: &Module, id: OpId) -> Check {
    let op = module.op(id);
    let ends = op.def().traits.has(Traits::TERMINATOR);
    ensure(!ends || module.terminator(op.block) == Some(id), || {
        "must be the last operation in the parent block".into()
    })
}
