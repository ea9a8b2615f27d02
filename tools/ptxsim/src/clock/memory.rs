//! L1, L2 and device memory as one multiprocessor sees them: its share of their bandwidth, and their latencies.

use super::cost::{CYCLE, Tick, ticks};
use super::gpu::Gpu;
use super::trace::LINE;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// What a launch does to memory, as the grid model has worked it out.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// multiprocessors that work at once
    pub active: f64,
    /// clock in MHz
    pub mhz: f64,
    /// share of the bytes read from L2 that are not there
    pub read_misses: f64,
    /// bytes of L1 that shared memory leaves
    pub l1_bytes: u64,
}

/// The way to memory of one multiprocessor.
#[derive(Debug)]
pub struct Memory {
    l2_rate: f64,
    dram_rate: f64,
    l1_latency: Tick,
    l2_latency: Tick,
    dram_latency: Tick,
    misses: f64,
    /// fractions of lines that miss, not yet a line
    owed: f64,
    l2_free: Tick,
    dram_free: Tick,
    l1: FxHashSet<u64>,
    l1_order: VecDeque<u64>,
    l1_lines: usize,
}

impl Memory {
    /// With nothing under way.
    pub fn new(gpu: &Gpu, load: &Load) -> Memory {
        Memory {
            l2_rate: gpu.l2_share(load.active),
            dram_rate: gpu.dram_share(load.active, load.mhz),
            l1_latency: ticks(gpu.get("l1_latency")),
            l2_latency: ticks(gpu.get("l2_latency")),
            dram_latency: ticks(gpu.get("dram_latency")),
            misses: load.read_misses,
            owed: 0.0,
            l2_free: 0,
            dram_free: 0,
            l1: FxHashSet::default(),
            l1_order: VecDeque::new(),
            l1_lines: (load.l1_bytes / LINE) as usize,
        }
    }

    fn take(free: &mut Tick, now: Tick, bytes: f64, rate: f64) -> Tick {
        *free = (*free).max(now) + (bytes / rate * CYCLE as f64) as Tick;
        *free
    }

    /// Bytes from L2, or from behind it; when the last of them is there.
    pub fn read(&mut self, now: Tick, bytes: u64) -> Tick {
        if bytes == 0 {
            return now;
        }
        let mut done =
            Self::take(&mut self.l2_free, now, bytes as f64, self.l2_rate) + self.l2_latency;
        self.owed += bytes as f64 * self.misses;
        let missing = (self.owed / LINE as f64).floor() * LINE as f64;
        if missing > 0.0 {
            self.owed -= missing;
            let there = Self::take(&mut self.dram_free, now, missing, self.dram_rate);
            done = done.max(there + self.dram_latency);
        }
        done
    }

    /// Bytes to L2, and in the end to device memory; when L2 has them.
    pub fn write(&mut self, now: Tick, bytes: u64) -> Tick {
        if bytes == 0 {
            return now;
        }
        let there = Self::take(&mut self.l2_free, now, bytes as f64, self.l2_rate);
        let written = Self::take(&mut self.dram_free, now, bytes as f64, self.dram_rate);
        // L2 takes what device memory has not, until it is full of it: a thousand cycles' worth.
        (there + self.l2_latency).max(written.saturating_sub(1000 * CYCLE))
    }

    /// A load of a warp by lines, through L1. `salt` tells blocks apart that are replayed from one recording.
    pub fn load(&mut self, now: Tick, lines: &[u64], sectors: u32, salt: u64) -> Tick {
        let mut missing = 0u64;
        for &line in lines {
            let line = line ^ salt << 48;
            if self.l1.insert(line) {
                missing += 1;
                self.l1_order.push_back(line);
                if self.l1_order.len() > self.l1_lines.max(1)
                    && let Some(old) = self.l1_order.pop_front()
                {
                    self.l1.remove(&old);
                }
            }
        }
        let bytes = u64::from(sectors) * 32 * missing / (lines.len() as u64).max(1);
        self.read(now, bytes).max(now + self.l1_latency)
    }
}
