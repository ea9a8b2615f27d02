//! Which dimensions of which tiles are one thing: cutting one of them in parts cuts all.

use crate::dialect::cuda_tile::view as tile;
use crate::facts::gcd;
use crate::facts::matmul::Matmul;
use crate::lower::tileas::buffers::part_of;
use crate::lower::tileas::look::is_matmul;
use ena::unify::{InPlaceUnificationTable, UnifyKey, UnifyValue};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access::{Access, tile_of};
use crate::ir::{AssumePredicate, Attr, Dense, Module, OpId, ValueId};
use crate::lower::tileas::flow::carried;
use crate::lower::tileas::relation::Relation;

/// A set of dimensions of tiles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dim(u32);

impl UnifyKey for Dim {
    type Value = Cuts;
    fn index(&self) -> u32 {
        self.0
    }
    fn from_index(i: u32) -> Self {
        Dim(i)
    }
    fn tag() -> &'static str {
        "dimension"
    }
}

/// Into how many parts a dimension can be cut: as many as divide the number, one where some operation needs it whole; zero
/// where nothing limits them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cuts(u64);

impl Cuts {
    const ANY: Cuts = Cuts(0);
    const WHOLE: Cuts = Cuts(1);
}

impl UnifyValue for Cuts {
    type Error = ena::unify::NoError;
    fn unify_values(a: &Self, b: &Self) -> Result<Self, Self::Error> {
        Ok(Cuts(gcd(a.0, b.0)))
    }
}

/// The dimensions of all tiles of a function.
#[derive(Default)]
pub struct Dims {
    table: InPlaceUnificationTable<Dim>,
    keys: FxHashMap<(ValueId, usize), Dim>,
    /// Matmuls that may do a part of what they sum over at a time: their results are added up.
    in_parts: FxHashSet<OpId>,
    /// Whether matmuls may do a part of their batches at a time.
    batches: bool,
    /// Whether reductions may take a part of what they reduce at a time.
    reductions: bool,
    /// Whether changes of shape may take a part of a dimension that they split or join, where that is a part of memory, too.
    reshapes: bool,
}

/// The extents of a tile; none of a scalar or something else.
pub fn extents(m: &Module, value: ValueId) -> Vec<u64> {
    m.types
        .as_tile(m.ty(value))
        .map_or_else(Vec::new, |t| t.1.to_vec())
}

impl Dims {
    /// The dimensions of what `ops` use and make.
    pub fn of(m: &Module, ops: &[OpId]) -> Dims {
        Self::with_sums(m, ops, [])
    }

    /// The same where the matmuls `sums` may do a part of what they sum over at a time.
    pub fn with_sums(m: &Module, ops: &[OpId], sums: impl IntoIterator<Item = OpId>) -> Dims {
        let dims = Dims {
            in_parts: sums.into_iter().collect(),
            ..Dims::default()
        };
        dims.related_by(m, ops)
    }

    /// The same where changes of shape may do a part of the outermost of the dimensions that they split or join: whoever
    /// cuts these asks [`Self::divides`], as [`Parts::of`](super::parts::Parts::of) does.
    pub fn with_reshapes(m: &Module, ops: &[OpId]) -> Dims {
        let dims = Dims {
            reshapes: true,
            ..Dims::default()
        };
        dims.related_by(m, ops)
    }

    /// The same where matmuls may do a part of their batches at a time.
    pub fn with_batches(m: &Module, ops: &[OpId]) -> Dims {
        let dims = Dims {
            batches: true,
            ..Dims::default()
        };
        dims.related_by(m, ops)
    }

    /// The same where reductions may take a part of what they reduce at a time.
    pub fn with_reductions(m: &Module, ops: &[OpId]) -> Dims {
        let dims = Dims {
            reductions: true,
            ..Dims::default()
        };
        dims.related_by(m, ops)
    }

    fn related_by(mut self, m: &Module, ops: &[OpId]) -> Dims {
        for &op in ops {
            self.relate(m, op);
            for (from, to) in carried(m, op) {
                self.tie_all(m, from, to);
            }
        }
        self
    }

    /// The set that dimension `i` of `value` is in, unless something needs it whole.
    pub fn free(&mut self, value: ValueId, i: usize) -> Option<Dim> {
        let key = *self.keys.get(&(value, i))?;
        let root = self.table.find(key);
        (self.table.probe_value(root) != Cuts::WHOLE).then_some(root)
    }

    /// Whether the dimensions in `set` can be cut in so many parts.
    pub fn divides(&mut self, set: Dim, parts: u64) -> bool {
        let Cuts(cuts) = self.table.probe_value(set);
        cuts.is_multiple_of(parts)
    }

    /// The dimension of `value` that is in `set`.
    pub fn find(&mut self, m: &Module, value: ValueId, set: Dim) -> Option<usize> {
        (0..extents(m, value).len()).find(|&i| {
            let key = self.keys.get(&(value, i)).copied();
            key.is_some_and(|k| self.table.find(k) == set)
        })
    }

    /// Whether some of `values` has two dimensions in `set`.
    pub fn meets_itself(&mut self, m: &Module, values: &[ValueId], set: Dim) -> bool {
        values.iter().any(|&v| {
            let inside = |d: &mut Dims, i| {
                let key = d.keys.get(&(v, i)).copied();
                key.is_some_and(|k| d.table.find(k) == set)
            };
            (0..extents(m, v).len())
                .filter(|&i| inside(self, i))
                .count()
                > 1
        })
    }

    fn key(&mut self, value: ValueId, i: usize) -> Dim {
        let table = &mut self.table;
        *self
            .keys
            .entry((value, i))
            .or_insert_with(|| table.new_key(Cuts::ANY))
    }

    /// Cuts two dimensions of tiles together.
    pub fn tie(&mut self, a: (ValueId, usize), b: (ValueId, usize)) {
        let (a, b) = (self.key(a.0, a.1), self.key(b.0, b.1));
        self.table.union(a, b);
    }

    fn keep(&mut self, value: ValueId, i: usize) {
        let key = self.key(value, i);
        self.table.union_value(key, Cuts::WHOLE);
    }

    fn keep_all(&mut self, m: &Module, value: ValueId) {
        (0..extents(m, value).len()).for_each(|i| self.keep(value, i));
    }

    /// A part of the columns can be read from tensor memory.
    fn keep_rows(&mut self, m: &Module, load: OpId) {
        let tile = m.result(load);
        let rows = extents(m, tile).len().saturating_sub(1);
        (0..rows).for_each(|i| self.keep(tile, i));
    }

    /// Parts of a tile can be stored to a buffer of one stage in which they lie one behind the other.
    fn keep_but_parts(&mut self, m: &Module, store: OpId) {
        let Some(v) = view::LocalStore::of(m.op(store)) else {
            return;
        };
        let once = v.pipeline().is_none() && v.iteration().is_none();
        for i in 0..extents(m, v.tile()).len() {
            if !once || part_of(m, v.destination(), i, 2).is_none() {
                self.keep(v.tile(), i);
            }
        }
    }

    fn tie_all(&mut self, m: &Module, a: ValueId, b: ValueId) {
        let (left, right) = (extents(m, a), extents(m, b));
        if left == right {
            (0..left.len()).for_each(|i| self.tie((a, i), (b, i)));
        } else {
            self.keep_all(m, a);
            self.keep_all(m, b);
        }
    }

    fn relate(&mut self, m: &Module, op: OpId) {
        let data = m.op(op);
        let all = || data.operands.iter().chain(&data.results).copied();
        all().for_each(|v| {
            (0..extents(m, v).len()).for_each(|i| {
                self.key(v, i);
            });
        });
        if is_matmul(m, op) && self.matmul(m, op) {
            return;
        }
        if let Some(relation) = Relation::of(m, op) {
            for (&source, &result) in data.operands.iter().zip(&data.results) {
                self.related(m, &relation, source, result);
            }
            data.operands
                .windows(2)
                .for_each(|p| self.tie_all(m, p[0], p[1]));
            return;
        }
        let whole = match (C::of(data.kind), S::of(data.kind)) {
            (Some(C::Iota | C::For | C::Loop | C::If | C::Yield | C::Continue | C::Break), _) => {
                return;
            }
            // Of a whole tile, parts can be taken.
            (Some(C::Extract), _) if is_whole(m, op) => {
                self.keep_all(m, m.source(op));
                return;
            }
            (Some(C::Extract | C::Insert | C::Cat), _) => return self.sliced(m, op),
            (Some(C::Constant), _) => !is_splat(m, op),
            (Some(C::Assume), _) => is_along(data.attr(0)),
            (_, Some(S::TiledLoad | S::TiledStore)) => {
                let Some(tile) = tile_of(m, op) else { return };
                let regular = Access::of(data)
                    .is_some_and(|a| a.sparse.is_none() && a.traversal.iter().all(|&t| t > 0));
                if !regular {
                    all().for_each(|v| self.keep_all(m, v));
                }
                self.key(tile, 0);
                return;
            }
            (_, Some(S::Load | S::Store)) => false,
            (_, Some(S::TensorLoad)) => return self.keep_rows(m, op),
            (_, Some(S::LocalStore)) => return self.keep_but_parts(m, op),
            _ => !data.def().traits.has(Traits::ELEMENTWISE),
        };
        let tiles: Vec<ValueId> = all().filter(|&v| !extents(m, v).is_empty()).collect();
        match whole {
            true => tiles.into_iter().for_each(|v| self.keep_all(m, v)),
            false => tiles.windows(2).for_each(|p| self.tie_all(m, p[0], p[1])),
        }
    }

    /// Dimensions of which slices are taken, replaced or put together stay whole; the others go with each other.
    fn sliced(&mut self, m: &Module, op: OpId) {
        let data = m.op(op);
        let values = data.operands.iter().chain(&data.results);
        let tiles: Vec<ValueId> = values
            .copied()
            .filter(|&v| !extents(m, v).is_empty())
            .collect();
        let Some((&first, others)) = tiles.split_first() else {
            return;
        };
        for i in 0..extents(m, first).len() {
            let extent = |v: ValueId| extents(m, v).get(i).copied();
            match others.iter().all(|&v| extent(v) == extent(first)) {
                true => others.iter().for_each(|&v| self.tie((first, i), (v, i))),
                false => tiles.iter().for_each(|&v| self.keep(v, i)),
            }
        }
    }

    /// Rows and columns of a matmul go with its operands' and their scales'; what is summed over stays whole, as a rule.
    /// `false`: its operands are no matrices.
    fn matmul(&mut self, m: &Module, op: OpId) -> bool {
        let data = m.op(op);
        let (Some(matmul), &[result]) = (Matmul::of(data), &data.results[..]) else {
            return false;
        };
        let Matmul { lhs, rhs, acc, .. } = matmul;
        let scales = matmul.scales;
        let rank = extents(m, acc).len();
        if rank < 2 || matmul.sources().any(|v| extents(m, v).len() != rank) {
            return false;
        }
        self.tie_all(m, acc, result);
        let (rows, columns) = (rank - 2, rank - 1);
        self.tie((lhs, rows), (acc, rows));
        self.tie((rhs, columns), (acc, columns));
        self.tie((lhs, columns), (rhs, rows));
        if !self.in_parts.contains(&op) || scales.is_some() {
            self.keep(lhs, columns);
        }
        if let Some([left, right]) = scales {
            self.tie((left, rows), (acc, rows));
            self.keep(left, columns);
            self.tie((right, columns), (acc, columns));
            self.keep(right, rows);
        }
        for i in 0..rows {
            (matmul.sources()).for_each(|factor| self.tie((factor, i), (acc, i)));
            if !self.batches {
                self.keep(acc, i);
            }
        }
        true
    }

    /// Dimensions that a change of shape splits or joins: what lies in a part of the outermost of them lies in that part of
    /// the outermost one of the other shape.
    fn regrouped(&mut self, source: ValueId, result: ValueId, from: &[u64], to: &[u64]) {
        for (these, those) in groups(from, to) {
            let outer = |shape: &[u64], dims: &Range<usize>| dims.clone().find(|&d| shape[d] > 1);
            let pair = (outer(from, &these), outer(to, &those));
            for (value, dims) in [(source, these), (result, those)] {
                let tied = if value == source { pair.0 } else { pair.1 };
                let tied = tied.filter(|_| self.reshapes);
                dims.filter(|&d| tied != Some(d))
                    .for_each(|d| self.keep(value, d));
            }
            if let (true, Some(a), Some(b)) = (self.reshapes, pair.0, pair.1) {
                self.tie((source, a), (result, b));
                self.cut_in((source, a), gcd(from[a], to[b]));
            }
        }
    }

    /// Lets a dimension be cut in so many parts, or in what divides their number.
    fn cut_in(&mut self, (value, i): (ValueId, usize), parts: u64) {
        let key = self.key(value, i);
        self.table.union_value(key, Cuts(parts));
    }

    fn related(&mut self, m: &Module, relation: &Relation, source: ValueId, result: ValueId) {
        let (from, to) = (extents(m, source), extents(m, result));
        match relation {
            Relation::Reshape => {
                let long = |e: &[u64]| (0..e.len()).filter(|&i| e[i] > 1).collect::<Vec<_>>();
                let (a, b) = (long(&from), long(&to));
                let same = a.len() == b.len() && a.iter().zip(&b).all(|(&i, &j)| from[i] == to[j]);
                if same {
                    a.iter()
                        .zip(&b)
                        .for_each(|(&i, &j)| self.tie((source, i), (result, j)));
                } else {
                    self.regrouped(source, result, &from, &to);
                }
            }
            Relation::Unpack(_) => match (&from[..], &to[..]) {
                (&[bytes], &[_]) if self.reshapes => {
                    self.tie((source, 0), (result, 0));
                    self.cut_in((source, 0), bytes);
                }
                _ => {
                    self.keep_all(m, source);
                    self.keep_all(m, result);
                }
            },
            Relation::Broadcast => {
                for i in 0..from.len().min(to.len()) {
                    if from[i] == to[i] {
                        self.tie((source, i), (result, i));
                    }
                }
            }
            Relation::Permute(order) => {
                for (i, &d) in order.iter().enumerate() {
                    self.tie((source, d), (result, i));
                }
            }
            Relation::Reduce(dim) => {
                if !self.reductions {
                    self.keep(source, *dim);
                }
                let left = (0..from.len()).filter(|i| i != dim);
                left.enumerate()
                    .for_each(|(j, i)| self.tie((source, i), (result, j)));
            }
        }
    }
}

/// The dimensions of two shapes of as many elements, in groups that hold as many.
fn groups(from: &[u64], to: &[u64]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let start = (i, j);
        let (mut left, mut right) = (1, 1);
        while left == 1 || left != right {
            let next = match left <= right && i < from.len() {
                true => from.get(i).map(|e| (&mut left, &mut i, e)),
                false => to.get(j).map(|e| (&mut right, &mut j, e)),
            };
            let Some((product, at, extent)) = next else {
                break;
            };
            *product *= extent;
            *at += 1;
        }
        found.push((start.0..i, start.1..j));
    }
    found
}

/// Whether an operation takes a part of a tile that is the whole of it.
pub fn is_whole(m: &Module, op: OpId) -> bool {
    C::of(m.op(op).kind) == Some(C::Extract) && m.ty(m.source(op)) == m.ty(m.result(op))
}

/// Whether a constant is one element everywhere.
pub fn is_splat(m: &Module, op: OpId) -> bool {
    let data = m.op(op);
    let Some(Attr::Dense {
        data: Dense::Bytes(bytes),
        ..
    }) = tile::Constant::of(data).map(|v| v.value())
    else {
        return false;
    };
    let bits = data.results.first().and_then(|&r| m.types.bits(m.ty(r)));
    bits.is_some_and(|bits| bytes.len() == (bits as usize).div_ceil(8))
}

/// Whether an assumption speaks of elements along a dimension.
fn is_along(attr: Option<&Attr>) -> bool {
    !matches!(
        attr,
        Some(Attr::Assume(
            AssumePredicate::Bounded { .. }
                | AssumePredicate::DivBy {
                    every: None,
                    along: None,
                    ..
                }
        ))
    )
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn dimensions_are_grouped_where_their_elements_are_as_many() {
        assert_eq!(
            groups(&[256, 4], &[2, 4, 32, 1, 4]),
            [(0..1, 0..3), (1..2, 3..5)]
        );
        assert_eq!(
            groups(&[2, 1, 32, 16], &[2, 1, 32, 4, 4]),
            [(0..1, 0..1), (1..3, 1..3), (3..4, 3..5)]
        );
        assert_eq!(groups(&[6, 4], &[4, 6]), [(0..2, 0..2)]);
        assert_eq!(groups(&[1, 8], &[8]), [(0..2, 0..1)]);
    }
}
