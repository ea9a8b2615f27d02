//! An operation as the decoders see it, and what they make of it.

use smallvec::smallvec;

use super::context::Context;
use super::types::{TileType, ViewType};
use super::value::{Args, Value, Values};
use crate::dialect::cuda_tile::Op as Name;
use crate::dialect::enums::Ordering;
use crate::ir::{Attr, Module, Op, OpId, TypeId};
use crate::scalar::{Lanes, Signedness};

/// What one execution of an operation does: operand values to result values.
pub type Action = Box<dyn Fn(&Context, &Args) -> Result<Values, String> + Send + Sync>;

/// The result of a decoder: `None` for an operation that is not its own.
pub type Decoded = Result<Option<Action>, String>;

/// An operation with its module.
pub struct Operation<'m> {
    pub module: &'m Module,
    pub id: OpId,
    pub op: &'m Op,
    pub name: Name,
}

impl Operation<'_> {
    pub fn operand_type(&self, i: usize) -> Result<TypeId, String> {
        let value = self.op.operands.get(i);
        value
            .map(|&v| self.module.ty(v))
            .ok_or_else(|| format!("operand {i} is missing"))
    }

    pub fn result_type(&self, i: usize) -> Result<TypeId, String> {
        let value = self.op.results.get(i);
        value
            .map(|&v| self.module.ty(v))
            .ok_or_else(|| format!("result {i} is missing"))
    }

    /// The type of operand `i`, counted over all groups.
    pub fn operand(&self, i: usize) -> Result<TileType, String> {
        TileType::of(self.module, self.operand_type(i)?)
    }

    pub fn result(&self, i: usize) -> Result<TileType, String> {
        TileType::of(self.module, self.result_type(i)?)
    }

    pub fn view(&self, i: usize) -> Result<ViewType, String> {
        ViewType::of(self.module, self.operand_type(i)?)
    }

    /// Where group `i` starts among all operands.
    pub fn group_start(&self, i: usize) -> usize {
        match i {
            0 => 0,
            _ => self.op.groups.get(i - 1).map_or(0, |&end| end as usize),
        }
    }

    /// The position of the operand of an optional group.
    pub fn optional(&self, i: usize) -> Option<usize> {
        (!self.op.group(i).is_empty()).then(|| self.group_start(i))
    }

    pub fn attr(&self, name: &str) -> Result<&Attr, String> {
        self.op
            .attr_named(name)
            .ok_or_else(|| format!("attribute `{name}` is missing"))
    }

    pub fn case(&self, name: &str) -> Result<u8, String> {
        self.op
            .enum_named(name)
            .ok_or_else(|| format!("attribute `{name}` is missing"))
    }

    pub fn int(&self, name: &str) -> Result<i64, String> {
        match self.attr(name)? {
            Attr::Int { value, .. } => Ok(*value),
            _ => Err(format!("attribute `{name}` is not an integer")),
        }
    }

    pub fn text(&self, name: &str) -> Result<&str, String> {
        match self.attr(name)? {
            Attr::Str(text) | Attr::Symbol(text) => Ok(self.module.str(*text)),
            _ => Err(format!("attribute `{name}` is not text")),
        }
    }

    /// A dimension attribute of a tile of this rank.
    pub fn dim(&self, rank: usize) -> Result<usize, String> {
        let dim = self.int("dim")?;
        usize::try_from(dim)
            .ok()
            .filter(|&d| d < rank)
            .ok_or_else(|| format!("dimension {dim} of a tile of rank {rank}"))
    }

    pub fn signedness(&self, name: &str) -> Result<Signedness, String> {
        Ok(match self.case(name)? {
            0 => Signedness::Unsigned,
            _ => Signedness::Signed,
        })
    }

    /// Whether the operation orders other accesses before or after it.
    pub fn fence(&self) -> Fence {
        let order = self.op.enum_named("memory_ordering_semantics");
        let orders = matches!(
            order.and_then(Ordering::of),
            Some(Ordering::Acquire | Ordering::Release | Ordering::AcqRel)
        );
        Fence(orders)
    }
}

/// Ordering around a memory access. Atomic accesses are sequentially consistent by themselves.
#[derive(Clone, Copy)]
pub struct Fence(bool);

impl Fence {
    pub fn around<T>(self, access: impl FnOnce() -> T) -> T {
        self.here();
        let result = access();
        self.here();
        result
    }

    fn here(self) {
        if self.0 {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        }
    }
}

/// An action on tiles that cannot fail.
pub fn pure1(f: impl Fn(&Lanes) -> Lanes + Send + Sync + 'static) -> Action {
    Box::new(move |_, args| Ok(smallvec![Value::tile(f(args.lanes(0)?))]))
}

pub fn pure2(f: impl Fn(&Lanes, &Lanes) -> Lanes + Send + Sync + 'static) -> Action {
    Box::new(move |_, args| Ok(smallvec![Value::tile(f(args.lanes(0)?, args.lanes(1)?))]))
}

/// An action whose result is its first operand.
pub fn same() -> Action {
    Box::new(|_, args| Ok(smallvec![args.value(0)?]))
}
