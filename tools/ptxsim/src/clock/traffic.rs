//! What a grid asks of L2, and what of that is not there.

use super::gpu::Gpu;
use super::memory::Load;
use super::subject::Subject;
use super::trace::{ClusterTrace, LINE, Neighbour};
use rustc_hash::FxHashSet;

/// Bytes of the whole grid, as far as the recorded clusters tell.
pub struct Traffic {
    /// asked of L2
    pub read: f64,
    /// not found there
    pub missed: f64,
    /// written
    pub written: f64,
}

impl Traffic {
    /// Every byte comes from device memory once. What does not fit L2 comes again with every wave that reads it.
    pub fn of(subject: &Subject<'_>, gpu: &Gpu, resident: u64) -> Traffic {
        let count = subject.traces.len() as f64;
        let mean = |f: &dyn Fn(&ClusterTrace) -> u64| {
            subject.traces.iter().map(|t| f(t) as f64).sum::<f64>() / count
        };
        let clusters = subject.clusters() as f64;
        let read = mean(&|t| t.bytes_read) * clusters;
        let lines = mean(&|t| t.lines_read) * LINE as f64;
        let written = mean(&|t| t.lines_written) * LINE as f64 * clusters;
        let written = written.min(subject.buffers as f64);
        let all = (lines * clusters)
            .min(subject.buffers as f64 - written)
            .max(lines);
        let missed = if all <= gpu.get("l2_bytes") {
            all
        } else {
            let waves = (clusters / resident as f64).max(1.0);
            let wave = together(subject.neighbours, lines, resident as f64);
            (wave.min(all) * waves).max(all)
        };
        Traffic {
            read,
            missed: missed.min(read),
            written,
        }
    }

    /// Cycles that the bytes take by themselves: what was written is on its way when the last warp has ended.
    pub fn least_cycles(&self, gpu: &Gpu, load: &Load) -> f64 {
        let dram = gpu.dram_share(load.active, load.mhz) * load.active;
        let l2 = gpu.l2_share(load.active) * load.active;
        ((self.missed + self.written) / dram).max((self.read + self.written) / l2)
    }
}

/// Bytes that `count` clusters beside one another read, each line once: those of the recorded neighbours, and for each
/// further one as many as the second half of these added. Without neighbours, `each`.
fn together(neighbours: &[Neighbour], each: f64, count: f64) -> f64 {
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let mut growth = vec![0.0];
    for neighbour in neighbours {
        seen.extend(&neighbour.lines);
        growth.push(seen.len() as f64 * LINE as f64);
    }
    let (known, half) = (neighbours.len(), neighbours.len() / 2);
    if half == 0 {
        return each * count;
    }
    match growth.get(count as usize) {
        Some(bytes) => *bytes,
        None => {
            let added = (growth[known] - growth[half]) / (known - half) as f64;
            growth[known] + added * (count - known as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tiles of a product in columns of eight: tile i reads row i % 8 of A and column i / 8 of B, 100 lines each. 128 of
    /// them read 8 rows and 16 columns.
    #[test]
    fn tiles_share_what_they_read() {
        let lines = |first: u64| first * 100..first * 100 + 100;
        let neighbours: Vec<Neighbour> = (0..16)
            .map(|i| Neighbour {
                serial: i,
                lines: lines(i % 8).chain(lines(1000 + i / 8)).collect(),
            })
            .collect();
        let want = |rows: f64, columns: f64| (rows + columns) * 100.0 * 128.0;
        assert_eq!(together(&neighbours, 0.0, 4.0), want(4.0, 1.0));
        assert_eq!(together(&neighbours, 0.0, 128.0), want(8.0, 16.0));
        assert_eq!(together(&[], 5.0, 3.0), 15.0);
    }
}
