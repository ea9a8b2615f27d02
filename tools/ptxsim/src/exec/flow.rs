//! Where a fragment goes after an instruction.

use super::warp::Wait;

/// Where the fragment goes next.
#[derive(Debug, Clone, Copy)]
pub enum Flow {
    /// to the next instruction
    Next,
    /// to the next instruction, and another warp may run first
    Yield,
    /// all lanes elsewhere
    Jump(u32),
    /// some lanes elsewhere
    Diverge {
        /// where
        target: u32,
        /// who
        lanes: u32,
    },
    /// some lanes elsewhere; the others execute the same instruction again
    Peel {
        /// where
        target: u32,
        /// who
        lanes: u32,
    },
    /// the same instruction again once the reason is gone
    Wait(Wait),
    /// these lanes are done
    Exit(u32),
}
