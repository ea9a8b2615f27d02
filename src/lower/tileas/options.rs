//! What the user may ask for.

/// What the user may ask for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Use tensor maps where the target has them.
    pub tma: bool,
    /// Let loads run ahead of their use in loops.
    pub pipelines: bool,
    /// Give warps roles of their own.
    pub roles: bool,
    /// Warps that hold tiles; `None`: decided per kernel.
    pub warps: Option<u64>,
    /// Let several blocks, a cluster, share a tile block's work where its hints ask for that.
    pub clusters: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tma: true,
            pipelines: true,
            roles: true,
            warps: None,
            clusters: true,
        }
    }
}
