//! The bytes of shared memory that operands of matmuls are stored to.
//!
//! An operand is in its buffer from where it is known until the last matmul that reads it there. Operands of which one
//! has been read for the last time when the other is stored share bytes, as those do that control flow keeps apart.
//! Every matmul is waited for where it stands as long as operands are stored, so that it reads no longer than that;
//! schedules that wait later leave matmuls alone behind which something is stored. [`super::protocol`] checks it.

use super::buffers::{COLUMNS, Order, ROWS, buffer_bytes, shared_type, tile_bytes};
use super::lifetime::{Lifetime, Meeting, intersect, lowest_gap};
use super::look::{behind, loop_around, place};
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{BlockId, Module, OpId, ValueId};
use crate::layout::shared::{BUFFER_ALIGN, SharedLayout};
use std::ops::Range;

/// A tile that a matmul reads in a buffer of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub tile: ValueId,
    pub form: Form,
}

impl Stored {
    /// What to expect of an operand before it is known how a matmul will read it.
    pub fn expected(tile: ValueId, side: Side) -> Stored {
        let order = match side {
            Side::Left => ROWS,
            Side::Right => COLUMNS,
        };
        let form = Form::Order(order);
        Stored { tile, form }
    }
}

/// How a tile lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Its dimensions in this order in memory.
    Order(Order),
    /// Likewise, K renumbered ([`super::paired_k`]).
    Renumbered(Order),
    /// As `tcgen05.cp` copies scales of this side.
    Scales(usize),
}

impl Form {
    /// The order of its dimensions in memory.
    pub fn order(self) -> Order {
        match self {
            Form::Order(order) | Form::Renumbered(order) => order,
            Form::Scales(_) => ROWS,
        }
    }
}

/// A tile and its bytes.
#[derive(Clone, Debug)]
struct Tenant {
    stored: Stored,
    bytes: Range<u64>,
    /// Once it is stored.
    buffer: Option<ValueId>,
    /// It was stored once more, since its bytes are another one's by the time that it is read again.
    replaced: bool,
}

/// All that is stored in a kernel for its matmuls.
#[derive(Clone, Debug)]
pub struct Staging {
    body: BlockId,
    tenants: Vec<Tenant>,
}

impl Staging {
    pub fn new(body: BlockId) -> Staging {
        Staging {
            body,
            tenants: Vec::new(),
        }
    }

    /// Bytes that all of it takes.
    pub fn bytes(&self) -> u64 {
        self.tenants.iter().map(|t| t.bytes.end).max().unwrap_or(0)
    }

    /// The same if only those tiles share bytes that control flow keeps apart.
    pub fn bytes_apart(&self, m: &Module) -> u64 {
        self.without_turns(m).bytes()
    }

    /// The same, and what `dot` reads besides. Nothing is stored yet.
    pub fn with(&self, m: &Module, dot: OpId, read: impl IntoIterator<Item = Stored>) -> Staging {
        let mut all = self.clone();
        for stored in read {
            match all.find(stored) {
                Some(at) if all.still_holds(m, at, dot) => continue,
                Some(at) => all.tenants[at].replaced = true,
                None => {}
            }
            all.add(m, dot, stored);
        }
        all
    }

    fn find(&self, stored: Stored) -> Option<usize> {
        let is = |t: &Tenant| t.stored == stored && !t.replaced;
        self.tenants.iter().position(is)
    }

    /// Whether a tile that is stored already will still be in its bytes when `dot` reads it.
    fn still_holds(&self, m: &Module, at: usize, dot: OpId) -> bool {
        let meets = |meeting| meeting == Meeting::Together;
        !self.neighbours(m, at, Some(dot)).any(meets)
    }

    /// How the lifetimes of those with bytes of a tile's stand to its own; `dot` reads it, too.
    fn neighbours<'a>(
        &'a self,
        m: &'a Module,
        at: usize,
        dot: Option<OpId>,
    ) -> impl Iterator<Item = Meeting> + 'a {
        let tenant = &self.tenants[at];
        let own = self.lifetime(m, tenant, dot);
        let others = self.tenants.iter().enumerate();
        let others = others.filter(move |(i, o)| *i != at && intersect(&o.bytes, &tenant.bytes));
        others.map(move |(_, o)| own.meeting(m, self.body, self.lifetime(m, o, None)))
    }

    /// Gives a tile the lowest bytes that are free during its lifetime.
    fn add(&mut self, m: &Module, dot: OpId, stored: Stored) {
        let size = tile_bytes(m, stored.tile).next_multiple_of(BUFFER_ALIGN);
        let mut tenant = Tenant {
            stored,
            bytes: 0..size,
            buffer: None,
            replaced: false,
        };
        let own = self.lifetime(m, &tenant, Some(dot));
        let first = self.gap(m, own, size, |meeting| meeting == Meeting::Together);
        tenant.bytes = first..first + size;
        self.tenants.push(tenant);
    }

    /// When a tile is in its buffer: for those who read it there, those who may read it there yet, and `dot`.
    fn lifetime(&self, m: &Module, tenant: &Tenant, dot: Option<OpId>) -> Lifetime {
        let tile = tenant.stored.tile;
        let transposed = |&o: &OpId| C::of(m.op(o).kind) == Some(C::Permute);
        let tiles = m.users(tile).into_iter().filter(transposed);
        let tiles: Vec<ValueId> = tiles.map(|o| m.result(o)).chain([tile]).collect();
        let may = tiles.iter().flat_map(|&tile| {
            m.users(tile).into_iter().filter(move |&o| {
                let matmul = Matmul::of(m.op(o));
                matmul.is_some_and(|p| p.sources().any(|v| v == tile))
            })
        });
        let reads = tenant.buffer.map_or(Vec::new(), |b| readers(m, b));
        Lifetime::of_tile(m, self.body, tile, may.chain(reads).chain(dot))
    }

    /// The buffer of a tile that `dot` reads, which is in a plan made [`Staging::with`] it. `value` is stored there, in
    /// this layout, if that was not done for another matmul.
    pub fn place(
        &mut self,
        m: &mut Module,
        dot: OpId,
        stored: Stored,
        value: ValueId,
        layout: &SharedLayout,
    ) -> ValueId {
        let Some(at) = self.find(stored) else {
            *self = self.with(m, dot, [stored]);
            return self.place(m, dot, stored, value, layout);
        };
        if let Some(buffer) = self.tenants[at].buffer {
            return buffer;
        }
        let repeats = loop_around(m, self.body, behind(m, value).0).is_some();
        let ty = shared_type(m, value, layout, 1);
        let buffer = m.at(self.body, 0).value(S::AllocTensor, &[], [None], ty);
        self.tenants[at].buffer = Some(buffer);
        store_at(m, behind(m, value), [value, buffer], dot, repeats);
        buffer
    }

    /// Says where the buffers are in `room` bytes, if some share them, and returns how many are left. What is stored in
    /// bytes that another tile had before waits for those who read that, so that tiles share bytes in turn only where
    /// they have to.
    pub fn finish(self, m: &mut Module, room: u64) -> u64 {
        let roomy = self.without_turns(m);
        let all = if roomy.bytes() <= room { roomy } else { self };
        let left = room.saturating_sub(all.bytes());
        let count = all.tenants.len();
        let shares = |at| all.neighbours(m, at, None).next().is_some();
        if !(0..count).any(shares) {
            return left;
        }
        let follows = |at| all.neighbours(m, at, None).any(|n| n == Meeting::After);
        let follow: Vec<bool> = (0..count).map(follows).collect();
        for (tenant, follows) in all.tenants.iter().zip(follow) {
            let Some(buffer) = tenant.buffer else {
                continue;
            };
            if let Some(alloc) = m.def_op(buffer) {
                m.set_i32(alloc, "byte", tenant.bytes.start as i64);
            }
            if follows {
                wait(m, buffer);
            }
        }
        left
    }

    /// The same tiles, of which only those share bytes that control flow keeps apart.
    fn without_turns(&self, m: &Module) -> Staging {
        let mut all = Staging::new(self.body);
        for tenant in &self.tenants {
            let own = self.lifetime(m, tenant, None);
            let size = tenant.bytes.end - tenant.bytes.start;
            let first = all.gap(m, own, size, |meeting| meeting != Meeting::Apart);
            all.tenants.push(Tenant {
                bytes: first..first + size,
                ..tenant.clone()
            });
        }
        all
    }

    /// The lowest place for `size` bytes that leaves those of tiles alone whose lifetimes meet `own`.
    fn gap(&self, m: &Module, own: Lifetime, size: u64, meets: impl Fn(Meeting) -> bool) -> u64 {
        let stands = |t: &Tenant| own.meeting(m, self.body, self.lifetime(m, t, None));
        let taken = self.tenants.iter().filter(|t| meets(stands(t)));
        lowest_gap(taken.map(|t| t.bytes.clone()), size)
    }
}

/// What uses a buffer, views of it looked through.
fn readers(m: &Module, buffer: ValueId) -> Vec<OpId> {
    let is_view = |o: OpId| S::of(m.op(o).kind) == Some(S::SharedView);
    let through = |o| match is_view(o) {
        true => readers(m, m.result(o)),
        false => vec![o],
    };
    m.users(buffer).into_iter().flat_map(through).collect()
}

/// A barrier in front of the store to a buffer, if there is none yet.
fn wait(m: &mut Module, buffer: ValueId) {
    let is = |m: &Module, o: OpId, kind: S| S::of(m.op(o).kind) == Some(kind);
    let users = m.users(buffer).into_iter();
    let stores: Vec<OpId> = users.filter(|&o| is(m, o, S::LocalStore)).collect();
    for store in stores {
        let (block, at) = place(m, store);
        let before = at.checked_sub(1).and_then(|i| m.block(block).ops.get(i));
        if before.is_some_and(|&o| is(m, o, S::ProxyFence)) {
            continue;
        }
        let loc = m.op(store).loc;
        let mut b = m.at(block, at);
        b.loc = loc;
        b.op(S::ProxyFence, &[], [], &[], &[]);
    }
}

/// Stores a tile to a buffer at a place, for `dot`; `waits`: threads may still read there what was stored before.
pub fn store_at(
    m: &mut Module,
    (block, at): (BlockId, usize),
    [tile, buffer]: [ValueId; 2],
    dot: OpId,
    waits: bool,
) {
    let loc = m.op(dot).loc;
    let mut b = m.at(block, at);
    b.loc = loc;
    if waits {
        b.op(S::ProxyFence, &[], [], &[], &[]);
    }
    // Other threads read it after the barrier of the fence.
    b.op(S::LocalStore, &[&[tile], &[buffer], &[], &[]], [], &[], &[]);
    b.op(S::ProxyFence, &[], [], &[], &[]);
}

/// Where a buffer lies in the bytes that operands share, if it is one of theirs.
pub fn shared_bytes(m: &Module, alloc: OpId) -> Option<Range<u64>> {
    let v = view::AllocTensor::of(m.op(alloc))?;
    let first = u64::try_from(v.byte()?).ok()?;
    Some(first..first + buffer_bytes(m, v.result())?)
}
