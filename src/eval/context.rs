//! What a block of the grid knows besides its values, and why it stops.

use std::cell::RefCell;
use std::sync::atomic::AtomicU64;

use rustc_hash::FxHashMap;

use super::memory::Memory;
use crate::ir::OpId;

/// What a block knows besides its values.
pub struct Context<'a> {
    pub memory: &'a Memory,
    pub globals: &'a FxHashMap<String, u64>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The block's place in the order of blocks.
    pub index: u64,
    /// The first block known to have failed; later ones need not go on.
    pub failed: &'a AtomicU64,
    /// What the block printed.
    pub output: RefCell<String>,
    /// The first assertion that failed.
    pub assertion: RefCell<Option<Fault>>,
    /// Live allocations, innermost last.
    pub allocations: RefCell<Vec<u64>>,
    /// The most steps to run.
    pub steps: u64,
}

/// Why a block stopped.
pub struct Fault {
    pub op: OpId,
    pub message: String,
}
