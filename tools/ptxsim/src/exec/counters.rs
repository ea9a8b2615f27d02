//! Where execution meets the counters and the record.

use super::env::Env;
use super::memory::{Place, place};
use super::stats::Direction;
use super::warp::Warp;
use crate::program::inst::Space;
use crate::program::{Row, lanes};
use crate::record::{Kind, Span, Track};

impl Env<'_> {
    /// Counts the multiply-adds of a matrix instruction.
    pub fn count_matrix(&mut self, multiply_adds: usize) {
        self.stats.matrix_multiply_adds += multiply_adds as u64;
        if self.copies_in_flight > 0 {
            self.stats.matrix_multiply_adds_beside_copies += multiply_adds as u64;
        }
    }

    /// A matrix product that is done at once.
    pub fn matrix_span(&mut self, warp: &Warp, multiply_adds: usize) {
        if let Some(recorder) = &mut self.recorder {
            recorder.span(Span {
                track: warp.track(),
                kind: Kind::Mma,
                from: self.clock - 1,
                to: self.clock,
                line: 0,
                amount: multiply_adds as u64,
            });
        }
    }

    /// A warp has run since the clock showed `from`.
    pub fn ran(&mut self, warp: &Warp, from: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.span(Span {
                track: warp.track(),
                kind: Kind::Run,
                from,
                to: self.clock,
                line: 0,
                amount: self.clock - from,
            });
        }
    }

    /// Something of a warp begins that the picture shows.
    pub fn begin(&mut self, warp: &Warp, kind: Kind, id: u64, line: u32, amount: u64) {
        self.begin_on(warp.track(), kind, id, line, amount);
    }

    /// It ends.
    pub fn end(&mut self, warp: &Warp, kind: Kind, id: u64) {
        self.end_on(warp.track(), kind, id);
    }

    /// See [`Env::begin`].
    pub fn begin_on(&mut self, track: Track, kind: Kind, id: u64, line: u32, amount: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(track, kind, id, line, amount, self.clock);
        }
    }

    /// See [`Env::end`].
    pub fn end_on(&mut self, track: Track, kind: Kind, id: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.end(track, kind, id, self.clock);
        }
    }

    /// Counts an access of a warp: bytes, sectors, bank conflicts.
    pub fn count_access(
        &mut self,
        warp: &Warp,
        space: Space,
        addresses: &Row,
        bytes: u32,
        active: u32,
        how: Direction,
    ) {
        self.note_access(warp, space, addresses, bytes, active, how);
        if !self.shared.count {
            return;
        }
        let Some(first) = lanes(active).next() else {
            return;
        };
        let Ok(found) = place(self, warp, space, addresses[first]) else {
            return;
        };
        let total = u64::from(bytes) * u64::from(active.count_ones());
        let kind = match found {
            Place::Global(_) => {
                let mut sectors: Vec<u64> = lanes(active)
                    .flat_map(|l| addresses[l] / 32..=(addresses[l] + u64::from(bytes) - 1) / 32)
                    .collect();
                sectors.sort_unstable();
                sectors.dedup();
                let (touched, ideal) = (sectors.len() as u64, total.div_ceil(32));
                self.stats.global_sectors += touched;
                self.stats.global_sectors_ideal += ideal;
                self.stats.global_accesses += 1;
                self.stats.uncoalesced_accesses += u64::from(touched > ideal);
                &mut self.stats.global
            }
            Place::Shared { cta, .. } => {
                self.stats.shared_accesses += 1;
                self.stats.bank_conflicts += bank_conflicts(addresses, bytes, active);
                if cta == warp.cta {
                    &mut self.stats.shared
                } else {
                    &mut self.stats.shared_of_other_blocks
                }
            }
            Place::Local(_) => &mut self.stats.local,
            Place::Param(_) | Place::CallParam(_) => &mut self.stats.parameters,
        };
        kind.add(how, total);
    }
}

/// Passes beyond the least that an access needs: 32 banks of 4 bytes, 128 bytes per pass; lanes that touch the same
/// word share it.
pub fn bank_conflicts(addresses: &Row, bytes: u32, active: u32) -> u64 {
    // 8- and 16-byte accesses go by half and quarter warps.
    let per_pass = (32 / (bytes.div_ceil(4)).max(1)).max(1) as usize;
    let members: Vec<usize> = lanes(active).collect();
    let mut extra = 0;
    for group in members.chunks(per_pass) {
        let mut words: Vec<u64> = group
            .iter()
            .flat_map(|&l| addresses[l] / 4..=(addresses[l] + u64::from(bytes) - 1) / 4)
            .collect();
        words.sort_unstable();
        words.dedup();
        let mut banks = [0u64; 32];
        words.iter().for_each(|w| banks[(w % 32) as usize] += 1);
        extra += banks.iter().max().copied().unwrap_or(1).saturating_sub(1);
    }
    extra
}
