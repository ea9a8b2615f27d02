//! How many registers of a thread the tiles of a kernel take, before layouts are known.
//!
//! Tiles count where something stands between their making and their use: a load, a matmul, a reduction, a loop.
//! What elementwise operations hand to each other in between is computed element by element and takes none; neither
//! do constants, numbers of elements, pointers and masks, which are made where they are used, nor what matmuls read
//! from shared memory. What special functions make of numbers of elements, such as a decay along rows, is made once, in
//! front of the loops that use it, and counts.

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::lower::tileas::distinct::Distinct;
use crate::lower::tileas::look::is_matmul;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};

/// Cost of an operation, as its row has it, from which on its results are not made anew for each use: special functions.
const DEAR: u32 = 40;

/// Registers of a thread of `warps` warps for the tiles that live at once, at most.
pub fn registers(m: &Module, body: BlockId, warps: u64) -> u64 {
    let mut p = Pressure::new(m, body, warps);
    p.loaded_for_matmuls(body, &[S::TiledLoad, S::Load, S::LocalLoad]);
    p.block(body, Live::default())
}

/// The same where what matmuls read is loaded through registers, but for the tiles in `without`.
pub fn registers_without(m: &Module, body: BlockId, warps: u64, without: &[ValueId]) -> u64 {
    let mut p = Pressure::new(m, body, warps);
    p.loaded_for_matmuls(body, &[S::LocalLoad]);
    let without: Vec<ValueId> = without.iter().map(|&v| p.root(v)).collect();
    p.shared.extend(without);
    p.block(body, Live::default())
}

/// The same with all tiles that live while asynchronous matmuls are issued.
pub fn registers_issued(m: &Module, body: BlockId, warps: u64) -> u64 {
    let mut p = Pressure::new(m, body, warps);
    p.loaded_for_matmuls(body, &[S::LocalLoad]);
    p.issued_stand = true;
    p.block(body, Live::default())
}

/// The same with all tiles that live across stores, too.
pub fn registers_across(m: &Module, body: BlockId, warps: u64) -> u64 {
    let mut p = Pressure::new(m, body, warps);
    p.loaded_for_matmuls(body, &[S::LocalLoad]);
    p.stores_stand = true;
    p.block(body, Live::default())
}

/// [`registers`] of a function where one of its blocks may stand in several orders.
pub struct Orders<'m> {
    pressure: Pressure<'m>,
    body: BlockId,
    block: BlockId,
}

impl<'m> Orders<'m> {
    pub fn of(m: &'m Module, body: BlockId, block: BlockId, warps: u64) -> Self {
        let mut pressure = Pressure::new(m, body, warps);
        pressure.loaded_for_matmuls(body, &[S::TiledLoad, S::Load, S::LocalLoad]);
        Orders {
            pressure,
            body,
            block,
        }
    }

    /// Those of one order, and by how many registers more than `limit` live at an operation, all of them together.
    pub fn registers_above(&mut self, order: &[OpId], limit: u64) -> (u64, u64) {
        let p = &mut self.pressure;
        p.order = Some((self.block, order.to_vec()));
        p.excess = Some((limit, Cell::new(0)));
        let most = p.block(self.body, Live::default());
        (
            most,
            p.excess.as_ref().map_or(0, |(_, excess)| excess.get()),
        )
    }
}

/// Registers of a thread for the tiles that live at one operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around {
    /// In front of it, its operands among them.
    pub before: u64,
    /// Behind it, without its results.
    pub behind: u64,
}

/// Those of `warps` warps at each operation under `body`.
pub fn around(m: &Module, body: BlockId, warps: u64) -> FxHashMap<OpId, Around> {
    let mut p = Pressure::new(m, body, warps);
    p.loaded_for_matmuls(body, &[S::LocalLoad]);
    p.around = Some(RefCell::default());
    p.block(body, Live::default());
    p.around.map(RefCell::into_inner).unwrap_or_default()
}

/// The registers of a thread that values of a function take, one by one.
pub struct Weights<'m>(Pressure<'m>);

impl<'m> Weights<'m> {
    pub fn of(m: &'m Module, body: BlockId, warps: u64) -> Self {
        let mut p = Pressure::new(m, body, warps);
        p.loaded_for_matmuls(body, &[S::LocalLoad]);
        Weights(p)
    }

    /// The value whose registers `value` is.
    pub fn root(&self, value: ValueId) -> ValueId {
        self.0.root(value)
    }

    /// Registers of a thread for a value that nothing else's registers are.
    pub fn weight(&self, value: ValueId) -> u64 {
        self.0.weight(value)
    }

    /// Whether tiles that live across an operation are in registers, whatever the order of what is around it.
    pub fn stands(m: &Module, op: OpId) -> bool {
        let data = m.op(op);
        let asynchronous = matches!(S::of(data.kind), Some(S::AsyncDot | S::AsyncDotWait));
        asynchronous || stands(m, op)
    }
}

fn is_load(m: &Module, op: OpId) -> bool {
    matches!(S::of(m.op(op).kind), Some(S::TiledLoad | S::Load))
}

/// Whether an operation needs the tiles that it reads or makes in registers.
fn stands(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    !data.regions.is_empty()
        || is_matmul(m, op)
        || matches!(C::of(data.kind), Some(C::Scan))
        || matches!(
            S::of(data.kind),
            Some(S::TiledLoad | S::Load | S::LocalLoad | S::TensorDot)
        )
}

/// Tiles that live at one place, and the registers of a thread that they take together.
#[derive(Clone, Default)]
struct Live {
    values: FxHashSet<ValueId>,
    registers: u64,
}

struct Pressure<'m> {
    m: &'m Module,
    warps: u64,
    /// Made anew where they are used.
    cheap: FxHashSet<ValueId>,
    /// Computed of broadcasts: registers hold an element once for all places that it is repeated at.
    distinct: Distinct,
    /// In shared memory: loaded for matmuls alone.
    shared: FxHashSet<ValueId>,
    /// Whether what lives across a store counts.
    stores_stand: bool,
    /// Whether what lives while an asynchronous matmul is issued counts.
    issued_stand: bool,
    /// What lives at each operation, where that is noted.
    around: Option<RefCell<FxHashMap<OpId, Around>>>,
    /// Registers above which what lives at an operation is noted, and how many there were above it at all of them.
    excess: Option<(u64, Cell<u64>)>,
    /// A block, and the order in which it stands instead of its own.
    order: Option<(BlockId, Vec<OpId>)>,
}

impl<'m> Pressure<'m> {
    fn new(m: &'m Module, body: BlockId, warps: u64) -> Self {
        let ops = m.ops_under(body);
        let mut p = Pressure {
            m,
            warps,
            cheap: FxHashSet::default(),
            distinct: Distinct::of(m, &ops),
            shared: FxHashSet::default(),
            stores_stand: false,
            issued_stand: false,
            around: None,
            excess: None,
            order: None,
        };
        p.find_cheap(&ops);
        p
    }

    fn find_cheap(&mut self, ops: &[OpId]) {
        let m = self.m;
        for &op in ops {
            let data = m.op(op);
            let elementwise = data.def().traits.has(Traits::ELEMENTWISE) || changes_shape(m, op);
            let known = elementwise
                && data.def().cost < DEAR
                && data
                    .operands
                    .iter()
                    .all(|v| self.cheap.contains(v) || !is_tile(m, *v));
            if known || matches!(C::of(data.kind), Some(C::Constant | C::Iota)) {
                self.cheap.extend(&data.results);
            }
        }
    }

    /// Takes what operations of these `kinds` load for matmuls alone as read from shared memory.
    fn loaded_for_matmuls(&mut self, body: BlockId, kinds: &[S]) {
        let m = self.m;
        let ops = m.ops_under(body);
        let loads = |&op: &OpId| S::of(m.op(op).kind).is_some_and(|k| kinds.contains(&k));
        if !ops.iter().any(loads) {
            return;
        }
        let mut others: FxHashSet<ValueId> = FxHashSet::default();
        for &op in ops.iter().rev() {
            let data = m.op(op);
            if changes_shape(m, op) && !data.results.iter().any(|r| others.contains(r)) {
                continue;
            }
            let read = if is_matmul(m, op) { 2 } else { 0 };
            others.extend(data.operands.iter().skip(read));
        }
        for &op in &ops {
            if let Some(&tile) = m.op(op).results.first()
                && loads(&op)
                && !others.contains(&tile)
            {
                self.shared.insert(tile);
            }
        }
    }

    /// The value whose registers `value` is.
    fn root(&self, mut value: ValueId) -> ValueId {
        while let Some(op) = self.m.def_op(value)
            && changes_shape(self.m, op)
        {
            value = self.m.source(op);
        }
        value
    }

    fn weight(&self, value: ValueId) -> u64 {
        let Type::Tile { elem, shape } = self.m.types.get(self.m.ty(value)) else {
            return 0;
        };
        if shape.is_empty() || self.cheap.contains(&value) || self.shared.contains(&value) {
            return 0;
        }
        let bits = match self.m.types.get(*elem) {
            // Truth values that were loaded are bytes; others are compared again where they are used.
            Type::Int(1) if self.m.def_op(value).is_some_and(|o| is_load(self.m, o)) => 8,
            Type::Ptr { .. } | Type::Int(1) => return 0,
            _ => u64::from(self.m.types.width(*elem)),
        };
        if let Some(elements) = self.distinct.of_thread(value, self.warps) {
            return (elements * bits).div_ceil(32);
        }
        (shape.iter().product::<u64>() * bits).div_ceil(32 * 32 * self.warps.max(1))
    }

    /// Adds a value to those that live.
    fn keep(&self, live: &mut Live, value: ValueId) {
        let weight = self.weight(value);
        if weight > 0 && live.values.insert(value) {
            live.registers += weight;
        }
    }

    /// Registers for what warpgroups side by side hold, each, of the left operand of `op`, beyond what one of them would.
    fn again(&self, op: OpId) -> u64 {
        let Some(dot) = view::AsyncDot::of(self.m.op(op)) else {
            return 0;
        };
        let across = dot.warpgroups().get(1).map_or(1, |&n| n.unsigned_abs());
        self.weight(self.root(dot.lhs())) * u64::from(across.max(1) - 1)
    }

    /// Takes a value from those that live.
    fn drop(&self, live: &mut Live, value: ValueId) {
        if live.values.remove(&value) {
            live.registers -= self.weight(value);
        }
    }

    /// The most that lives at once in `block`, `live` being what lives behind it.
    fn block(&self, block: BlockId, mut live: Live) -> u64 {
        let m = self.m;
        let mut most = 0;
        let ops = match &self.order {
            Some((other, ops)) if *other == block => ops,
            _ => &m.block(block).ops,
        };
        for &op in ops.iter().rev() {
            let data = m.op(op);
            let store = matches!(S::of(data.kind), Some(S::TiledStore | S::Store));
            let issued = S::of(data.kind) == Some(S::AsyncDot);
            let stands = stands(m, op) || store && self.stores_stand || issued && self.issued_stand;
            if stands {
                // Its results are there, whether something uses them or not.
                data.results.iter().for_each(|&r| self.keep(&mut live, r));
                most = most.max(live.registers);
            }
            data.results.iter().for_each(|&r| self.drop(&mut live, r));
            let behind = live.registers;
            let inner = data
                .regions
                .iter()
                .flat_map(|&r| m.region(r).blocks.clone());
            let flow = matches!(C::of(data.kind), Some(C::For | C::Loop | C::If))
                || S::of(data.kind) == Some(S::WarpSpecialize);
            for inner in inner.filter(|_| flow) {
                let mut through = live.clone();
                let own: FxHashSet<ValueId> = self.made_in(inner);
                for op in m.ops_under(inner) {
                    let used = m.op(op).operands.iter().map(|&v| self.root(v));
                    let outer = used.filter(|v| !own.contains(v));
                    outer.for_each(|v| self.keep(&mut through, v));
                }
                most = most.max(self.block(inner, through));
            }
            for &v in &data.operands {
                self.keep(&mut live, self.root(v));
            }
            let before = live.registers + self.again(op);
            if stands {
                most = most.max(before);
                if let Some((limit, excess)) = &self.excess {
                    excess.set(excess.get() + before.saturating_sub(*limit));
                }
            }
            if let Some(around) = &self.around {
                around.borrow_mut().insert(op, Around { before, behind });
            }
        }
        most
    }

    fn made_in(&self, block: BlockId) -> FxHashSet<ValueId> {
        let m = self.m;
        let mut made: FxHashSet<ValueId> = m.block(block).args.iter().copied().collect();
        for op in m.ops_under(block) {
            made.extend(&m.op(op).results);
            for &region in &m.op(op).regions {
                for &inner in &m.region(region).blocks {
                    made.extend(&m.block(inner).args);
                }
            }
        }
        made
    }
}

fn is_tile(m: &Module, value: ValueId) -> bool {
    matches!(m.types.get(m.ty(value)), Type::Tile { shape, .. } if !shape.is_empty())
}

fn changes_shape(m: &Module, op: OpId) -> bool {
    matches!(
        C::of(m.op(op).kind),
        Some(C::Reshape | C::Broadcast | C::Permute | C::Assume)
    )
}
