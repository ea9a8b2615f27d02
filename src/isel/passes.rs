//! Passes over selected instructions, in the order in which they run. None is needed for right results: each can be
//! left out by its name, as rules can ([`crate::compile::Options::without`]), and says what it did.

use super::{
    barriers, bases, coalesce, demand, equal, interleave, pair, recompute, remainder, roles, tidy,
    unread, uses,
};
use crate::ir::Diagnostic;
use crate::machine::mir::Func;
use crate::machine::table::Table;
use crate::target::Target;

/// A pass.
pub struct Pass {
    pub name: &'static str,
    pub doc: &'static str,
    /// What a unit of its count is.
    pub counts: &'static str,
    /// Returns how much it did.
    run: fn(&mut Func, &Table, Target) -> usize,
}

static TIDY: Pass = Pass {
    name: "tidy-jumps",
    doc: "Jumps that change nothing, code that is never reached and labels that nothing jumps to go.",
    counts: "removed",
    run: |func, table, _| tidy::tidy(func, table),
};

/// Those before copies are written as moves.
static BEFORE_MOVES: [&Pass; 14] = [
    &TIDY,
    &Pass {
        name: "merge-equal",
        doc: "Variables of loops and branches that always hold the same value become one.",
        counts: "variables removed",
        run: |func, table, _| equal::merge(func, table),
    },
    &Pass {
        name: "remainders",
        doc: "Remainders beside quotients of the same numbers are computed from these.",
        counts: "remainders",
        run: |func, table, _| remainder::from_quotients(func, table),
    },
    &Pass {
        name: "drop-old-values",
        doc: "Atomic updates whose old values nothing reads yield none.",
        counts: "updates",
        run: |func, table, _| unread::drop_results(func, table),
    },
    &Pass {
        name: "drop-unused",
        doc: "Computations and copies whose results nothing needs go.",
        counts: "removed",
        run: |func, table, _| uses::drop_dead(func, table),
    },
    &Pass {
        name: "merge-barriers",
        doc: "Two barriers of the same threads with nothing but computations between them are one.",
        counts: "removed",
        run: |func, table, _| barriers::merge(func, table),
    },
    &Pass {
        name: "barriers-of-one-warp",
        doc: "In a block of one warp, threads wait for each other by `bar.warp.sync`.",
        counts: "barriers",
        run: |func, table, _| barriers::of_one_warp(func, table),
    },
    &Pass {
        name: "compute-in-roles",
        doc: "Warps with roles compute what they need after they have taken their registers.",
        counts: "moved",
        run: |func, table, _| roles::compute(func, table),
    },
    &Pass {
        name: "bases-before-loops",
        doc: "Addresses in shared memory that loops ask for are made in front of them, where `wgmma` reads there.",
        counts: "moved",
        run: bases::hoist,
    },
    &Pass {
        name: "late-fragments",
        doc: "Matrix fragments are read just before the matmuls that use them, where a thread has the registers.",
        counts: "moved",
        run: interleave::interleave,
    },
    &Pass {
        name: "pair-singles",
        doc: "Two repetitions of an f32 operation are one instruction on a pair of registers, where the target has it.",
        counts: "pairs made",
        run: pair::pair,
    },
    &Pass {
        name: "read-on-demand",
        doc: "Tensor memory is read in parts, and what works over a tile's registers is done when its results are asked for.",
        counts: "waited",
        run: demand::order,
    },
    &Pass {
        name: "merge-copies",
        doc: "Source and destination of a copy become one register where their lives do not overlap.",
        counts: "copies removed",
        run: |func, table, _| coalesce::merge(func, table),
    },
    &Pass {
        name: "recompute",
        doc: "Where more registers are live than a thread has, cheap values are computed again at their uses.",
        counts: "uses",
        run: recompute::recompute,
    },
];

/// Those after it.
static AFTER_MOVES: [&Pass; 1] = [&TIDY];

/// What a pass did to a kernel.
pub struct Done {
    pub pass: &'static Pass,
    pub times: usize,
}

/// Every pass, in the order in which they first run.
pub fn all() -> impl Iterator<Item = &'static Pass> {
    BEFORE_MOVES.into_iter()
}

/// What happens to selected instructions before they are written. Passes named in `without` are left out.
pub(super) fn finish(
    func: &mut Func,
    table: &Table,
    target: Target,
    without: &[String],
) -> Result<Vec<Done>, Diagnostic> {
    let mut done: Vec<Done> = Vec::new();
    let mut run = |pass: &'static Pass, func: &mut Func| {
        if without.iter().any(|name| name == pass.name) {
            return;
        }
        let times = (pass.run)(func, table, target);
        match done.iter_mut().find(|d| d.pass.name == pass.name) {
            Some(earlier) => earlier.times += times,
            None => done.push(Done { pass, times }),
        }
    };
    BEFORE_MOVES.iter().for_each(|pass| run(pass, func));
    coalesce::write_moves(func, table).map_err(|error| *error)?;
    AFTER_MOVES.iter().for_each(|pass| run(pass, func));
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_is_listed_once() {
        let mut names: Vec<&str> = all().map(|p| p.name).collect();
        let later = AFTER_MOVES.iter().all(|p| names.contains(&p.name));
        assert!(later, "a pass that runs later only");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
