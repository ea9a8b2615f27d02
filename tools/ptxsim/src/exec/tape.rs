//! Where execution meets the tape that the clock replays.

use super::counters::bank_conflicts;
use super::env::Env;
use super::memory::{Place, place};
use super::stats::Direction;
use super::warp::Warp;
use crate::clock::trace::{Effect, Meeting, Tape, Way, lines_of};
use crate::program::inst::Space;
use crate::program::{Row, lanes};

impl Env<'_> {
    /// True if matrix products need not be computed: nobody looks at results.
    pub fn skips_products(&self) -> bool {
        self.shared.sampling.is_some_and(|s| s.only)
    }

    /// Something that the warp's instruction under way does.
    pub fn note(&mut self, warp: &Warp, effect: impl FnOnce(&mut Tape) -> Option<Effect>) {
        let serial = self.serial(warp);
        if let Some(tape) = &mut self.tape
            && let Some(effect) = effect(tape)
        {
            tape.note(serial, effect);
        }
    }

    /// An access of its lanes.
    pub fn note_access(
        &mut self,
        warp: &Warp,
        space: Space,
        addresses: &Row,
        bytes: u32,
        active: u32,
        how: Direction,
    ) {
        if self.tape.is_none() {
            return;
        }
        let Some(first) = lanes(active).next() else {
            return;
        };
        let way = match how {
            Direction::Load => Way::Load,
            Direction::Store => Way::Store,
            Direction::Atomic => Way::Atomic,
        };
        let effect = match place(self, warp, space, addresses[first]) {
            Ok(Place::Global(_)) => {
                let at = lanes(active).map(|l| addresses[l]);
                let (lines, sectors) = lines_of(at, bytes.into());
                Effect::Global {
                    lines,
                    sectors,
                    how: way,
                }
            }
            Ok(Place::Shared { cta, .. }) => {
                // 32 lanes of 4 bytes take one pass; atomics read and write.
                let least = (bytes * active.count_ones()).div_ceil(128).max(1);
                let conflicts = bank_conflicts(addresses, bytes, active) as u32;
                let twice = if way == Way::Atomic { 2 } else { 1 };
                Effect::Shared {
                    passes: (least + conflicts) * twice,
                    remote: cta != warp.cta,
                }
            }
            // Local memory is a lane's words side by side, in L1.
            Ok(Place::Local(_)) => Effect::Shared {
                passes: (bytes * 32).div_ceil(128).max(1),
                remote: false,
            },
            _ => return,
        };
        self.note(warp, |_| Some(effect));
    }

    /// Rows of 16 bytes of `ldmatrix` or `stmatrix`: eight of them are a pass if they lie in different banks.
    pub fn note_rows(&mut self, warp: &Warp, addresses: &Row, rows: usize) {
        if self.tape.is_none() {
            return;
        }
        let passes = (0..rows.div_ceil(8)).map(|matrix| {
            let last = (rows - 8 * matrix).min(8);
            let active = ((1u64 << last) - 1) << (8 * matrix);
            1 + bank_conflicts(addresses, 16, active as u32) as u32
        });
        let effect = Effect::Shared {
            passes: passes.sum(),
            remote: false,
        };
        self.note(warp, |_| Some(effect));
    }

    /// `cp.async` of its lanes: where `valid` says how many bytes are read.
    pub fn note_cp_async(&mut self, warp: &Warp, from: &Row, valid: &Row, active: u32, bytes: u32) {
        self.note(warp, |tape| {
            let mut sectors: Vec<u64> = lanes(active)
                .filter(|&l| valid[l] > 0)
                .flat_map(|l| from[l] / 32..=(from[l] + valid[l] - 1) / 32)
                .collect();
            sectors.sort_unstable();
            sectors.dedup();
            sectors.iter().for_each(|s| tape.touch(s * 32, 32, false));
            Some(Effect::CpAsync {
                sectors: sectors.len() as u32,
                bytes: bytes * active.count_ones(),
            })
        });
    }

    /// A bulk copy: ranges of global memory (none within the cluster), and the mbarriers that it completes on.
    pub fn note_bulk(
        &mut self,
        warp: &Warp,
        ranges: impl Iterator<Item = (u64, u64)>,
        barriers: &[(usize, u64)],
        store: bool,
    ) {
        self.note(warp, |tape| {
            let mut bytes = 0;
            for (address, length) in ranges {
                bytes += length;
                tape.touch(address, length, store);
            }
            let arrival = |&(rank, offset): &(usize, u64)| tape.mbarrier_arrival(rank, offset);
            let meetings: Vec<Meeting> = barriers.iter().map(arrival).collect();
            Some(Effect::Bulk {
                bytes,
                store,
                meetings,
            })
        });
    }

    /// Phases of mbarriers that the warp has seen complete.
    pub fn note_phases(&mut self, warp: &Warp, seen: &[(usize, u64)]) {
        for &(rank, offset) in seen {
            self.note(warp, |tape| {
                tape.mbarrier_wait(rank, offset).map(Effect::Await)
            });
        }
    }
}
