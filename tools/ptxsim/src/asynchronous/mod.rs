//! The asynchronous world: copies and matrix operations that finish after they are issued.

/// Asynchronous work that belongs to one warp.
#[derive(Debug, Default)]
pub struct WarpPending {}
