//! Loops take shorter steps along K where shared memory has no room for two stages of what they load.
//!
//! ```text
//! for k in 0..n {                               for k in 0..2n {
//!   a = load[128, 64 from 64·k]                   a = load[128, 32 from 32·k]
//!   b = load[64, 256 from 64·k]             →     b = load[32, 256 from 32·k]
//!   acc += a · b                                  acc += a · b
//! }                                             }
//! ```
//! With one stage, the matmul of an iteration waits for the copies of its own operands. Operands that are converted on
//! the way to a unit that reads shared memory are there twice, as they are loaded and as they are read.
//!
//! All that has the dimension K in the loop is cut with it ([`strips::dims`](super::strips::dims)): views, pointers of
//! gathers, masks, conversions. What is added up over K may come in parts; nothing else may depend on how many iterations
//! there are.

mod apply;

use super::buffers::{RESERVE, tile_bytes};
use super::for_groups::is_for_groups;
use super::limits::FEWEST_STAGES;
use super::look::{elements, is_matmul, shows};
use super::missed::{Log, Refusal};
use super::operands::reads_in_place;
use super::pipeline::tokens::loads_freely;
use super::strips::apart;
use super::strips::cut::{cheap, is_weak_load};
use super::strips::dims::{Dims, extents};
use super::strips::parts::Parts;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::{Op as C, view as tile};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::FactMap;
use crate::facts::matmul::{Matmul, Side};
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::target::{Feature, Target};
use apply::Steps;
use rustc_hash::FxHashSet;

/// Fewest bits of K that an instruction multiplies, of one row.
const LEAST_BITS: u64 = 256;
/// Fewest rows or columns of another matmul in the loop.
const LEAST_ROWS: u64 = 64;
/// Most parts of a step that are tried.
const MOST_PARTS: u64 = 64;

/// What is done, in messages.
const WHAT: &str = "shorter steps along K";

/// Shortens the steps of every such loop under `body`. Whether there was one.
pub fn steps(
    m: &mut Module,
    body: BlockId,
    target: &Target,
    facts: &FactMap,
    log: &mut Log,
) -> bool {
    if !target.has(Feature::CpAsync) {
        return false;
    }
    let mut found = false;
    for op in m.ops_under(body) {
        match planned(m, body, op, target, facts) {
            Some(Ok(steps)) => {
                let how = format!(
                    "each iteration is done in {}, so that {FEWEST_STAGES} stages of what it loads fit in shared memory",
                    steps.cut.count
                );
                log.changed(m.op(op).loc, WHAT, how);
                steps.apply(m, facts);
                found = true;
            }
            Some(Err((op, why))) => log.note(m, op, WHAT, why),
            None => {}
        }
    }
    found
}

/// How the iterations of `op` are done in parts, or why not, if it is a loop that needs it.
fn planned(
    m: &mut Module,
    body: BlockId,
    op: OpId,
    target: &Target,
    facts: &FactMap,
) -> Option<Result<Steps, Refusal>> {
    if let Ok(steps) = Loop::of(m, op, target, facts)?.steps(m, body) {
        return Some(Ok(steps));
    }
    // Rows or columns may have the same numbers as K.
    let copies = apart::take(m, body);
    let steps = Loop::of(m, op, target, facts)?.steps(m, body);
    if steps.is_err() {
        copies.undo(m);
    }
    // What stands against it may be one of the copies.
    Some(steps.map_err(|(_, why)| (op, why)))
}

/// A loop that adds up matmuls of tiles that it loads, more than shared memory has room for.
struct Loop {
    op: OpId,
    block: BlockId,
    /// The operations of the block.
    ops: Vec<OpId>,
    /// The matmuls that add to what the loop carries.
    sums: Vec<OpId>,
    /// The loads of tiles that matmuls read.
    loads: Vec<OpId>,
    /// Bytes of what is computed of them and read in shared memory.
    read: u64,
    /// Bytes of shared memory for all.
    room: u64,
}

impl Loop {
    fn of(m: &Module, op: OpId, target: &Target, facts: &FactMap) -> Option<Loop> {
        tile::For::of(m.op(op)).filter(|v| !v.unsignedCmp())?;
        let block = m.body_of(op, 0)?;
        let ops = m.block(block).ops.clone();
        let matmuls = || ops.iter().copied().filter(|&o| is_matmul(m, o));
        let tiles = |&o: &OpId| is_weak_load(m, o) && elements(m, m.result(o)) > 1;
        let loads: Vec<OpId> = ops.iter().copied().filter(tiles).collect();
        let loaded: FxHashSet<OpId> = loads.iter().copied().collect();
        let mut computed = FxHashSet::default();
        for matmul in matmuls() {
            if !is_for_groups(m, matmul, target) {
                continue;
            }
            let Some(of) = Matmul::of(m.op(matmul)) else {
                continue;
            };
            let sources = of.sources();
            computed.extend(sources.filter(|&v| !shows(m, v, |o| S::of(m.op(o).kind).is_some())));
            // So are elements of 32 bits that are not read where they are brought.
            let again = Side::BOTH.into_iter().filter(|&side| {
                m.types.bits(m.ty(of.operand(side))) == Some(32)
                    && reads_in_place(m, facts, of, side, &loaded) == Some(false)
            });
            computed.extend(again.map(|side| of.operand(side)));
        }
        let looping = Loop {
            op,
            block,
            sums: matmuls().filter(|&o| adds_up(m, block, o)).collect(),
            read: computed.into_iter().map(|v| tile_bytes(m, v)).sum(),
            room: u64::from(target.shared_per_block()).saturating_sub(RESERVE),
            ops,
            loads,
        };
        let crowded = looping.needed(m, |_| 1) > looping.room;
        (crowded && !looping.sums.is_empty() && looping.repeats(m)).then_some(looping)
    }

    /// Bytes of shared memory that two stages and what is read take where a load is in so many parts.
    fn needed(&self, m: &Module, parts: impl Fn(OpId) -> u64) -> u64 {
        let most = self.loads.iter().map(|&o| parts(o)).max().unwrap_or(1);
        let stage: u64 = (self.loads.iter())
            .map(|&o| tile_bytes(m, m.result(o)) / parts(o))
            .sum();
        self.read / most + FEWEST_STAGES * stage
    }

    /// Whether an iteration may be done in parts, as far as that does not concern what is cut: nothing in it has an
    /// effect, and what it hands to the next are sums, tokens, and what stays the same.
    fn repeats(&self, m: &Module) -> bool {
        let args = m.block(self.block).args.get(1..).unwrap_or(&[]);
        let Some(end) = m.terminator(self.block) else {
            return false;
        };
        let carried = args.iter().zip(&m.op(end).operands).all(|(&arg, &next)| {
            let sum = self.sums.iter().any(|&o| starts_from(m, o) == Some(arg));
            sum || arg == next || matches!(m.types.get(m.ty(arg)), Type::Token)
        });
        let plain = |&op: &OpId| {
            let reads = loads_freely(m, op);
            let joins = m.op(op).def().traits.has(Traits::PURE);
            op == end || reads || joins && m.op(op).regions.is_empty()
        };
        carried && C::of(m.op(end).kind) == Some(C::Continue) && self.ops.iter().all(plain)
    }

    /// How the iterations are done in parts, or why they are not. `body`: the function's.
    fn steps(self, m: &Module, body: BlockId) -> Result<Steps, Refusal> {
        let no = |why: &str| (self.op, why.to_owned());
        let mut all = made_in_front(m, body, &self.ops);
        all.extend(&self.ops);
        let mut dims = Dims::with_sums(m, &all, self.sums.iter().copied());
        let inner = |o: &OpId| {
            let lhs = Matmul::of(m.op(*o))?.lhs;
            Some((lhs, extents(m, lhs).len().checked_sub(1)?))
        };
        let along: Vec<(ValueId, usize)> = self.sums.iter().filter_map(inner).collect();
        // A matmul whose K stayed whole would be added once for each part.
        along.windows(2).for_each(|p| dims.tie(p[0], p[1]));
        let k = along.first().and_then(|&(lhs, i)| dims.free(lhs, i));
        let set = k.ok_or_else(|| no("an operation in the loop needs all of K at once"))?;
        let (mut cut, concerned) = Parts::of(m, &all, &mut dims, set, 1)?;
        let is_cut = |o: OpId| cut.dims.contains_key(&m.result(o));
        let mut count = 2;
        while self.needed(m, |o| if is_cut(o) { count } else { 1 }) > self.room {
            count *= 2;
            if count > MOST_PARTS {
                return Err(no(
                    "tiles of the loop that are not cut along K alone fill shared memory",
                ));
            }
        }
        cut.count = count;
        if !self.fits(m, &cut) {
            let why =
                format!("no instruction multiplies a part of K where a step is done in {count}");
            return Err(no(&why));
        }
        let inside = |o: &OpId| self.ops.contains(o);
        let cheap = cheap(m, &concerned, &cut.dims);
        let again: Vec<OpId> = concerned.iter().copied().filter(|o| !inside(o)).collect();
        let made = again.iter().all(|o| cheap.contains(o));
        // What comes whole into the loop cannot be taken in parts.
        let here = |v: &ValueId| {
            m.def_op(*v)
                .is_some_and(|o| inside(&o) || again.contains(&o))
        };
        if !made || !cut.dims.keys().all(here) {
            return Err(no("a tile along K is computed in front of the loop"));
        }
        Ok(Steps {
            op: self.op,
            block: self.block,
            ops: self.ops,
            cut,
            again,
        })
    }

    /// Whether the loop has an instruction for what is left of each matmul, and hands no part of a tile on.
    fn fits(&self, m: &Module, cut: &Parts) -> bool {
        let args = &m.block(self.block).args;
        let divided = |(&v, &dim): (&ValueId, &usize)| {
            extents(m, v).get(dim).is_some_and(|e| e % cut.count == 0)
        };
        let instruction = |&o: &OpId| {
            let Some(parts) = Matmul::of(m.op(o)) else {
                return true;
            };
            [(parts.lhs, 1), (parts.rhs, 2)]
                .into_iter()
                .all(|(v, from_end)| {
                    let shape = extents(m, v);
                    let bits = m.types.as_tile(m.ty(v)).map_or(0, |t| m.types.width(t.0));
                    match (cut.dims.get(&v), shape.len().checked_sub(from_end)) {
                        (Some(&dim), Some(k)) if dim == k => {
                            shape[k] / cut.count * u64::from(bits) >= LEAST_BITS
                        }
                        (Some(&dim), _) => shape[dim] / cut.count >= LEAST_ROWS,
                        (None, _) => true,
                    }
                })
        };
        args.iter().all(|a| !cut.dims.contains_key(a))
            && cut.dims.iter().all(divided)
            && self.ops.iter().all(instruction)
    }
}

/// What a matmul adds to, behind those of its block whose result it is.
fn starts_from(m: &Module, matmul: OpId) -> Option<ValueId> {
    let mut acc = Matmul::of(m.op(matmul))?.acc;
    while let Some(op) = m.def_op(acc)
        && m.op(op).block == m.op(matmul).block
        && is_matmul(m, op)
    {
        acc = Matmul::of(m.op(op))?.acc;
    }
    Some(acc)
}

/// Whether a matmul without scales adds to what the loop of `block` carries, and nothing else sees the sum before the loop's end.
fn adds_up(m: &Module, block: BlockId, matmul: OpId) -> bool {
    let Some(parts) = Matmul::of(m.op(matmul)).filter(|p| p.scales.is_none()) else {
        return false;
    };
    let Some(first) = starts_from(m, matmul) else {
        return false;
    };
    let args = m.block(block).args.get(1..).unwrap_or(&[]);
    let (Some(at), Some(end)) = (args.iter().position(|&a| a == first), m.terminator(block)) else {
        return false;
    };
    let result = m.result(matmul);
    let next = match m.users(result) {
        users if users == [end] => m.op(end).operands.get(at) == Some(&result),
        users => matches!(users[..], [next] if next != matmul && adds_up(m, block, next)
            && Matmul::of(m.op(next)).is_some_and(|p| p.acc == result && p.sources().all(|v| v != result))),
    };
    next && m.is_used_once(parts.acc, matmul)
}

/// The operations under `body` that only compute tiles which `ops` use, and are none of them.
fn made_in_front(m: &Module, body: BlockId, ops: &[OpId]) -> Vec<OpId> {
    let mut found = FxHashSet::default();
    let mut work: Vec<OpId> = ops.to_vec();
    while let Some(op) = work.pop() {
        for &v in &m.op(op).operands {
            let def = m.def_op(v).filter(|d| !ops.contains(d));
            if let Some(def) = def
                && !extents(m, v).is_empty()
                && m.op(def).only_computes()
                && !is_matmul(m, def)
                && found.insert(def)
            {
                work.push(def);
            }
        }
    }
    let all = m.ops_under(body).into_iter();
    all.filter(|o| found.contains(o)).collect()
}
