//! Matmuls by `tcgen05.mma`: which can be, where their operands lie, and where their accumulators live.
//!
//! An accumulator is a buffer in tensor memory. Each matmul is, at first, by itself:
//!
//! ```text
//! tensor_store acc            unless it is zero or there already
//! producer_acquire            a barrier: tensor memory may be written by matmuls
//! async.tensor_dot            by one thread
//! producer_commit
//! consumer_wait
//! consumer_release
//! tensor_load                 the result
//! ```
//! An accumulator that a loop carries stays in its buffer for the whole loop ([`home`]); a loop that does nothing
//! but multiply is waited for behind it ([`alone`]), and in a persistent kernel a warp of its own runs it ([`role`]). Where warps compute between matmuls, a warp of its own issues these ([`apart`]), or two. [`columns`] gives the buffers their columns, [`number`] the steps
//! their iterations, [`links`] finds matmuls that add to one another's sums, [`chains`] joins those that are handed from one matmul to the next, [`later`] keeps accumulators that registers are short for until they are needed, and [`sooner`] moves stores up to where their tiles are made. [`epilogue`] computes and stores
//! results in parts where registers are short, [`twice`] loads again what is stored twice. [`across`] says which operands are read across their rows. [`stages`] lets matmuls hand back
//! what they alone read, [`ready`] brings those together that need nothing of one another, and [`together`] waits once for those that follow one another. Where [`turns`] finds that matmuls and
//! warps would wait for each other, two blocks share a multiprocessor.
//!
//! Operands lie as those of `wgmma` do ([`super::operands`]); a left operand that is computed next to its matmul goes to
//! tensor memory, where it has room there, or to shared memory.

pub mod across;
mod alone;
pub mod apart;
mod chains;
mod columns;
mod emit;
pub mod epilogue;
pub mod fits;
mod home;
mod later;
mod links;
mod narrowed;
mod number;
mod pair;
mod ready;
mod role;
mod scaled;
pub mod sliced;
mod sooner;
mod stages;
mod together;
pub mod turns;
mod twice;

pub use columns::{end as columns_end, of as columns_of};
pub use scaled::whole_bytes;

use crate::facts::matmul::{Matmul, Side};
use crate::lower::tileas::buffers::ROWS;
use crate::lower::tileas::look::{self, shows};
use crate::lower::tileas::matmul;
use emit::{before, flag, is_zero, number_at};

pub use fits::Scaled;
use fits::{Extents, takes};
use rustc_hash::FxHashSet;

use super::missed::Log;
use super::operands::{self, Source};
use super::staging::{Form, Staging, Stored};
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{BlockId, Diagnostic, Module, OpId, Type, TypeId, ValueId};
use crate::layout::shared::SharedLayout;
use crate::layout::tcgen05::{self as instruction};
use crate::layout::tensor::{COLUMNS, LANES, Share, TensorMatrix};
use crate::lower::tileas::look::place;
use crate::target::{Feature, Target};
use columns::Held;
use home::Home;

/// What a matmul is in messages.
const WHAT: &str = "tcgen05";

/// A matmul in its new form.
struct Placed {
    dot: OpId,
    /// The steps in front of it and behind it.
    acquire: OpId,
    after: [OpId; 3],
    /// Its accumulator stays in its buffer, and nothing else in its loop touches it.
    untouched: bool,
}

/// The matmuls of a kernel, for [`role`].
struct Parts<'c> {
    placed: &'c [Placed],
    held: &'c [Held],
    /// The loops that only multiply.
    loops: &'c [OpId],
    /// Whether they shall be a pair's, which are always a role of their own.
    pair: bool,
}

/// Makes every matmul under `body` that can be one a matmul in tensor memory. `room`: bytes of shared memory that
/// its operands' buffers may take. Returns what is left of them. A thread of the `warps` has so many `registers`, and
/// so many `blocks` share a multiprocessor.
pub fn convert(
    m: &mut Module,
    body: BlockId,
    target: &Target,
    (warps, registers, blocks): (u64, u64, u64),
    room: u64,
    log: &mut Log,
) -> Result<u64, Diagnostic> {
    if !target.has(Feature::Tcgen05) {
        return Ok(room);
    }
    let mut c = Convert {
        body,
        groups: warps / 4,
        room,
        held: Vec::new(),
        placed: Vec::new(),
        left: Vec::new(),
        linked: FxHashSet::default(),
        pipeline: None,
        staging: Staging::new(body),
    };
    let dots = m.ops_under(body).into_iter();
    let dots = dots.filter(|&o| matches!(S::of(m.op(o).kind), Some(S::Dot | S::ScaledDot)));
    for dot in dots.collect::<Vec<_>>() {
        if c.linked.contains(&dot) {
            continue;
        }
        if S::of(m.op(dot).kind) == Some(S::ScaledDot) {
            let done = match Extents::of(m, dot, target) {
                _ if !warps.is_multiple_of(4) => Err(format!("{warps} warps, 4 needed")),
                Ok(extents) => c.scaled(m, dot, extents)?,
                Err(why) => Err(why),
            };
            let Err(why) = done else { continue };
            log.note(m, dot, WHAT, why);
            matmul::apply_scales(m, dot, target)?;
        }
        if S::of(m.op(dot).kind) != Some(S::Dot) || !warps.is_multiple_of(4) {
            continue;
        }
        let done = match Extents::of(m, dot, target) {
            Ok(extents) => {
                let chain = links::chain(m, (dot, extents), target);
                c.dots(m, &chain)?
            }
            Err(why) => Err(why),
        };
        if let Err(why) = done {
            log.note(m, dot, WHAT, why);
        }
    }
    let Some(pipeline) = c.pipeline else {
        return Ok(room);
    };
    // Those of a chain have been placed one behind the other, whatever stands between them.
    let order = m.ops_under(body);
    (c.placed).sort_by_cached_key(|p| order.iter().position(|&o| o == p.dot));
    let mut left = c.staging.finish(m, room);
    operands::fence_copies(m, body);
    chains::join(m, body, &mut c.held);
    let waiting = later::keep(m, body, &mut c.held, (warps, registers));
    ready::reserve(m, body, pipeline, &mut c.held, COLUMNS / blocks);
    apart::reserve(m, body, pipeline, &mut c.held, (target, blocks));
    columns::assign(m, body, &c.held);
    waiting.into_iter().for_each(|load| later::delay(m, load));
    sooner::stores(m, body);
    let loops = alone::hoist(m, body, &c.placed);
    let func = m.region(m.block(body).region).parent;
    let pairs = match pair::Pairs::find(m, func, body, &c.placed) {
        Some(Err((op, why))) => {
            log.note(m, op, pair::WHAT, why);
            None
        }
        found => found.and_then(Result::ok),
    };
    let parts = Parts {
        placed: &c.placed,
        held: &c.held,
        loops: &loops,
        pair: pairs.is_some(),
    };
    let split = role::split(m, func, body, pipeline, &parts);
    match pairs {
        Some(pairs) if split => left = pairs.apply(m, body, pipeline, left),
        Some(_) => log.note(
            m,
            func,
            pair::WHAT,
            "its matmuls cannot be a role of their own",
        ),
        None => {}
    }
    if !split {
        ready::issue(m, body, pipeline, log);
        stages::hand_back(m, body);
        together::wait(m, body, pipeline, log);
    }
    number::run(m, body, pipeline);
    Ok(left)
}

/// The work on one function.
struct Convert {
    body: BlockId,
    groups: u64,
    room: u64,
    held: Vec<Held>,
    placed: Vec<Placed>,
    /// Left operands in tensor memory.
    left: Vec<Left>,
    /// Matmuls that were rewritten with the first one of their chain.
    linked: FxHashSet<OpId>,
    pipeline: Option<ValueId>,
    /// Operands in buffers of shared memory.
    staging: Staging,
}

/// A left operand in tensor memory, and the matmul that it was stored for.
struct Left {
    tile: ValueId,
    buffer: ValueId,
    matrix: TensorMatrix,
    dot: OpId,
}

/// What a matmul reads: buffers, and their iterations.
struct Reads {
    lhs: Read,
    rhs: Read,
    /// Those of the scales, and their buffer in tensor memory.
    scales: Option<([Read; 2], ValueId)>,
}

type Read = (ValueId, Option<ValueId>);

/// Where the operands of a matmul go.
struct Operands {
    lhs: Option<Source>,
    rhs: Source,
}

impl Operands {
    /// What is stored of them in shared memory for `dot`.
    fn stored(&self, m: &Module, dot: OpId) -> impl Iterator<Item = Stored> + use<> {
        let Matmul { lhs, rhs, .. } = Matmul::known(m.op(dot));
        let left = self.lhs.as_ref().and_then(|s| s.stored(lhs));
        self.rhs.stored(rhs).into_iter().chain(left)
    }
}

/// A matmul, where it will read its operands, and what the left one would take of tensor memory.
struct Planned {
    dot: OpId,
    operands: Operands,
    lhs: (TensorMatrix, Held),
}

/// The accumulator of a matmul.
struct Accumulator<'h> {
    buffer: ValueId,
    /// Where it lives there for a whole loop.
    home: Option<&'h Home>,
    /// Whether the matmul is the first of its chain, and the last.
    ends: [bool; 2],
}

impl Convert {
    /// Rewrites the matmuls of a chain that a loop carries the accumulator of, or the first one alone; or says why that stays.
    fn dots(
        &mut self,
        m: &mut Module,
        chain: &[(OpId, Extents)],
    ) -> Result<Result<(), String>, Diagnostic> {
        let (&[first, ..], &[.., last]) = (chain, chain) else {
            return Ok(Ok(()));
        };
        let (dot, extents) = first;
        let tile = Matmul::known(m.op(dot)).acc;
        let acc = TensorMatrix {
            rows: extents.rows,
            columns: extents.columns,
            lanes: extents.lanes,
            cell: 32,
            element_bits: m.types.width(m.ty(tile)),
        };
        if let Err(e) = Share::new(acc, self.groups) {
            return Ok(Err(format!(
                "{} warps cannot share it out: {e}",
                4 * self.groups
            )));
        }
        let home = |last: OpId| Home::find(m, self.body, [dot, last]);
        let linked = (dot != last.0).then(|| home(last.0)).flatten();
        let linked = linked.map(|home| (chain, Some(home)));
        let alone = (&chain[..1], home(dot));
        let mut refused = String::new();
        for (chain, home) in linked.into_iter().chain([alone]) {
            let held = Held {
                buffer: None,
                dot,
                loops: home.as_ref().map_or(0, Home::loops),
                columns: acc.all_columns(),
                once: false,
                ahead: None,
            };
            match self.plan(m, chain, held) {
                Ok(planned) => {
                    let buffer = self.buffer(m, tile, acc, held);
                    self.apply(m, planned, (buffer, held), home.as_ref())?;
                    return Ok(Ok(()));
                }
                Err(why) => refused = why,
            }
        }
        Ok(Err(refused))
    }

    /// Where the matmuls of a chain will read their operands, if there are columns and bytes for all of them beside their
    /// accumulator.
    fn plan(
        &self,
        m: &Module,
        chain: &[(OpId, Extents)],
        acc: Held,
    ) -> Result<Vec<Planned>, String> {
        let (mut held, mut staging) = (self.held.clone(), self.staging.clone());
        held.push(acc);
        if columns::needed(m, &held) > COLUMNS {
            return Err("tensor memory has no columns left".to_owned());
        }
        let mut planned = Vec::new();
        for &(dot, extents) in chain {
            let lhs = left_matrix(m, dot, extents);
            let lhs_held = Held {
                dot,
                loops: 0,
                columns: lhs.all_columns(),
                ..acc
            };
            held.push(lhs_held);
            let has_room = columns::needed(m, &held) <= COLUMNS;
            let operands = self.operands(
                m,
                dot,
                extents,
                has_room && Share::new(lhs, self.groups).is_ok(),
            );
            if operands.lhs.is_some() {
                held.pop();
            }
            staging = self.with_room(&staging, m, dot, operands.stored(m, dot))?;
            planned.push(Planned {
                dot,
                operands,
                lhs: (lhs, lhs_held),
            });
        }
        Ok(planned)
    }

    /// Rewrites the matmuls of a chain.
    fn apply(
        &mut self,
        m: &mut Module,
        chain: Vec<Planned>,
        (buffer, held): (ValueId, Held),
        home: Option<&Home>,
    ) -> Result<(), Diagnostic> {
        let last = chain.len() - 1;
        for (i, planned) in chain.into_iter().enumerate() {
            let Planned { dot, operands, lhs } = planned;
            if i > 0 {
                let buffer = Some(buffer);
                self.held.push(Held {
                    buffer,
                    dot,
                    ..held
                });
            }
            self.staging = self.staging.with(m, dot, operands.stored(m, dot));
            let earlier = self.placed.len() - i;
            let reads = self.reads(m, dot, operands, lhs, earlier)?;
            let acc = Accumulator {
                buffer,
                home,
                ends: [i == 0, i == last],
            };
            self.rewrite(m, dot, reads, acc);
            self.linked.insert(dot);
        }
        Ok(())
    }

    /// Puts the operands of `dot` where it reads them; `held` is for a left one in tensor memory. Those of its chain that stand
    /// before it have been placed from number `earlier` on.
    fn reads(
        &mut self,
        m: &mut Module,
        dot: OpId,
        operands: Operands,
        (matrix, held): (TensorMatrix, Held),
        earlier: usize,
    ) -> Result<Reads, Diagnostic> {
        let matmul = Matmul::known(m.op(dot));
        let staging = &mut self.staging;
        let rhs = operands
            .rhs
            .place(m, dot, Side::Right, matmul.rhs, staging)?;
        let lhs = match operands.lhs {
            Some(source) => source.place(m, dot, Side::Left, matmul.lhs, staging)?,
            None => match self.stored_before(m, dot, (matmul.lhs, matrix), held) {
                Some(buffer) => (buffer, None),
                None => {
                    let buffer = self.buffer(m, matmul.lhs, matrix, held);
                    let stored = Held {
                        buffer: Some(buffer),
                        ..held
                    };
                    let ahead = self.ahead(m, dot, (matmul.lhs, stored), earlier);
                    let groups: [&[ValueId]; 3] = [&[matmul.lhs], &[buffer], &[]];
                    before(m, ahead.unwrap_or(dot), S::TensorStore, &groups);
                    self.left.push(Left {
                        tile: matmul.lhs,
                        buffer,
                        matrix,
                        dot,
                    });
                    (buffer, None)
                }
            },
        };
        Ok(Reads {
            lhs,
            rhs,
            scales: None,
        })
    }

    /// The buffer in tensor memory to which `tile` has been stored for another matmul of the block, if it can stay there until
    /// `dot` reads it.
    fn stored_before(
        &mut self,
        m: &Module,
        dot: OpId,
        (tile, matrix): (ValueId, TensorMatrix),
        held: Held,
    ) -> Option<ValueId> {
        let (block, own) = place(m, dot);
        let is = |l: &&Left| l.tile == tile && l.matrix == matrix && m.op(l.dot).block == block;
        let left = self.left.iter().rfind(is)?;
        let (_, first) = place(m, left.dot);
        // It is in use at each matmul in between, too. One that is rewritten later might want its columns.
        let between = m.block(block).ops.get(first + 1..own)?;
        if (between.iter()).any(|&o| look::is_matmul(m, o) || holds_matmul(m, o)) {
            return None;
        }
        let matmuls = between.iter().copied().filter(|&o| is_issued(m, o));
        let more: Vec<Held> = matmuls
            .chain([dot])
            .map(|dot| Held {
                buffer: Some(left.buffer),
                dot,
                ..held
            })
            .collect();
        let buffer = left.buffer;
        let fits = self.fits(m, &more);
        fits.then(|| self.held.extend(more));
        fits.then_some(buffer)
    }

    /// Keeps bytes of shared memory for what `dot` reads there, or says that there are not enough.
    fn stage(
        &mut self,
        m: &Module,
        dot: OpId,
        read: impl IntoIterator<Item = Stored>,
    ) -> Result<(), String> {
        self.staging = self.with_room(&self.staging, m, dot, read)?;
        Ok(())
    }

    /// What is kept already, and what `dot` reads besides, or that there are not enough bytes.
    fn with_room(
        &self,
        kept: &Staging,
        m: &Module,
        dot: OpId,
        read: impl IntoIterator<Item = Stored>,
    ) -> Result<Staging, String> {
        let more = kept.with(m, dot, read);
        let (all, before) = (more.bytes(), kept.bytes());
        match all > self.room {
            true => Err(format!(
                "its operands need {} bytes of shared memory, {} are left",
                all - before,
                self.room - before
            )),
            false => Ok(more),
        }
    }

    /// Whether there are columns for `more`.
    fn fits(&self, m: &Module, more: &[Held]) -> bool {
        let all: Vec<Held> = self.held.iter().chain(more).copied().collect();
        columns::needed(m, &all) <= COLUMNS
    }

    fn operands(&self, m: &Module, dot: OpId, extents: Extents, tensor_lhs: bool) -> Operands {
        let Matmul { lhs, rhs, .. } = Matmul::known(m.op(dot));
        let describes = |dim: usize, mn: u64| {
            move |shared: &SharedLayout| instruction::describe(shared, dim, mn).is_ok()
        };
        let in_place = |tile: ValueId, dim: usize, mn: u64| {
            operands::in_place_if(m, tile, &describes(dim, mn))
        };
        let transposed = |tile: ValueId, dim: usize, mn: u64| {
            operands::stored_transposed(m, tile, &describes(dim, mn))
        };
        let columns = extents.columns.min(256);
        let rhs_source = in_place(rhs, 1, columns)
            .or_else(|| transposed(rhs, 1, columns))
            .unwrap_or_else(|| {
                Source::Stored(Form::Order(operands::order_of_rhs(m, rhs, columns)))
            });
        let lhs_source = match in_place(lhs, 0, extents.lanes) {
            Some(source) => Some(source),
            None if tensor_lhs && !operands::is_stationary(m, self.body, lhs, dot) => None,
            None => {
                let stored = Source::Stored(Form::Order(ROWS));
                Some(transposed(lhs, 0, extents.lanes).unwrap_or(stored))
            }
        };
        Operands {
            lhs: lhs_source,
            rhs: rhs_source,
        }
    }

    /// A buffer in tensor memory for a tile like `tile`.
    fn buffer(
        &mut self,
        m: &mut Module,
        tile: ValueId,
        matrix: TensorMatrix,
        held: Held,
    ) -> ValueId {
        let (elem, shape) = m
            .types
            .as_tile(m.ty(tile))
            .map_or((m.ty(tile), vec![]), |t| (t.0, t.1.to_vec()));
        let ty = m.types.intern(Type::TensorTile {
            elem,
            shape: shape.into(),
            lanes: matrix.lanes as u32,
            cell: matrix.cell,
            stages: 1,
        });
        self.allocate(m, ty, held)
    }

    fn allocate(&mut self, m: &mut Module, ty: TypeId, held: Held) -> ValueId {
        let buffer = m
            .at(self.body, 0)
            .value(S::AllocTensorMemory, &[], [None], ty);
        self.held.push(Held {
            buffer: Some(buffer),
            ..held
        });
        buffer
    }

    /// The pipeline of the matmuls that their own role waits for.
    fn pipeline(&mut self, m: &mut Module) -> ValueId {
        *self
            .pipeline
            .get_or_insert_with(|| emit::pipeline(m, self.body))
    }

    fn rewrite(&mut self, m: &mut Module, dot: OpId, reads: Reads, acc: Accumulator<'_>) {
        let body = self.body;
        let pipeline = self.pipeline(m);
        let matmul = Matmul::known(m.op(dot));
        let ((lhs, lhs_iteration), (rhs, rhs_iteration)) = (reads.lhs, reads.rhs);
        // Values, their iterations, and the buffer in tensor memory.
        let mut scales: [Vec<ValueId>; 5] = Default::default();
        if let Some((sides, columns)) = reads.scales {
            for (i, (value, iteration)) in sides.into_iter().enumerate() {
                scales[i].push(value);
                scales[i + 2].extend(iteration);
            }
            scales[4].push(columns);
        }
        let Accumulator { buffer, home, ends } = acc;
        let untouched = home.is_some_and(|h| h.untouched);
        let [first, last] = ends;
        let accumulate = match home {
            _ if !first => None,
            Some(home) => home.enter(m, dot, buffer),
            None => self.enter(m, dot, buffer),
        };
        let zero = number_at(m, body);
        let acquire = before(m, dot, S::ProducerAcquire, &[&[pipeline], &[zero]]);
        let data = m.op(dot).clone();
        let (block, at) = place(m, dot);
        let mut b = m.at(block, at);
        b.loc = data.loc;
        let attrs = matmul::signed(&data);
        let groups: [&[ValueId]; 12] = [
            &[lhs],
            &[rhs],
            &[buffer],
            lhs_iteration.as_slice(),
            rhs_iteration.as_slice(),
            &[],
            accumulate.as_slice(),
            &scales[0],
            &scales[1],
            &scales[2],
            &scales[3],
            &scales[4],
        ];
        let issued = b.op(S::TensorDot, &groups, attrs, &[], &[]);
        let after = [S::ProducerCommit, S::ConsumerWait, S::ConsumerRelease].map(|kind| {
            let groups: [&[ValueId]; 3] = [&[pipeline], &[zero], &[]];
            let many = if kind == S::ConsumerRelease { 3 } else { 2 };
            before(m, dot, kind, &groups[..many])
        });
        match home {
            // The next one adds to the buffer; its operand goes with it.
            _ if !last => {
                let sum = m.result(dot);
                m.replace_all_uses(sum, Matmul::known(&data).acc);
            }
            Some(home) => home.leave(m, dot, buffer),
            None => {
                let old = m.result(dot);
                let ty = m.ty(old);
                let (block, at) = place(m, dot);
                let mut b = m.at(block, at);
                b.loc = data.loc;
                let load = b.op(S::TensorLoad, &[&[buffer], &[], &[]], [], &[ty], &[]);
                let result = m.result(load);
                m.replace_all_uses(old, result);
            }
        }
        m.erase(dot);
        for held in self.held.iter_mut().filter(|h| h.dot == dot) {
            held.dot = issued;
        }
        for left in self.left.iter_mut().filter(|l| l.dot == dot) {
            left.dot = issued;
        }
        self.placed.push(Placed {
            dot: issued,
            acquire,
            after,
            untouched,
        });
        operands::drop_unused(m, matmul.sources());
    }

    /// The accumulator of a matmul by itself goes to its buffer; the matmul's `accumulate`.
    fn enter(&self, m: &mut Module, dot: OpId, buffer: ValueId) -> Option<ValueId> {
        let acc = Matmul::known(m.op(dot)).acc;
        if is_zero(m, acc) {
            return Some(flag(m, dot, false));
        }
        before(m, dot, S::TensorStore, &[&[acc], &[buffer], &[]]);
        None
    }
}

/// The left operand of `dot` as it would lie in tensor memory.
fn left_matrix(m: &Module, dot: OpId, extents: Extents) -> TensorMatrix {
    let bits = m.types.width(m.ty(Matmul::known(m.op(dot)).lhs));
    TensorMatrix {
        rows: extents.rows,
        columns: extents.k,
        lanes: extents.lanes,
        cell: bits,
        element_bits: bits,
    }
}

fn is_issued(m: &Module, op: OpId) -> bool {
    S::of(m.op(op).kind) == Some(S::TensorDot)
}

/// Whether there is a matmul in an operation's regions.
fn holds_matmul(m: &Module, op: OpId) -> bool {
    let mut inner = m.ops_inside(op).into_iter();
    inner.any(|o| is_issued(m, o) || look::is_matmul(m, o))
}

/// What [`convert`] will store in shared memory, when the tiles of the loads in `brought` come through rings.
pub fn staging(m: &Module, body: BlockId, target: &Target, brought: &FxHashSet<OpId>) -> Staging {
    let mut staging = Staging::new(body);
    for dot in m.ops_under(body) {
        let Some(extents) = takes(m, dot, target) else {
            continue;
        };
        let stored = will_store(m, body, dot, extents, brought);
        staging = staging.with(m, dot, stored);
    }
    staging
}

/// What a matmul will read in buffers that no ring fills.
fn will_store(
    m: &Module,
    body: BlockId,
    dot: OpId,
    extents: Extents,
    brought: &FxHashSet<OpId>,
) -> Vec<Stored> {
    let matmul = Matmul::known(m.op(dot));
    let Matmul { lhs, rhs, .. } = matmul;
    let mut all = vec![
        Stored::expected(lhs, Side::Left),
        Stored::expected(rhs, Side::Right),
    ];
    let Some(scales) = matmul.scales else {
        // Of 256 rows, what a matmul reads and computes fills tensor memory.
        let in_tensor = extents.rows <= LANES && !operands::is_stationary(m, body, lhs, dot);
        all.retain(|s| {
            let brought = operands::comes_from(m, s.tile, brought);
            let left = *s == Stored::expected(lhs, Side::Left);
            !(brought || left && in_tensor)
        });
        return all;
    };
    let scales = scales.into_iter().enumerate();
    all.extend(scales.map(|(i, tile)| Stored {
        tile,
        form: Form::Scales(i),
    }));
    all.retain(|s| !shows(m, s.tile, |o| brought.contains(&o)));
    all
}
