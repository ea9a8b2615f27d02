//! Bulk groups: commit and wait.

use super::finish::{finish, stage};
use super::operation::Member;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::warp::Warp;
use crate::program::{LANES, lanes};

/// `cp.async.bulk.commit_group`
pub fn commit(warp: &mut Warp, active: u32) {
    for lane in lanes(active) {
        let groups = warp.pending.bulk.lanes.entry(lane).or_default();
        let open = std::mem::take(&mut groups.open);
        groups.closed.push_back(open);
    }
}

/// `cp.async.bulk.wait_group{.read}`
pub fn wait(
    env: &mut Env<'_>,
    warp: &mut Warp,
    active: u32,
    pending: u32,
    read_only: bool,
) -> Result<(), Trap> {
    for lane in 0..LANES {
        if active >> lane & 1 == 0 {
            continue;
        }
        let Some(groups) = warp.pending.bulk.lanes.get_mut(&lane) else {
            continue;
        };
        let finished = groups.closed.len().saturating_sub(pending as usize);
        let from = if read_only { groups.read } else { 0 };
        let members: Vec<Member> = groups
            .closed
            .iter()
            .take(finished)
            .skip(from)
            .flatten()
            .copied()
            .collect();
        groups.read = groups.read.max(finished);
        if !read_only {
            groups.closed.drain(..finished);
            groups.read -= finished;
        }
        for member in members {
            env.acquire(warp, member.reads);
            if !read_only {
                env.acquire(warp, member.writes);
            }
            let pending = &env.engine.pending;
            let Some(index) = pending.iter().position(|o| o.id == member.id) else {
                continue;
            };
            stage(env, index);
            if !read_only {
                finish(env, index).map_err(|t| t.at(lane))?;
            }
        }
    }
    Ok(())
}
