//! What a launch did, counted.

use serde::Serialize;

/// Counters of a launch or a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// instructions executed by warps
    pub warp_instructions: u64,
    /// instructions executed by lanes
    pub thread_instructions: u64,
    /// bytes loaded from global memory by lanes
    pub global_load_bytes: u64,
    /// bytes stored to global memory by lanes
    pub global_store_bytes: u64,
    /// 32-byte sectors of global memory that loads and stores touched
    pub global_sectors: u64,
    /// fewest sectors that could have carried those bytes
    pub global_sectors_ideal: u64,
    /// bytes loaded from shared memory by lanes
    pub shared_load_bytes: u64,
    /// bytes stored to shared memory by lanes
    pub shared_store_bytes: u64,
    /// extra passes over shared memory because lanes hit the same bank
    pub bank_conflicts: u64,
    /// bytes moved by asynchronous copies
    pub async_bytes: u64,
    /// multiply-adds in matrix instructions
    pub matrix_multiply_adds: u64,
}

impl Stats {
    /// Counts a matrix product.
    pub fn matrix(&mut self, multiply_adds: usize) {
        self.matrix_multiply_adds += multiply_adds as u64;
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Stats) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.global_load_bytes += other.global_load_bytes;
        self.global_store_bytes += other.global_store_bytes;
        self.global_sectors += other.global_sectors;
        self.global_sectors_ideal += other.global_sectors_ideal;
        self.shared_load_bytes += other.shared_load_bytes;
        self.shared_store_bytes += other.shared_store_bytes;
        self.bank_conflicts += other.bank_conflicts;
        self.async_bytes += other.async_bytes;
        self.matrix_multiply_adds += other.matrix_multiply_adds;
    }
}
