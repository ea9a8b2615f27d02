//! What happened when in one cluster.

/// Whose span it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Track {
    /// block within the cluster
    pub block: u32,
    /// warp within the block
    pub warp: u32,
}

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// the warp executes
    Run,
    /// waits at `bar` or `barrier`
    Barrier,
    /// waits for an mbarrier's phase
    Mbarrier,
    /// waits at the cluster barrier
    Cluster,
    /// some lanes wait for others of the warp
    Converge,
    /// waits for registers
    Registers,
    /// waits for tensor memory
    TensorMemory,
    /// a bulk or tensor copy in flight
    Bulk,
    /// `cp.async` in flight
    CpAsync,
    /// a `wgmma` group in flight
    Wgmma,
    /// a `tcgen05` operation in flight
    Tcgen05,
    /// `mma` or `wmma`
    Mma,
    /// waits for results of arithmetic
    Results,
    /// waits for shared memory
    SharedMemory,
    /// waits for global memory
    GlobalMemory,
    /// waits for matrix products
    Products,
    /// waits for groups of copies
    Copies,
    /// waits for a pipeline or a scheduler
    Pipeline,
}

/// A stretch of time.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// whose
    pub track: Track,
    /// what
    pub kind: Kind,
    /// begin: a number of warp instructions of the cluster, or of cycles
    pub from: u64,
    /// end
    pub to: u64,
    /// line of the PTX text that began it
    pub line: u32,
    /// bytes of copies, multiply-adds of matrix work
    pub amount: u64,
}

/// Spans of a cluster's warps.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    /// what time is counted in
    pub unit: String,
    /// blocks by their rank in the cluster
    pub blocks: Vec<[u32; 3]>,
    /// warps of each
    pub warps_per_block: u32,
    /// end of time
    pub end: u64,
    /// in the order of their ends
    pub spans: Vec<Span>,
    /// there were more
    pub truncated: bool,
}
