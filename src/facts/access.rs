//! A tiled access read out of its operation, whichever stage and kind it is.

use crate::dialect::Arity;
use crate::dialect::enums::{Ordering, Padding, Scope};
use crate::dialect::nv_tileas;
use crate::facts::FactMap;
use crate::ir::{Attr, Module, Op, OpId, Type, TypeId, ValueId};

/// The parts of a tiled load, store, copy or atomic.
#[derive(Clone, Debug)]
pub struct Access {
    pub base: ValueId,
    /// One per tensor dimension.
    pub extents: Vec<ValueId>,
    /// In elements, one per tensor dimension.
    pub strides: Vec<ValueId>,
    /// One per tile dimension.
    pub index: Vec<ValueId>,
    /// Tensor dimension that each tile dimension walks.
    pub dim_map: Vec<usize>,
    /// Elements from one index to the next, per tile dimension.
    pub traversal: Vec<i64>,
    /// What elements outside are; `None`: anything.
    pub padding: Option<Padding>,
    /// Tile dimensions known to be inside.
    pub inbounds: Vec<bool>,
    /// Tile dimension whose index is a tile of element numbers.
    pub sparse: Option<usize>,
}

/// The operands of the group called `name`.
pub fn group<'o>(op: &'o Op, name: &str) -> &'o [ValueId] {
    op.def()
        .operands
        .iter()
        .position(|o| o.name == name)
        .map_or(&[], |i| op.group(i))
}

/// The operand of the group called `name`, when there is one.
pub fn operand(op: &Op, name: &str) -> Option<ValueId> {
    debug_assert!(
        op.def()
            .operands
            .iter()
            .all(|o| o.name != name || o.arity != Arity::Variadic)
    );
    group(op, name).first().copied()
}

macro_rules! shared_operands {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        pub fn $name(op: &Op) -> Option<ValueId> {
            operand(op, stringify!($name))
        }
    )* };
}

// Operands that operations of several kinds have.
shared_operands! {
    /// What an access comes after.
    token;
    /// The pipeline that a step of the protocol, or a copy, is for.
    pipeline;
    /// The iteration whose stage is meant.
    iteration;
    /// The tile of pointers of an access.
    pointers;
    /// Which elements of an access through pointers happen.
    mask;
    /// The shared buffer that a copy fills.
    destination;
    /// What a store stores, of a view.
    tile;
}

/// How an access is ordered with those of other threads; weak where its operation has no say.
pub fn ordering(op: &Op) -> Ordering {
    op.enum_named("order")
        .and_then(Ordering::of)
        .unwrap_or(Ordering::Weak)
}

/// Which threads the ordering is among, where the operation says so.
pub fn scope(op: &Op) -> Option<Scope> {
    op.enum_named("scope").and_then(Scope::of)
}

fn numbers(op: &Op, name: &str) -> Vec<i64> {
    match op.attr_named(name) {
        Some(Attr::I32s(v)) => v.iter().map(|&x| i64::from(x)).collect(),
        _ => Vec::new(),
    }
}

impl Access {
    /// Reads the access of `op`; `None` if it has no base operand.
    pub fn of(op: &Op) -> Option<Access> {
        let rank = group(op, "index").len();
        let flags = match op.attr_named("inbounds") {
            Some(Attr::Bools(b)) => b.clone(),
            _ => Vec::new(),
        };
        Some(Access {
            base: operand(op, "base")?,
            extents: group(op, "extents").to_vec(),
            strides: group(op, "strides").to_vec(),
            index: group(op, "index").to_vec(),
            dim_map: numbers(op, "dim_map")
                .into_iter()
                .map(|d| d as usize)
                .collect(),
            traversal: numbers(op, "traversal"),
            padding: op.enum_named("padding").and_then(Padding::of),
            inbounds: (0..rank)
                .map(|i| flags.get(i).copied().unwrap_or(false))
                .collect(),
            sparse: match op.attr_named("sparse") {
                Some(Attr::Int { value, .. }) => Some(*value as usize),
                _ => None,
            },
        })
    }

    /// The tile dimension that gathers, and the element numbers that it gathers, where they are known one by one.
    pub fn pages<'m>(&self, m: &'m Module) -> Option<(usize, &'m [ValueId])> {
        let dim = self.sparse?;
        let numbers = m.op(m.def_op(*self.index.get(dim)?)?);
        let listed = nv_tileas::Op::of(numbers.kind) == Some(nv_tileas::Op::Numbers);
        listed.then_some((dim, &numbers.operands[..]))
    }

    /// The stride of the tensor dimension that tile dimension `dim` walks.
    pub fn stride(&self, dim: usize) -> Option<ValueId> {
        self.strides.get(*self.dim_map.get(dim)?).copied()
    }

    /// The extent of the tensor dimension that tile dimension `dim` walks.
    pub fn extent(&self, dim: usize) -> Option<ValueId> {
        self.extents.get(*self.dim_map.get(dim)?).copied()
    }

    /// Tile dimensions, the contiguous one first, then from last to first.
    pub fn order(&self, facts: &FactMap) -> Vec<usize> {
        let unit = |d: &usize| {
            self.stride(*d)
                .is_some_and(|s| constant(facts, s) == Some(1))
        };
        let mut dims: Vec<usize> = (0..self.index.len()).rev().collect();
        dims.sort_by_key(|d| !unit(d));
        dims
    }

    /// Bytes, a power of two up to 16, to which every run of elements along the contiguous
    /// dimension that starts at a multiple of that many bytes in the tile is aligned in memory;
    /// `element` bytes when no dimension is contiguous.
    pub fn alignment(&self, m: &Module, facts: &FactMap, tile: &[u64], elem: TypeId) -> u64 {
        // One bit takes a byte; two elements of four bits do.
        let bits = match m.types.bits(elem).unwrap_or(8) {
            1 => 8,
            bits => u64::from(bits),
        };
        let bytes_of = |elements: u64| elements.saturating_mul(bits) / 8;
        let element = bits.div_ceil(8);
        let order = self.order(facts);
        let Some(&inner) = order.first() else {
            return element;
        };
        let contiguous = self
            .stride(inner)
            .is_some_and(|s| constant(facts, s) == Some(1));
        if !contiguous || self.sparse == Some(inner) {
            return element;
        }
        let mut bytes = low_bit(facts.get(self.base).map_or(1, |f| f.divisor)).min(16);
        for (i, &stride) in self.strides.iter().enumerate() {
            if self.dim_map.get(inner) != Some(&i) {
                let divisor = facts.get(stride).map_or(1, |f| f.divisor);
                bytes = bytes.min(bytes_of(low_bit(divisor)));
            }
        }
        let first = self.first_divisor(facts, inner);
        let run = tile.get(inner).copied().unwrap_or(1);
        bytes.min(bytes_of(first)).min(bytes_of(run)).max(element)
    }

    /// A power of two that divides the number of a tile's first element along tile dimension `dim`, which is index times
    /// traversal; `u64::MAX` stands for more.
    pub fn first_divisor(&self, facts: &FactMap, dim: usize) -> u64 {
        let step = self.traversal.get(dim).map_or(1, |t| t.unsigned_abs());
        let index = self.index.get(dim).and_then(|&i| facts.get(i));
        low_bit(step).saturating_mul(low_bit(index.map_or(1, |f| f.divisor)))
    }
}

/// Largest power of two that divides `n` (0 counts as divisible by anything).
fn low_bit(n: u64) -> u64 {
    if n == 0 {
        1 << 62
    } else {
        n & n.wrapping_neg()
    }
}

/// The known value of an integer.
pub fn constant(facts: &FactMap, value: ValueId) -> Option<i64> {
    let f = facts.get(value)?;
    (f.lo == f.hi).then_some(f.lo)
}

/// The pointee of a pointer or tile of pointers.
pub fn pointee(m: &Module, pointer: ValueId) -> TypeId {
    let elem = m.types.elem(m.ty(pointer));
    match m.types.get(elem) {
        Type::Ptr { pointee, .. } => *pointee,
        _ => elem,
    }
}

/// The tiled operation's tile type: of its result or of the stored operand.
pub fn tile_of(m: &Module, op: OpId) -> Option<ValueId> {
    let data = m.op(op);
    operand(data, "tile").or_else(|| data.results.first().copied())
}
