//! Tiles that all blocks of a cluster load: each brings a part of them for all.

use rustc_hash::FxHashSet;

use super::sites::Site;
use crate::facts::FactMap;
use crate::ir::{Module, OpId};
use crate::layout::shared::Swizzle;
use crate::layout::tma::{Cut, boxes_for};
use crate::lower::tileas::buffers::memory_order;
use crate::lower::tileas::cluster::Split;

/// The loads of `sites` that the blocks of a cluster share: they load the same, in enough boxes for each block.
pub fn loads(m: &Module, facts: &FactMap, sites: &[Site], split: &Split) -> FxHashSet<OpId> {
    let parted = |site: &Site, load: OpId| {
        let order = memory_order(m, facts, load);
        let Ok(layout) = site.purpose.layout(m, m.result(load), &order) else {
            return false;
        };
        let mut all = Swizzle::ALL.into_iter();
        let cut = Cut {
            blocks: split.blocks,
            ..Cut::default()
        };
        all.any(|s| boxes_for(&layout, &order, s, cut).is_ok())
    };
    let all = sites
        .iter()
        .flat_map(|s| s.loads.iter().map(move |&l| (s, l)));
    all.filter(|&(site, load)| split.alike.contains(&load) && parted(site, load))
        .map(|(_, load)| load)
        .collect()
}
