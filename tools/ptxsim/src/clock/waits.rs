//! What warps waited for: by role, and by PTX line.

use super::cost::Tick;
use super::machine::{Reason, Replay};
use super::trace::ClusterTrace;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;

/// Lines in the estimate.
const LINES: usize = 24;

/// Warps that did the same, and what their cycles were spent on, in percent of the time of the block's last warp.
#[derive(Debug, Clone, Serialize)]
pub struct Role {
    /// first and last of a run of warps of the block
    pub warps: Vec<[u32; 2]>,
    /// percent: instructions issued
    pub issued: f64,
    /// percent: waits, by reason
    pub waits: BTreeMap<Reason, f64>,
}

/// Waits at a line.
#[derive(Debug, Clone, Serialize)]
pub struct LineWait {
    /// PTX line
    pub line: u32,
    /// why
    pub reason: Reason,
    /// percent of the cycles of all warps
    pub percent: f64,
}

/// Warps of the first block that executed the same number of each instruction are one role.
pub fn roles(trace: &ClusterTrace, replay: &Replay) -> Vec<Role> {
    let per_block = trace.warps.len() / trace.blocks.max(1) as usize;
    let mut found: Vec<(FxHashMap<u32, u32>, Vec<u32>)> = Vec::new();
    for (number, warp) in trace.warps.iter().take(per_block).enumerate() {
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        warp.events
            .iter()
            .for_each(|e| *counts.entry(e.pc).or_default() += 1);
        // Which warp takes an elected branch once more does not make it another role.
        let near = |other: &FxHashMap<u32, u32>| {
            let common: u32 = counts
                .iter()
                .map(|(pc, n)| (*n).min(other.get(pc).copied().unwrap_or(0)))
                .sum();
            let most = counts.values().sum::<u32>().max(other.values().sum());
            f64::from(common) >= 0.9 * f64::from(most)
        };
        match found.iter_mut().find(|(other, _)| near(other)) {
            Some((_, members)) => members.push(number as u32),
            None => found.push((counts, vec![number as u32])),
        }
    }
    let life = replay
        .warps
        .iter()
        .map(|w| w.issued + w.waits.values().sum::<Tick>())
        .max();
    found
        .into_iter()
        .map(|(_, members)| role(&members, replay, life.unwrap_or(0)))
        .collect()
}

fn role(members: &[u32], replay: &Replay, life: Tick) -> Role {
    let mut warps: Vec<[u32; 2]> = Vec::new();
    let (mut issued, mut waits) = (0, BTreeMap::<Reason, Tick>::new());
    for &member in members {
        match warps.last_mut() {
            Some([_, last]) if *last + 1 == member => *last = member,
            _ => warps.push([member, member]),
        }
        let Some(spent) = replay.warps.get(member as usize) else {
            continue;
        };
        issued += spent.issued;
        spent
            .waits
            .iter()
            .for_each(|(r, t)| *waits.entry(*r).or_default() += t);
    }
    let all = (life * members.len() as Tick).max(1) as f64;
    Role {
        warps,
        issued: 100.0 * issued as f64 / all,
        waits: waits
            .into_iter()
            .map(|(r, t)| (r, 100.0 * t as f64 / all))
            .collect(),
    }
}

/// The lines where most time is lost.
pub fn lines(replay: &Replay) -> Vec<LineWait> {
    let waits: Tick = replay.lines.values().sum();
    let all = (waits + replay.issued).max(1) as f64;
    let mut lines: Vec<LineWait> = replay
        .lines
        .iter()
        .map(|(&(line, reason), &ticks)| LineWait {
            line,
            reason,
            percent: 100.0 * ticks as f64 / all,
        })
        .collect();
    lines.sort_by(|a, b| {
        b.percent
            .total_cmp(&a.percent)
            .then(a.line.cmp(&b.line))
            .then(a.reason.cmp(&b.reason))
    });
    lines.truncate(LINES);
    lines
}
