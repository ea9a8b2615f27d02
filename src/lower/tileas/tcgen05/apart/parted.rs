//! The matmuls of a kernel in two parts that have nothing to do with each other, so that two warps can issue them.

use super::rounds::Round;
use super::{is_step, rings, waits};
use crate::dialect::nv_tileas::Op as S;
use crate::facts::matmul::Matmul;
use crate::ir::{BlockId, Module, OpId, Type, ValueId};
use crate::lower::tileas::lifetime::intersect;
use crate::lower::tileas::look::{ancestor_in, place};
use crate::lower::tileas::missed::Refusal;
use crate::lower::tileas::operands::allocation;
use crate::lower::tileas::tcgen05::columns;
use rustc_hash::FxHashSet;

/// The first matmuls of loops, and the others.
pub struct Parted {
    pub first: Vec<OpId>,
    pub rest: Vec<OpId>,
    /// The rings that the matmuls of either read, whose stages matmuls hand back.
    pub rings: [FxHashSet<ValueId>; 2],
    /// The accumulators of the first ones.
    pub scores: FxHashSet<ValueId>,
}

impl Parted {
    /// The `first` ones of `rounds`, and the `rest`, if they can be done in any order.
    ///
    /// # Errors
    /// What stands against it.
    pub fn of(
        m: &Module,
        body: BlockId,
        rounds: &[Round],
        [first, rest]: [Vec<OpId>; 2],
    ) -> Result<Parted, Refusal> {
        let rings = [&first, &rest].map(|dots| handed_back(m, body, dots));
        for &ring in rings[0].intersection(&rings[1]) {
            Self::is_handed_back_by(m, ring, &rest)?;
        }
        let theirs = touched(m, &rest);
        let meets = |&dot: &OpId| {
            let mut own = touched(m, &[dot]).into_iter();
            own.any(|a| theirs.iter().any(|&b| overlap(m, a, b)))
        };
        if let Some(&dot) = first.iter().find(|o| meets(o)) {
            let why =
                "tensor memory has no columns for it beside what is computed of the one before";
            return Err((dot, why.to_owned()));
        }
        for round in rounds {
            for &dot in &round.dots {
                Self::is_free(m, body, round, dot)?;
            }
        }
        let scores = first.iter().map(|&o| Matmul::known(m.op(o)).acc).collect();
        Ok(Parted {
            first,
            rest,
            rings,
            scores,
        })
    }

    /// Whether all stages of `ring` are handed back behind matmuls of the `rest`.
    fn is_handed_back_by(m: &Module, ring: ValueId, rest: &[OpId]) -> Result<(), Refusal> {
        let users = m.users(ring).into_iter();
        let mut releases = users.filter(|&o| is_step(m, o, S::ConsumerRelease, ring));
        let behind_first = |&release: &OpId| {
            let (block, at) = place(m, release);
            let before = m.block(block).ops.iter().take(at).rev();
            let mut dots = before.filter(|&&o| S::of(m.op(o).kind) == Some(S::TensorDot));
            !dots.next().is_some_and(|dot| rest.contains(dot))
        };
        match releases.find(behind_first) {
            Some(release) => {
                let why = "another matmul reads its tiles, and does not always hand them back";
                Err((release, why.to_owned()))
            }
            None => Ok(()),
        }
    }

    /// Whether warps touch what `dot` makes only behind the wait for it, in its loop, and store nothing there that it reads.
    fn is_free(m: &Module, body: BlockId, round: &Round, dot: OpId) -> Result<(), Refusal> {
        let matmul = Matmul::known(m.op(dot));
        let (_, wait) = place(m, round.wait[0]);
        for user in m.users(matmul.acc) {
            let inside = ancestor_in(m, body, round.block, user);
            let behind = inside.is_some_and(|o| place(m, o).1 > wait);
            let loads = S::of(m.op(user).kind) == Some(S::TensorLoad);
            if !(round.dots.contains(&user) || loads && behind) {
                let why = "its result is used elsewhere than behind the wait for it in its loop";
                return Err((dot, why.to_owned()));
            }
        }
        match stores_to(m, body, round.block, matmul) {
            Some(store) => Err((store, "warps store what it reads".to_owned())),
            None => Ok(()),
        }
    }
}

/// What in `block` stores what a matmul reads.
pub fn stores_to(m: &Module, body: BlockId, block: BlockId, matmul: Matmul) -> Option<OpId> {
    let users = matmul.sources().flat_map(|v| m.users(allocation(m, v)));
    let mut stores =
        users.filter(|&o| matches!(S::of(m.op(o).kind), Some(S::LocalStore | S::TensorStore)));
    stores.find(|&o| ancestor_in(m, body, block, o).is_some())
}

/// The rings that `dots` read and whose stages matmuls hand back.
fn handed_back(m: &Module, body: BlockId, dots: &[OpId]) -> FxHashSet<ValueId> {
    let (filled, by_matmuls) = (waits::filled_by(m, body), rings(m, body));
    let sources = dots.iter().flat_map(|&o| Matmul::known(m.op(o)).sources());
    let read = sources.filter_map(|v| filled.get(&allocation(m, v)));
    read.filter(|r| by_matmuls.contains(r)).copied().collect()
}

/// The buffers in tensor memory that matmuls read and write.
fn touched(m: &Module, dots: &[OpId]) -> FxHashSet<ValueId> {
    let values = dots.iter().flat_map(|&o| m.op(o).operands.to_vec());
    let tensor = |v: &ValueId| matches!(m.types.get(m.ty(*v)), Type::TensorTile { .. });
    values.filter(tensor).collect()
}

/// Whether two buffers have columns in common.
fn overlap(m: &Module, a: ValueId, b: ValueId) -> bool {
    let columns = |v: ValueId| columns::of(m, m.def_op(v)?);
    columns(a)
        .zip(columns(b))
        .is_none_or(|(a, b)| intersect(&a, &b))
}
