//! Which values are computed again.

use rustc_hash::{FxHashMap, FxHashSet};

use super::makers::Makers;
use crate::isel::live::Ranges;
use crate::machine::mir::VReg;

/// Most instructions that compute a value again.
const CHAIN: usize = 6;

/// The values that are computed again at their far uses.
pub(super) struct Again {
    /// Each with the positions of those uses.
    pub values: FxHashMap<VReg, Vec<u32>>,
    /// What several of them are computed from stays in its register.
    roots: FxHashSet<VReg>,
}

impl Again {
    /// Takes each value whose every far use can compute it, those first that others are computed from.
    pub fn choose(makers: &Makers, live: &Ranges, far: FxHashMap<VReg, Vec<u32>>) -> Again {
        let mut again = Again {
            values: FxHashMap::default(),
            roots: FxHashSet::default(),
        };
        let mut served: FxHashMap<VReg, u32> = FxHashMap::default();
        for (&value, uses) in &far {
            let at = uses.first().copied().unwrap_or(0);
            for origin in again.origins(makers, live, value, at) {
                *served.entry(origin).or_default() += 1;
            }
        }
        let several = served.into_iter().filter(|&(_, count)| count > 1);
        again.roots = several.map(|(root, _)| root).collect();
        let place = |value: VReg| makers.get(value).map(|maker| maker.at);
        let mut values: Vec<(VReg, Vec<u32>)> = far.into_iter().collect();
        values.sort_unstable_by_key(|&(value, _)| (place(value), value));
        for (value, uses) in values {
            let can = |&at: &u32| again.can(makers, live, value, at, &mut 0);
            if !again.roots.contains(&value) && uses.iter().all(can) {
                again.values.insert(value, uses);
            }
        }
        again
    }

    /// What a value is computed from, directly or not, that is not there at a position.
    fn origins(&self, makers: &Makers, live: &Ranges, value: VReg, at: u32) -> Vec<VReg> {
        let mut origins: Vec<VReg> = Vec::new();
        let mut work = vec![value];
        while let Some(r) = work.pop() {
            for &read in makers.cheap(r).iter().flat_map(|maker| &maker.reads) {
                let known = origins.contains(&read) || origins.len() > 2 * CHAIN;
                if !known && !self.stays(makers, live, read, at) {
                    origins.push(read);
                    work.push(read);
                }
            }
        }
        origins
    }

    /// Whether a value can be computed at a position; `count` counts the instructions.
    fn can(&self, makers: &Makers, live: &Ranges, r: VReg, at: u32, count: &mut usize) -> bool {
        let Some(maker) = makers.cheap(r) else {
            return false;
        };
        *count += 1;
        *count <= CHAIN
            && maker.reads.iter().all(|&read| {
                self.stays(makers, live, read, at) || self.can(makers, live, read, at, count)
            })
    }

    /// Whether a value is there at a position without being computed again.
    pub fn stays(&self, makers: &Makers, live: &Ranges, r: VReg, at: u32) -> bool {
        makers.is_free(r)
            || self.roots.contains(&r)
            || !self.values.contains_key(&r) && live.is_live(r, at)
    }
}
