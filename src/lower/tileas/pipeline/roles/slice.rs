//! What one warp role runs of a kernel: some operations, all that they depend on, and the control flow around them.

use rustc_hash::FxHashSet;

use super::super::slice::Map;
use super::super::tokens::{jumps, loads_freely};
use super::reductions;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::nv_tileas::{self, Op as S};
use crate::ir::{BlockId, Def, Module, OpId, Type, ValueId};
use crate::lower::tileas::flow::jump_target;
use crate::lower::tileas::look::elements;
use crate::lower::tileas::pipeline::ahead::MOST_INDICES;

/// The operations of a function that a role needs, and what its loops and branches carry for them.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    ops: FxHashSet<OpId>,
    /// Arguments of loop bodies and results of loops and branches.
    carried: FxHashSet<ValueId>,
    /// Reductions that the role's thread does for itself.
    reductions: Vec<OpId>,
}

/// Why a role of one thread cannot run a kernel's part.
#[derive(Clone, Copy, Debug)]
pub struct Blocked {
    pub op: OpId,
    pub why: &'static str,
}

/// Works out a [`Slice`].
struct Builder<'m> {
    m: &'m Module,
    body: BlockId,
    /// Operations in front of the roles, which all warps run.
    shared: &'m FxHashSet<OpId>,
    /// Whether the role has the warps that tiles are spread over.
    tiles: bool,
    slice: Slice,
    work: Vec<ValueId>,
    seen: FxHashSet<ValueId>,
}

impl Slice {
    /// The slice of the function with this `body` that runs `kept`, loads whose tokens it does not wait for.
    /// `shared` operations run before the roles part. The role is one thread, or, with `tiles`, as many as the consumers'.
    pub fn of(
        m: &Module,
        body: BlockId,
        kept: &[OpId],
        shared: &FxHashSet<OpId>,
        tiles: bool,
    ) -> Result<Slice, Blocked> {
        let mut b = Builder {
            m,
            body,
            shared,
            tiles,
            slice: Slice::default(),
            work: Vec::new(),
            seen: FxHashSet::default(),
        };
        // Early ends of the kernel end every role.
        let ends = |o: &OpId| S::of(m.op(*o).kind) == Some(S::Return) && m.op(*o).block != body;
        let ends: Vec<OpId> = m.ops_under(body).into_iter().filter(ends).collect();
        for &op in kept.iter().chain(&ends) {
            b.slice.ops.insert(op);
            b.operands(op);
            b.control(m.op(op).block);
        }
        while let Some(value) = b.work.pop() {
            if b.seen.insert(value) {
                b.value(value)?;
            }
        }
        Ok(b.slice)
    }
}

impl Slice {
    /// The same, of a program that says of the results of reductions that both roles find them.
    pub fn agreed(
        m: &mut Module,
        body: BlockId,
        kept: &[OpId],
        shared: &FxHashSet<OpId>,
        tiles: bool,
    ) -> Result<Slice, Blocked> {
        let slice = Slice::of(m, body, kept, shared, tiles)?;
        if slice.reductions.is_empty() {
            return Ok(slice);
        }
        reductions::agree(m, body, &slice.reductions);
        Slice::of(m, body, kept, shared, tiles)
    }
}

impl Builder<'_> {
    /// Operands of an access or of plain computation; tokens are not waited for.
    fn operands(&mut self, op: OpId) {
        let data = self.m.op(op);
        let token = |v: &&ValueId| !matches!(self.m.types.get(self.m.ty(**v)), Type::Token);
        self.work.extend(data.operands.iter().filter(token));
    }

    fn value(&mut self, value: ValueId) -> Result<(), Blocked> {
        match self.m.value(value).def {
            Def::Result { op, .. } if self.shared.contains(&op) => Ok(()),
            Def::Result { op, index } => match C::of(self.m.op(op).kind) {
                Some(C::For | C::Loop | C::If) => {
                    self.carried(op, value, index as usize, true);
                    Ok(())
                }
                _ => self.plain(op),
            },
            Def::Argument { block, index } => {
                let parent = self.m.region(self.m.block(block).region).parent;
                // All roles know the kernel's parameters.
                if block != self.body && S::of(self.m.op(parent).kind) != Some(S::Func) {
                    let counter = usize::from(C::of(self.m.op(parent).kind) == Some(C::For));
                    self.control(block);
                    if index as usize >= counter {
                        self.carried(parent, value, index as usize - counter, false);
                    }
                }
                Ok(())
            }
        }
    }

    /// Value number `index` of what a loop or branch hands on, as its result or inside it.
    fn carried(&mut self, op: OpId, value: ValueId, index: usize, result: bool) {
        let m = self.m;
        self.slice.carried.insert(value);
        let kind = C::of(m.op(op).kind);
        for region in 0..m.op(op).regions.len() {
            if let Some(body) = m.body_of(op, region) {
                self.control(body);
            }
        }
        if kind == Some(C::For) {
            // The argument and the result are one thing.
            let argument = m
                .body_of(op, 0)
                .and_then(|b| m.block(b).args.get(index + 1));
            self.work.extend(argument);
            self.work.extend(m.op(op).results.get(index));
        }
        if kind == Some(C::For) || kind == Some(C::Loop) && !result {
            let inits = m.op(op).group(m.op(op).groups.len().saturating_sub(1));
            self.work.extend(inits.get(index));
        }
        for jump in jumps(m, op) {
            let hands_on = match (kind, C::of(m.op(jump).kind)) {
                (Some(C::Loop), Some(C::Break)) => result,
                (Some(C::Loop), _) => !result,
                _ => true,
            };
            if hands_on {
                self.work.extend(m.op(jump).operands.get(index));
            }
        }
    }

    /// A pure operation on single elements, a load of one that waits for no write, or a reduction that a thread can do.
    fn plain(&mut self, op: OpId) -> Result<(), Blocked> {
        if !self.slice.ops.insert(op) {
            return Ok(());
        }
        let (m, data) = (self.m, self.m.op(op));
        if let Some(needed) = reductions::needed(m, op) {
            self.slice.reductions.push(op);
            self.work.extend(needed);
            self.control(data.block);
            return Ok(());
        }
        if let Some(v) = nv_tileas::view::RoleInvariant::of(data) {
            self.work.extend(v.inputs());
            self.control(data.block);
            return Ok(());
        }
        let one = |v: &ValueId| match m.types.get(m.ty(*v)) {
            Type::Tile { shape, .. } => shape.iter().product::<u64>() == 1,
            _ => true,
        };
        let pure = data.only_computes();
        let numbers = S::of(data.kind) == Some(S::Numbers) || data.results.iter().all(one);
        let reads = loads_freely(m, op);
        let why = match () {
            () if !pure && !reads => "has effects",
            () if !numbers && !self.tiles => "computes more than one element",
            () if !numbers && !spreads(m, op) => {
                "computes a tile by more than elements, views and loads of a few numbers"
            }
            () => {
                self.operands(op);
                self.control(data.block);
                return Ok(());
            }
        };
        Err(Blocked { op, why })
    }

    /// Everything that decides whether and how often `block` runs.
    fn control(&mut self, block: BlockId) {
        if block == self.body {
            return;
        }
        let m = self.m;
        let parent = m.region(m.block(block).region).parent;
        if !self.slice.ops.insert(parent) {
            return;
        }
        let data = m.op(parent);
        if let Some(v) = tile::For::of(data) {
            self.work.extend([v.lowerBound(), v.upperBound(), v.step()]);
        } else if let Some(v) = tile::If::of(data) {
            self.work.push(v.condition());
        }
        if matches!(C::of(data.kind), Some(C::For | C::Loop)) {
            for jump in jumps(m, parent) {
                self.control(m.op(jump).block);
            }
        }
        self.control(data.block);
    }
}

/// Whether the threads of a producer can make a tile: element by element, or of a few numbers that they load.
fn spreads(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let loads = matches!(S::of(data.kind), Some(S::Load | S::TiledLoad))
        && data.results.iter().all(|&r| elements(m, r) <= MOST_INDICES);
    let views = matches!(
        C::of(data.kind),
        Some(C::Constant | C::Iota | C::Reshape | C::Broadcast | C::Assume | C::Extract)
    );
    loads || views || data.def().traits.has(Traits::ELEMENTWISE)
}

/// Copies a slice.
pub struct Copier<'s> {
    pub slice: &'s Slice,
    /// Old value to new value.
    pub map: Map,
    /// Old operation to new operation, of those without regions.
    pub ops: rustc_hash::FxHashMap<OpId, OpId>,
}

impl<'s> Copier<'s> {
    pub fn new(slice: &'s Slice) -> Self {
        Self {
            slice,
            map: Map::default(),
            ops: rustc_hash::FxHashMap::default(),
        }
    }

    fn get(&self, value: ValueId) -> ValueId {
        self.map.get(&value).copied().unwrap_or(value)
    }

    /// Appends the slice's part of `from` to `to`; the function's own terminator is left out.
    pub fn block(&mut self, m: &mut Module, from: BlockId, to: BlockId) {
        for op in m.block(from).ops.clone() {
            let kind = C::of(m.op(op).kind);
            match kind {
                Some(C::Continue | C::Break | C::Yield) => self.jump(m, op, to),
                _ if !self.slice.ops.contains(&op) => {}
                Some(C::For | C::Loop | C::If) => self.structured(m, op, to),
                _ => self.plain(m, op, to),
            }
        }
    }

    /// Which of these values the slice has.
    fn kept(&self, values: &[ValueId]) -> Vec<usize> {
        let kept = |i: &usize| self.slice.carried.contains(&values[*i]);
        (0..values.len()).filter(kept).collect()
    }

    /// The places of the values that `jump` hands on.
    fn handed_on(&self, m: &Module, jump: OpId) -> Vec<usize> {
        let Some(target) = jump_target(m, jump) else {
            return Vec::new();
        };
        let around = C::of(m.op(jump).kind) == Some(C::Continue)
            && C::of(m.op(target).kind) == Some(C::Loop);
        match m.body_of(target, 0).filter(|_| around) {
            Some(body) => self.kept(&m.block(body).args),
            None => self.kept(&m.op(target).results),
        }
    }

    fn jump(&mut self, m: &mut Module, op: OpId, to: BlockId) {
        let data = m.op(op).clone();
        let places = self.handed_on(m, op);
        let operands: Vec<ValueId> = places
            .iter()
            .filter_map(|&i| data.operands.get(i).map(|&v| self.get(v)))
            .collect();
        m.at_end(to)
            .op(data.kind, &[&operands], data.attrs, &[], &[]);
    }

    fn plain(&mut self, m: &mut Module, op: OpId, to: BlockId) {
        if nv_tileas::view::RoleInvariant::of(m.op(op)).is_some() {
            let copied = reductions::copy_agreed(m, op, to, &mut self.map);
            debug_assert!(
                copied.is_some(),
                "a slice has what its reductions are made of"
            );
            return;
        }
        let data = m.op(op).clone();
        let mut groups: Vec<Vec<ValueId>> = Vec::new();
        for i in 0..data.groups.len() {
            let waits = |v: &&ValueId| !matches!(m.types.get(m.ty(**v)), Type::Token);
            groups.push(
                data.group(i)
                    .iter()
                    .filter(waits)
                    .map(|&v| self.get(v))
                    .collect(),
            );
        }
        let groups: Vec<&[ValueId]> = groups.iter().map(Vec::as_slice).collect();
        let types: Vec<_> = data.results.iter().map(|&r| m.ty(r)).collect();
        let mut b = m.at_end(to);
        b.loc = data.loc;
        let new = b.op(data.kind, &groups, data.attrs.iter().cloned(), &types, &[]);
        for (&old, new) in data.results.iter().zip(m.op(new).results.clone()) {
            self.map.insert(old, new);
        }
        self.ops.insert(op, new);
    }

    fn structured(&mut self, m: &mut Module, op: OpId, to: BlockId) {
        let data = m.op(op).clone();
        let results = self.kept(&data.results);
        let mut regions = Vec::new();
        let mut arguments = Vec::new();
        for i in 0..data.regions.len() {
            let region = m.new_region();
            regions.push(region);
            let Some(body) = m.body_of(op, i) else {
                continue;
            };
            let args = m.block(body).args.to_vec();
            let counter = usize::from(C::of(data.kind) == Some(C::For));
            let places: Vec<usize> = match counter {
                1 => results.clone(),
                _ => self.kept(&args),
            };
            arguments = places.clone();
            let of = (0..counter).chain(places.iter().map(|p| p + counter));
            let old: Vec<ValueId> = of.filter_map(|i| args.get(i).copied()).collect();
            let types: Vec<_> = old.iter().map(|&v| m.ty(v)).collect();
            let block = m.new_block(region, &types);
            for (&old, new) in old.iter().zip(m.block(block).args.clone()) {
                self.map.insert(old, new);
            }
            self.block(m, body, block);
        }
        let last = data.groups.len().saturating_sub(1);
        let mut groups: Vec<Vec<ValueId>> = (0..data.groups.len())
            .map(|i| data.group(i).iter().map(|&v| self.get(v)).collect())
            .collect();
        if matches!(C::of(data.kind), Some(C::For | C::Loop))
            && let Some(inits) = groups.get_mut(last)
        {
            *inits = arguments
                .iter()
                .filter_map(|&i| inits.get(i).copied())
                .collect();
        }
        let groups: Vec<&[ValueId]> = groups.iter().map(Vec::as_slice).collect();
        let types: Vec<_> = results.iter().map(|&i| m.ty(data.results[i])).collect();
        let mut b = m.at_end(to);
        b.loc = data.loc;
        let new = b.op(
            data.kind,
            &groups,
            data.attrs.iter().cloned(),
            &types,
            &regions,
        );
        for (&i, new) in results.iter().zip(m.op(new).results.clone()) {
            self.map.insert(data.results[i], new);
        }
    }
}
