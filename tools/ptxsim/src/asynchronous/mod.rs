//! The asynchronous world: copies and matrix operations that finish after they are issued.
//!
//! Every operation draws a due time when it is issued: some are due almost at once, most very late. It happens when it
//! is due, when somebody's wait forces it, or when nothing else can run. Both extremes are legal on hardware, and
//! between them a missing wait or a missing release shows as a wrong answer.

pub mod bulk;
pub mod cp_async;
pub mod launch_control;
pub mod mbarrier;
pub mod starts;
pub mod tcgen05;
pub mod tensormap;
pub mod tile;
mod transfer;
pub mod wgmma;

use crate::exec::rng::Rng;

/// Asynchronous work that belongs to one warp.
#[derive(Debug, Default)]
pub struct WarpPending {
    /// `cp.async`
    pub copies: cp_async::Queue,
    /// bulk groups per lane
    pub bulk: bulk::Groups,
    /// `wgmma`
    pub wgmma: wgmma::Queue,
}

/// Longest delay in cluster instructions; a bound, so that polling loops make progress.
const LONG: u64 = 100_000;

/// When an operation issued at `now` happens unless something forces it earlier.
pub fn due(rng: &mut Rng, now: u64) -> u64 {
    now + match rng.below(8) {
        0 => rng.below(32) as u64,
        1 | 2 => rng.below(2000) as u64,
        _ => LONG / 2 + rng.below(LONG as usize / 2) as u64,
    }
}
