//! How many blocks fit.

use crate::abi::LaunchConfig;
use crate::call::{get, put};
use crate::device::{multiprocessors, occupancy};
use crate::module::KERNELS;
use crate::settings::settings;
use crate::status::{Result, Status};

fn active(function: u64, threads: i32, dynamic: u64) -> Result<i32> {
    let kernel = KERNELS.get(function)?;
    let program = kernel.program()?;
    if threads > kernel.max_threads(&program) {
        return Ok(0);
    }
    Ok(occupancy(threads, kernel.static_shared(&program) + dynamic))
}

fn best(function: u64, size: impl Fn(i32) -> u64, limit: i32) -> Result<(i32, i32)> {
    let kernel = KERNELS.get(function)?;
    let most = kernel.max_threads(&*kernel.program()?);
    let most = if limit > 0 { most.min(limit) } else { most };
    let mut found = (0, 0, 0);
    for threads in (1..=most / 32).rev().map(|w| 32 * w) {
        let blocks = active(function, threads, size(threads))?;
        if blocks * threads > found.0 {
            found = (blocks * threads, blocks, threads);
        }
    }
    Ok((found.1 * multiprocessors(), found.2))
}

type SharedOf = Option<extern "C" fn(i32) -> u64>;

export! {
    cuOccupancyMaxActiveBlocksPerMultiprocessor(to: *mut i32, function: u64, threads: i32, dynamic: u64) {
        put(to, active(function, threads, dynamic)?)
    }

    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to: *mut i32, function: u64, threads: i32, dynamic: u64,
        _flags: u32) {
        put(to, active(function, threads, dynamic)?)
    }

    cuOccupancyMaxPotentialBlockSize(grid: *mut i32, block: *mut i32, function: u64, size: SharedOf, dynamic: u64,
        limit: i32) {
        let (blocks, threads) = best(function, |t| size.map_or(dynamic, |f| f(t)), limit)?;
        put(grid, blocks)?;
        put(block, threads)
    }

    cuOccupancyMaxPotentialBlockSizeWithFlags(grid: *mut i32, block: *mut i32, function: u64, size: SharedOf,
        dynamic: u64, limit: i32, _flags: u32) {
        let (blocks, threads) = best(function, |t| size.map_or(dynamic, |f| f(t)), limit)?;
        put(grid, blocks)?;
        put(block, threads)
    }

    cuOccupancyAvailableDynamicSMemPerBlock(to: *mut u64, function: u64, blocks: i32, _threads: i32) {
        let kernel = KERNELS.get(function)?;
        let limit = u64::from(settings().target.shared_per_block());
        let each = limit / u64::try_from(blocks.max(1)).unwrap_or(1);
        put(to, each.saturating_sub(kernel.static_shared(&*kernel.program()?)))
    }

    cuOccupancyMaxActiveClusters(to: *mut i32, function: u64, config: *const LaunchConfig) {
        let config = get(config)?;
        let threads = config.block.iter().product::<u32>() as i32;
        let blocks = active(function, threads, config.shared.into())? * multiprocessors();
        let cluster = KERNELS.get(function)?.program()?.attributes.cluster.unwrap_or([1; 3]);
        put(to, blocks / cluster.iter().product::<u32>().max(1) as i32)
    }

    cuOccupancyMaxPotentialClusterSize(to: *mut i32, function: u64, _config: *const LaunchConfig) {
        KERNELS.get(function)?;
        match crate::device::attribute(120)? {
            0 => Err(Status::NOT_SUPPORTED),
            _ => put(to, 8),
        }
    }
}
