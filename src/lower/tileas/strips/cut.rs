//! One dimension cut in parts: which operations that concerns, and the loop over the parts.

use super::dims::{Dim, Dims};
use super::parts::Parts;
use super::sums::{check, combine, reduces, start};
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Ordering;
use crate::dialect::nv_tileas::Op as S;
use crate::facts::access;
use crate::ir::{BlockId, Def, Module, OpId, Type, ValueId};
use crate::lower::build::constant;
use crate::lower::tileas::look::{ancestor_in, is_matmul, loop_around};
use crate::lower::tileas::missed::Refusal;
use crate::lower::tileas::pipeline::slice::Map;
use crate::lower::tileas::pipeline::tokens::only_read;
use rustc_hash::{FxHashMap, FxHashSet};

/// Accesses that read, and that write, what threads hold.
const LOADS: [S; 2] = [S::Load, S::TiledLoad];
const STORES: [S; 2] = [S::Store, S::TiledStore];

/// A dimension that can be cut.
pub struct Cut {
    parts: Parts,
    /// The block in which the loop over the parts stands.
    home: BlockId,
    /// Operations of `home` that go into the loop, in order.
    inside: Vec<OpId>,
    /// Operations between these that do not depend on the part.
    before: Vec<OpId>,
    /// Operations of the span that wait for reductions over all parts, these among them: they go behind the loop.
    behind: Vec<OpId>,
    /// Reductions over the dimension.
    sums: Vec<OpId>,
    /// Cheap tiles made elsewhere, to be made anew for a part.
    again: Vec<OpId>,
    /// Tokens from inside that something behind waits for.
    tokens: Vec<ValueId>,
}

impl Cut {
    /// Whether the dimension can be cut, and how.
    pub fn plan(
        m: &Module,
        body: BlockId,
        dims: &mut Dims,
        set: Dim,
        parts: u64,
    ) -> Result<Cut, Refusal> {
        Self::plan_among(m, body, &m.ops_under(body), dims, set, parts)
    }

    /// The same where `ops` alone are cut, some of those under `body`.
    pub fn plan_among(
        m: &Module,
        body: BlockId,
        ops: &[OpId],
        dims: &mut Dims,
        set: Dim,
        parts: u64,
    ) -> Result<Cut, Refusal> {
        let (parts, concerned) = Parts::of(m, ops, dims, set, parts)?;
        let cheap = cheap(m, &concerned, &parts.dims);
        let anchors: Vec<OpId> = (concerned.iter().copied())
            .filter(|o| !cheap.contains(o))
            .collect();
        let home = around(m, body, &anchors);
        let at = |op: OpId| m.block(home).ops.iter().position(|&o| o == op);
        let positions = anchors
            .iter()
            .filter_map(|&o| at(ancestor_in(m, body, home, o)?));
        let (Some(first), Some(last)) = (positions.clone().min(), positions.max()) else {
            return Err((
                m.region(m.block(body).region).parent,
                "no operation has the dimension that would be split".into(),
            ));
        };
        let span = m.block(home).ops.get(first..=last).unwrap_or(&[]).to_vec();
        let mut cut = Cut {
            parts,
            home,
            inside: Vec::new(),
            before: Vec::new(),
            behind: Vec::new(),
            sums: Vec::new(),
            again: Vec::new(),
            tokens: Vec::new(),
        };
        cut.sort(m, &span, &concerned);
        cut.check(m, body, &concerned)?;
        let within: FxHashSet<OpId> = cut.under(m);
        let mut needed: FxHashSet<OpId> = within.clone();
        needed.extend(&cut.sums);
        for &op in concerned.iter().rev() {
            let used = m.op(op).results.iter().any(|r| {
                let uses = |o: &OpId| m.op(*o).operands.contains(r);
                needed.iter().any(uses)
            });
            if used && cheap.contains(&op) && !within.contains(&op) {
                needed.insert(op);
            }
        }
        cut.again = (concerned.iter().copied())
            .filter(|o| needed.contains(o) && !within.contains(o) && !cut.sums.contains(o))
            .collect();
        match cut.reads_whole(m, &needed) {
            Some(op) => Err((op, "a tile that is not cut has the dimension".to_owned())),
            None => Ok(cut),
        }
    }

    /// One of the operations `cut` that reads a tile with the dimension that none of them makes.
    fn reads_whole(&self, m: &Module, cut: &FxHashSet<OpId>) -> Option<OpId> {
        let made = |v: &ValueId| {
            let by = match m.value(*v).def {
                Def::Result { op, .. } => op,
                Def::Argument { block, .. } => m.region(m.block(block).region).parent,
            };
            !self.parts.dims.contains_key(v) || cut.contains(&by)
        };
        let mut ops = cut.iter().copied();
        ops.find(|&o| !m.op(o).operands.iter().all(made))
    }

    /// The operations that go into the loop, with those in their regions.
    fn under(&self, m: &Module) -> FxHashSet<OpId> {
        let mut all = FxHashSet::default();
        for &op in &self.inside {
            all.insert(op);
            for &region in &m.op(op).regions {
                for &block in &m.region(region).blocks {
                    all.extend(m.ops_under(block));
                }
            }
        }
        all
    }

    /// Sorts what stands in the span: what does not depend on the part and can be done earlier goes in front, and what waits
    /// for all parts behind.
    fn sort(&mut self, m: &Module, span: &[OpId], concerned: &[OpId]) {
        let mut kept: FxHashSet<OpId> = FxHashSet::default();
        let mut late: FxHashSet<OpId> = FxHashSet::default();
        for &op in span {
            let data = m.op(op);
            let folded = reduces(m, op, &self.parts);
            let waits = |o: &OpId| {
                let mut by = m.op(*o).operands.iter().filter_map(|&v| m.def_op(v));
                by.any(|d| late.contains(&d))
            };
            if folded || !late.is_empty() && (waits(&op) || m.ops_inside(op).iter().any(waits)) {
                late.insert(op);
                self.behind.push(op);
                self.sums.extend(folded.then_some(op));
                continue;
            }
            let reads = is_weak_load(m, op);
            let folds = matches!(C::of(data.kind), Some(C::Reduce | C::Scan));
            let plain = data.only_computes() || folds || data.regions.is_empty() && reads;
            let depends =
                (data.operands.iter()).any(|&v| m.def_op(v).is_some_and(|d| kept.contains(&d)));
            if plain && !depends && !concerned.contains(&op) {
                self.before.push(op);
            } else {
                kept.insert(op);
                self.inside.push(op);
            }
        }
    }

    /// Whether what goes into the loop may be done once for each part.
    fn check(&mut self, m: &Module, body: BlockId, concerned: &[OpId]) -> Result<(), Refusal> {
        let no = |op: OpId, why: &str| Err((op, why.to_owned()));
        let under = self.under(m);
        for &op in &self.sums {
            check(m, op)?;
            if loop_around(m, body, self.home).is_some() {
                return no(
                    op,
                    "the loop around it would wait for all parts in each iteration",
                );
            }
        }
        for &op in concerned {
            let again = matches!(C::of(m.op(op).kind), Some(C::For | C::Loop));
            if again && !self.sums.is_empty() {
                return no(op, "a loop would be done again for each part");
            }
            let sums = self.sums.contains(&op);
            if self.behind.contains(&op) && !sums {
                return no(op, "it waits for a reduction over all parts");
            }
            if !sums && reduces(m, op, &self.parts) {
                return no(
                    op,
                    "a reduction over all parts stands in a loop or a branch",
                );
            }
        }
        for op in m.ops_under(body) {
            let data = m.op(op);
            if self.sums.contains(&op) {
                continue;
            }
            if !under.contains(&op) {
                for &v in &data.operands {
                    if m.def_op(v).is_none_or(|d| !under.contains(&d)) {
                        continue;
                    }
                    if !matches!(m.types.get(m.ty(v)), Type::Token) {
                        return no(
                            op,
                            "a value that is computed from one part is used after all of them",
                        );
                    }
                    if !self.tokens.contains(&v) {
                        self.tokens.push(v);
                    }
                }
                continue;
            }
            let traits = data.def().traits;
            let flow = traits.has(Traits::TERMINATOR) && S::of(data.kind) != Some(S::Return)
                || matches!(
                    C::of(data.kind),
                    Some(C::For | C::Loop | C::If | C::Reduce | C::Scan)
                )
                || traits.has(Traits::PURE);
            let moved = matches!(S::of(data.kind), Some(S::TensorLoad | S::LocalStore))
                && concerned.contains(&op);
            if moved && !self.parts.stores(m, op) {
                return no(op, "parts do not lie one behind the other in shared memory");
            }
            let store = S::of(data.kind).is_some_and(|k| STORES.contains(&k))
                && concerned.contains(&op)
                && is_weak(m, op);
            if is_weak_load(m, op) {
                let waits =
                    |t: ValueId| !only_read(m, t) && self.waits_inside(m, t, &under, &LOADS);
                if access::token(data).is_some_and(waits) {
                    return no(
                        op,
                        "the load's token makes it wait for a write of all parts",
                    );
                }
            } else if store {
                if access::token(data).is_some_and(|t| self.waits_inside(m, t, &under, &STORES)) {
                    return no(
                        op,
                        "the store's token makes it wait for a load of all parts",
                    );
                }
            } else if !flow && !moved {
                return no(
                    op,
                    "it has an effect, which would happen once for each part",
                );
            }
        }
        Ok(())
    }

    /// Whether a token follows an access that goes into the loop, other than `those`.
    fn waits_inside(
        &self,
        m: &Module,
        token: ValueId,
        under: &FxHashSet<OpId>,
        those: &[S],
    ) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![token];
        while let Some(token) = work.pop() {
            if !seen.insert(token) {
                continue;
            }
            let Def::Result { op, .. } = m.value(token).def else {
                let Def::Argument { block, .. } = m.value(token).def else {
                    continue;
                };
                // A loop inside that carries tokens may read.
                if under.contains(&m.region(m.block(block).region).parent) {
                    return true;
                }
                continue;
            };
            if !under.contains(&op) {
                continue;
            }
            let (tile, kind) = (C::of(m.op(op).kind), S::of(m.op(op).kind));
            let passes = kind.is_some_and(|k| those.contains(&k)) && is_weak(m, op);
            if passes || tile == Some(C::JoinTokens) {
                let tokens = m.op(op).operands.iter().copied();
                work.extend(tokens.filter(|&v| matches!(m.types.get(m.ty(v)), Type::Token)));
            } else if tile != Some(C::MakeToken) {
                return true;
            }
        }
        false
    }

    /// Rewrites the program.
    pub fn apply(mut self, m: &mut Module, function: BlockId) {
        let mut under: Vec<OpId> = self.under(m).into_iter().collect();
        under.extend(&self.sums);
        under.sort_unstable();
        let ops = std::mem::take(&mut m.block_mut(self.home).ops);
        let start = ops
            .iter()
            .position(|o| self.inside.first() == Some(o) || self.before.first() == Some(o));
        let start = start.unwrap_or(ops.len());
        let end = start + self.before.len() + self.inside.len() + self.behind.len();
        m.block_mut(self.home).ops = ops[..start].iter().chain(&self.before).copied().collect();
        let (body, counter, carried, bounds) = self.open(m);
        let mut map = Map::default();
        self.parts
            .make_again(m, &self.again, body, counter, &mut map);
        for &op in &self.inside {
            let at = m.block(body).ops.len();
            m.place(op, body, at);
        }
        for &op in &under {
            m.replace_operands(op, &map);
        }
        self.parts.rewrite(m, &under, counter);
        self.close(m, body, &carried, bounds);
        let rest = self.behind.iter().chain(&ops[end..]);
        m.block_mut(self.home).ops.extend(rest);
        for &op in self.again.iter().rev() {
            let results = m.op(op).results.clone();
            let used = |o: OpId| m.op(o).operands.iter().any(|v| results.contains(v));
            if !m.ops_under(function).into_iter().any(used) {
                m.erase(op);
            }
        }
    }

    /// The body of the loop over the parts, its counter, the carried tokens and sums, and bounds with what is carried first.
    fn open(&self, m: &mut Module) -> (BlockId, ValueId, Vec<ValueId>, Vec<ValueId>) {
        let i32_ty = m.types.int(32);
        let ty = m.types.tile(i32_ty, &[]);
        let token = self.tokens.first().map(|&t| m.ty(t));
        let mut b = m.at_end(self.home);
        let mut bounds: Vec<ValueId> = [0, self.parts.count as i64, 1]
            .into_iter()
            .map(|n| constant(&mut b, n, ty))
            .collect();
        let mut types = vec![ty];
        for _ in &self.tokens {
            let token = token.unwrap_or(ty);
            bounds.push(b.value(C::MakeToken, &[], [], token));
            types.push(token);
        }
        for &sum in &self.sums {
            bounds.extend(start(&mut b, sum, &self.parts));
        }
        let sums = bounds.iter().skip(types.len() + 2);
        types.extend(sums.map(|&v| m.ty(v)).collect::<Vec<_>>());
        let region = m.new_region();
        let body = m.new_block(region, &types);
        let args = m.block(body).args.to_vec();
        (body, args[0], args[1..].to_vec(), bounds)
    }

    /// The loop itself, and its tokens and sums behind it.
    fn close(&self, m: &mut Module, body: BlockId, carried: &[ValueId], bounds: Vec<ValueId>) {
        let mut last = Vec::new();
        for (&token, &before) in self.tokens.iter().zip(carried) {
            let ty = m.ty(token);
            let both: [&[ValueId]; 1] = [&[before, token]];
            let joined = m.at_end(body).op(C::JoinTokens, &both, [], &[ty], &[]);
            last.push(m.result(joined));
        }
        let mut sums = carried.iter().copied().skip(self.tokens.len());
        for &sum in &self.sums {
            let tiles = m.op(sum).operands.len();
            let so_far: Vec<ValueId> = sums.by_ref().take(tiles).collect();
            last.extend(combine(m, sum, body, &so_far));
        }
        m.at_end(body).op(C::Continue, &[&last], [], &[], &[]);
        let types: Vec<_> = last.iter().map(|&v| m.ty(v)).collect();
        let region = m.block(body).region;
        let loc = self.inside.last().map(|&o| m.op(o).loc);
        let groups: [&[ValueId]; 4] = [&bounds[..1], &bounds[1..2], &bounds[2..3], &bounds[3..]];
        let mut b = m.at_end(self.home);
        b.loc = loc.unwrap_or(b.loc);
        let strips = b.op(C::For, &groups, [None], &types, &[region]);
        let results = m.op(strips).results.clone();
        let inside: FxHashSet<OpId> = m.ops_under(body).into_iter().collect();
        for (&token, &result) in self.tokens.iter().zip(&results) {
            m.replace_all_uses(token, result);
            for &op in &inside {
                m.replace_operands(op, &[(result, token)].into_iter().collect());
            }
        }
        let mut sums = results.iter().copied().skip(self.tokens.len());
        for &sum in &self.sums {
            for (tile, result) in m.op_mut(sum).operands.iter_mut().zip(sums.by_ref()) {
                *tile = result;
            }
        }
    }
}

/// Pure operations whose cut tiles come from constants and numbers alone.
pub fn cheap(
    m: &Module,
    concerned: &[OpId],
    places: &FxHashMap<ValueId, usize>,
) -> FxHashSet<OpId> {
    let mut cheap = FxHashSet::default();
    for &op in concerned {
        let data = m.op(op);
        let known = |&v: &ValueId| {
            !places.contains_key(&v) || m.def_op(v).is_some_and(|d| cheap.contains(&d))
        };
        if data.only_computes() && !is_matmul(m, op) && data.operands.iter().all(known) {
            cheap.insert(op);
        }
    }
    cheap
}

/// The innermost block that holds all of `ops`, the function's `body` at last.
fn around(m: &Module, body: BlockId, ops: &[OpId]) -> BlockId {
    let mut home = ops.first().map_or(body, |&o| m.op(o).block);
    while home != body && !ops.iter().all(|&o| ancestor_in(m, body, home, o).is_some()) {
        home = m.op(m.region(m.block(home).region).parent).block;
    }
    home
}

/// A load that needs no order beside its tokens.
pub fn is_weak_load(m: &Module, op: OpId) -> bool {
    is_weak(m, op) && S::of(m.op(op).kind).is_some_and(|k| LOADS.contains(&k))
}

fn is_weak(m: &Module, op: OpId) -> bool {
    access::ordering(m.op(op)) == Ordering::Weak
}
