//! Rules of the cuda_tile dialect, one file per subject.

mod arith;
mod atomics;
mod attrs;
mod bodies;
pub mod constraints;
mod control;
mod debug;
pub mod hints;
mod matrix;
mod memory;
mod multimem;
mod ordering;
mod relations;
mod shape;
mod symbols;
mod views;

use crate::asm::type_text;
use crate::dialect::cuda_tile::Op;
use crate::dialect::cuda_tile::view::View;
use crate::ir::{Diagnostic, Module, Op as IrOp, OpId, Type, TypeId, ValueId};
use crate::verify::{Check, types};

/// Checks one operation whose structure is sound.
pub fn check(module: &Module, id: OpId, unsound: &types::Unsound) -> Check {
    let op = module.op(id);
    let Some(kind) = Op::of(op.kind) else {
        return Ok(());
    };
    let c = Ctx {
        module,
        id,
        op,
        kind,
    };
    if !unsound.is_empty() {
        c.types(unsound)?;
    }
    constraints::check(module, kind, op)?;
    relations::check(&c)?;
    attrs::check(&c)?;
    control::parent(&c)?;
    rules(&c)
}

/// Rules that concern the module as a whole.
pub fn module_rules(module: &Module) -> Vec<(OpId, Diagnostic)> {
    let mut errors = symbols::check(module);
    errors.extend(debug::check(module));
    errors
}

/// The rules of each operation that are more than types and relations.
fn rules(c: &Ctx) -> Check {
    match c.kind {
        Op::AddF
        | Op::SubF
        | Op::MulF
        | Op::Fma
        | Op::DivF
        | Op::Sqrt
        | Op::Exp
        | Op::TanH
        | Op::Exp2
        | Op::Rsqrt
        | Op::MaxF
        | Op::MinF => arith::float(c),
        Op::DivI => arith::divi(c),
        Op::NegI => arith::negi(c),
        Op::ExtI => arith::exti(c),
        Op::TruncI => arith::trunci(c),
        Op::IToF => arith::itof(c),
        Op::FToI => arith::ftoi(c),
        Op::FToF => arith::ftof(c),
        Op::Bitcast => arith::bitcast(c),
        Op::AtomicRmw => atomics::rmw(c),
        Op::AtomicCas => atomics::cas(c),
        Op::AtomicRedView => atomics::red_view(c),
        Op::LoadPtr => memory::load_ptr(c),
        Op::StorePtr => memory::store_ptr(c),
        Op::LoadView => views::load(c),
        Op::StoreView => views::store(c),
        Op::MultimemLoadReduceView | Op::MultimemReduceView | Op::MultimemStoreView => {
            multimem::check(c)
        }
        Op::JoinTokens => memory::join_tokens(c),
        Op::MakeTensorView => views::make_tensor_view(c),
        Op::MakePartitionView | Op::MakeStridedView | Op::MakeGatherScatterView => {
            views::make_view(c)
        }
        Op::GetTensorShape | Op::GetIndexSpaceShape => views::shape(c),
        Op::Broadcast => shape::broadcast(c),
        Op::Extract => shape::extract(c),
        Op::Insert => shape::insert(c),
        Op::Iota => shape::iota(c),
        Op::Pack | Op::Unpack => shape::pack(c),
        Op::Reshape => shape::reshape(c),
        Op::Select => shape::select(c),
        Op::Constant => shape::constant(c),
        Op::MmaF => matrix::mmaf(c),
        Op::MmaI => matrix::shapes(c),
        Op::MmaFScaled => matrix::scaled(c),
        Op::Break => control::break_op(c),
        Op::Continue => control::continue_op(c),
        Op::Return => control::return_op(c),
        Op::If => control::if_op(c),
        _ => parts(c),
    }
}

/// The rules of operations that ask about parts of their own.
fn parts(c: &Ctx) -> Check {
    match View::of(c.op) {
        Some(View::Alloca(v)) => memory::alloca(c, &v),
        Some(View::Cat(v)) => shape::cat(c, v.dim()),
        Some(View::Permute(v)) => shape::permute(c, v.permutation()),
        Some(View::Reduce(v)) => shape::aggregate(c, v.dim(), v.identities()),
        Some(View::Scan(v)) => shape::aggregate(c, v.dim(), v.identities()),
        Some(View::For(v)) => control::for_op(c, &v),
        Some(View::Loop(v)) => control::loop_op(c, &v),
        Some(View::Entry(v)) => control::entry(c, &v),
        Some(View::Global(v)) => symbols::global(c, &v),
        Some(View::Print(v)) => memory::print(c, &v),
        _ => Ok(()),
    }
}

/// An operation with what its rules ask about.
struct Ctx<'m> {
    module: &'m Module,
    id: OpId,
    op: &'m IrOp,
    kind: Op,
}

impl<'m> Ctx<'m> {
    /// All types of the operation are sound in themselves.
    fn types(&self, unsound: &types::Unsound) -> Check {
        let sound = |value: &ValueId| match unsound.get(&self.module.ty(*value)) {
            Some(message) => Err(message.clone()),
            None => Ok(()),
        };
        self.op
            .operands
            .iter()
            .chain(&self.op.results)
            .try_for_each(sound)?;
        for &region in &self.op.regions {
            for &block in &self.module.region(region).blocks {
                self.module.block(block).args.iter().try_for_each(sound)?;
            }
        }
        Ok(())
    }

    /// A type in quotes, for messages.
    fn text(&self, ty: TypeId) -> String {
        format!("'{}'", type_text(self.module, ty))
    }

    /// A tile type in quotes, for messages.
    fn tile_text(&self, elem: TypeId, shape: &[u64]) -> String {
        let dims: String = shape.iter().map(|d| format!("{d}x")).collect();
        format!("'!cuda_tile.tile<{dims}{}>'", type_text(self.module, elem))
    }

    fn type_of(&self, value: ValueId) -> &'m Type {
        self.module.types.get(self.module.ty(value))
    }

    fn get(&self, ty: TypeId) -> &'m Type {
        self.module.types.get(ty)
    }

    /// Element type and shape of a value; the scalar case for what is no tile.
    fn tile(&self, value: ValueId) -> (TypeId, &'m [u64]) {
        let ty = self.module.ty(value);
        self.module.types.as_tile(ty).unwrap_or((ty, &[]))
    }

    /// Element type and shape of the operand of group `i`, which holds exactly one.
    fn operand(&self, i: usize) -> (TypeId, &'m [u64]) {
        self.tile(self.op.group(i)[0])
    }

    /// Element type and shape of result `i`, which the row says exists.
    fn result(&self, i: usize) -> (TypeId, &'m [u64]) {
        self.tile(self.op.results[i])
    }

    /// Types of values, for messages.
    fn list(&self, values: &[ValueId]) -> String {
        let texts: Vec<String> = values
            .iter()
            .map(|&v| self.text(self.module.ty(v)))
            .collect();
        texts.join(", ")
    }

    fn case(&self, name: &str) -> Option<u8> {
        self.op.enum_named(name)
    }
}

/// A shape as messages show it.
fn dims(shape: &[u64]) -> String {
    shape
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
