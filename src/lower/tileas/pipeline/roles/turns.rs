//! Loads of one loop that take turns in a ring.
//!
//! Where shared memory has no room for a ring of each load, tiles of as many bytes go through one ring. What is loaded
//! next is brought as soon as the tile before has been read, while other things are computed.

use super::plan::Plan;
use super::sites::{Site, holds};
use crate::ir::{BlockId, Module, OpId};
use crate::lower::tileas::buffers::tile_bytes;
use crate::lower::tileas::look::ancestor_in;

impl Plan {
    /// Lets sites share rings where they can take turns. Whether there are fewer rings now.
    pub(super) fn take_turns(&mut self, m: &Module, body: BlockId) -> bool {
        // A stage that several blocks fill would be waited for by all of them at each turn.
        if !self.multicast.is_empty() {
            return false;
        }
        let all = 0..self.sites.len();
        let mut shared: Vec<Vec<usize>> = Vec::new();
        let mut kept = Vec::new();
        for (number, ring) in self.rings.iter().enumerate() {
            let uses = |&s: &usize| self.sites[s].ring == number;
            let own: Vec<usize> = all.clone().filter(uses).collect();
            let joins = |with: &Vec<usize>| {
                let mut pairs = with.iter().flat_map(|a| own.iter().map(move |b| (*a, *b)));
                ring.repeats && pairs.all(|(a, b)| self.can_alternate(m, body, a, b))
            };
            match shared.iter().position(joins) {
                Some(with) => shared[with].extend(own),
                None => {
                    shared.push(own);
                    kept.push(ring.clone());
                }
            }
        }
        for (ring, sites) in shared.into_iter().enumerate() {
            sites.into_iter().for_each(|s| self.sites[s].ring = ring);
        }
        let fewer = kept.len() < self.rings.len();
        self.rings = kept;
        fewer
    }

    /// Whether two sites can fill stages of one ring.
    fn can_alternate(&self, m: &Module, body: BlockId, a: usize, b: usize) -> bool {
        let (one, other) = (&self.sites[a], &self.sites[b]);
        let bytes = |s: &Site| -> Vec<u64> {
            let tiles = s.loads.iter().map(|&l| m.result(l));
            tiles.map(|t| tile_bytes(m, t)).collect()
        };
        let inside = |a: &Site, b: &Site| holds(m, body, a.block, b.block);
        let tensor = |s: &Site| s.by_threads.is_empty();
        // What waits for the last iteration would hold up the other.
        let free = |s: &Site| s.behind.is_none();
        tensor(one)
            && tensor(other)
            && free(one)
            && free(other)
            && bytes(one) == bytes(other)
            && match one.block == other.block {
                true => self.follows(m, body, one, other) || self.follows(m, body, other, one),
                false => !inside(one, other) && !inside(other, one),
            }
    }

    /// Whether of two sites of a block `next` has its turn after `first`: its tiles are loaded and read after those of
    /// `first`, whose stage is free by then. Whatever is waited for until then must have been loaded before: where the
    /// ring has a single stage, the producer waits for it in front of `next`.
    fn follows(&self, m: &Module, body: BlockId, first: &Site, next: &Site) -> bool {
        let block = first.block;
        let ops = &m.block(block).ops;
        let at = |op: OpId| {
            let here = ancestor_in(m, body, block, op)?;
            ops.iter().position(|&o| o == here)
        };
        let loaded = |s: &Site| s.loads.last().and_then(|&l| at(l));
        let (read, start) = (at(first.last), loaded(next));
        let in_time = |s: &Site| match at(s.first) {
            Some(needed) if Some(needed) <= read => loaded(s) < start,
            _ => true,
        };
        read < at(next.first) && self.sites.iter().all(in_time)
    }
}
