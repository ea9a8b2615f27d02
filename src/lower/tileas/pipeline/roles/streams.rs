//! Sites of loads in loops that feed no matmul.

use super::super::prefetch::loads_tile;
use super::super::purpose::Purpose;
use super::super::stream::{Share, is_for_matmuls, worth};
use super::context::{Context, WHAT};
use super::plan::Plan;
use super::sites::{self, Site};
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Module, OpId};
use crate::lower::tileas::limits::MAX_STAGES;
use crate::lower::tileas::look::is_number;
use crate::lower::tileas::missed::Log;
use crate::target::Target;
use rustc_hash::FxHashSet;

/// Of a kernel that loads no tile in a loop.
const ONCE: &str = "no loop of the kernel loads a tile, so that there is no next one to load ahead";

/// Finds the loads in loops that a ring pays for; says of the others why not.
pub fn find(m: &mut Module, c: &Context<'_>, log: &mut Log) -> Vec<Site> {
    if is_for_matmuls(m, c.body) {
        return Vec::new();
    }
    let ops = m.ops_under(c.body);
    let mut found: Vec<Site> = Vec::new();
    let mut loads = ops.iter().copied().filter(|&o| loads_tile(m, o));
    if let Some(load) = loads.clone().next()
        && !loads.any(|o| sites::in_loop(m, c.body, m.op(o).block))
    {
        log.note(m, load, "pipeline", ONCE);
    }
    for &load in &ops {
        let block = m.op(load).block;
        let tiled = S::of(m.op(load).kind) == Some(S::TiledLoad);
        if !tiled || is_number(m, load) || !sites::in_loop(m, c.body, block) {
            continue;
        }
        let worth = worth(m, c.facts, c.body, load).map_err(|why| (load, why));
        let can = worth.and_then(|()| sites::can_be_brought(m, c, load, Purpose::Stream));
        if let Err((op, why)) = can {
            log.note(m, op, WHAT, why);
            continue;
        }
        let Some((first, _)) = sites::readers(m, c.body, block, &[load]) else {
            continue;
        };
        let at = |op: OpId| m.block(block).ops.iter().position(|&o| o == op);
        match found.last_mut().filter(|s| s.block == block) {
            // Loaded before anything of the site is read: they arrive together.
            Some(site) if at(load) < at(site.first) => {
                site.loads.push(load);
                if at(first) < at(site.first) {
                    (site.first, site.last) = (first, first);
                }
            }
            // Read into registers at once.
            _ => found.push(Site {
                block,
                loads: vec![load],
                by_threads: FxHashSet::default(),
                first,
                last: first,
                behind: None,
                ring: 0,
                buffers: Vec::new(),
                purpose: Purpose::Stream,
            }),
        }
    }
    found
}

impl Plan {
    /// Gives the rings of streams their stages, or says why they have no room.
    pub(super) fn streams(
        &mut self,
        m: &Module,
        c: &Context<'_>,
        target: &Target,
    ) -> Result<(), String> {
        let warps = [self.all_warps(), self.consumer_warps];
        let share = Share::of(m, c.func, c.body, target, warps);
        if !share.fits {
            return Err("beside a producer warp, threads have too few registers for their tiles: smaller tiles would need fewer".to_owned());
        }
        let stage = self.rings.iter().map(|r| r.bytes).sum();
        let stages = share.stages(stage, [1, MAX_STAGES])?;
        self.rings.iter_mut().for_each(|r| r.stages = stages);
        Ok(())
    }
}
