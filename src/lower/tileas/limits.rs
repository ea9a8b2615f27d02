//! How much a thread, a warp and a block can hold, and how many stages pay: numbers that several schedules go by.

/// Most warps that share a tile.
pub const MAX_WARPS: u64 = 16;

/// Most elements of all tiles that live side by side that a warp can hold: 160 registers a thread.
const MOST_TOGETHER: u64 = 160 * 32;

/// Most elements of all tiles that live side by side that a block can hold, however many its warps.
pub const MOST_IN_BLOCK: u64 = MAX_WARPS / 2 * MOST_TOGETHER;

/// Registers of a thread for addresses, counters and what is computed between matmuls, next to its tiles.
pub const REGISTERS_BESIDE_TILES: u64 = 40;

/// The same where nothing but what is loaded and carried counts.
pub const REGISTERS_BESIDE_LOADS: u64 = 24;

/// Warps of a multiprocessor that keep it busy: three for each of its four parts, of which some load while others compute.
/// For more, ptxas begins to spill what it computes.
pub const BUSY_WARPS: u64 = 12;

/// Fewest stages of a ring with which its loads run ahead: one is filled while the other is read.
pub const FEWEST_STAGES: u64 = 2;

/// Most stages that pay of a ring that tensor copies fill.
pub const MAX_STAGES: u64 = 8;

/// Most stages that pay of a ring that threads fill by `cp.async`: all of the block, or a producer's, so that as many blocks
/// share a multiprocessor.
pub const MAX_STAGES_OF_THREADS: u64 = 4;

/// Most stages of a ring that threads fill from their registers, which hold one more.
pub const MAX_STAGES_THROUGH_REGISTERS: u64 = 2;

/// Stages of a ring with which its loads are early enough, as a rule.
pub const ENOUGH_STAGES: u64 = 4;

/// As many stages as fit: a power of two where at least four do.
pub fn stages_that_fit(room: u64, bytes: u64) -> Option<u64> {
    match (room / bytes.max(1)).min(MAX_STAGES) {
        0 => None,
        n @ 1..=3 => Some(n),
        n => Some(1 << n.ilog2()),
    }
}
