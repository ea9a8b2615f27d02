//! What a warp role does, in order, in one run.

use crate::ir::{OpId, ValueId};

/// Most roles that issue matmuls.
pub const ISSUERS: usize = 2;

/// How what is unknown turns out in one run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Scenario {
    /// Trips of the first loop of unknown length; every other length gets one more than the last.
    pub trips: u64,
    /// Most trips of a loop, a known length included.
    pub most: u64,
    /// What unknown conditions are.
    pub taken: bool,
}

/// An iteration of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingIteration {
    pub pipeline: ValueId,
    pub iteration: i64,
}

/// One use of a shared buffer: the stage of an iteration, or its only one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageUse {
    pub buffer: ValueId,
    pub iteration: Option<i64>,
}

/// What a role does to the protocol's state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    Acquire(RingIteration),
    Copy(RingIteration, ValueId),
    /// Each thread copies its part and arrives when that is done.
    CopyByThreads(RingIteration, ValueId),
    Commit(RingIteration),
    Wait(RingIteration),
    Release(RingIteration),
    Drain(ValueId),
    Read(StageUse),
    Write(StageUse),
    Fence,
    StoreOut(ValueId),
    /// The copies out of shared memory have read their buffers, as far as the thread that started them knows.
    StoreWait,
    /// A group numbered as given reads these buffers.
    Dot(u32, Vec<StageUse>),
    DotWait(usize),
    /// Uses what a group computes.
    Use(u32),
    /// A matmul reads these shared buffers, and reads and writes these in tensor memory.
    TensorDot(Vec<StageUse>, Vec<StageUse>),
    TensorLoad(StageUse),
    TensorStore(StageUse),
    /// A release by the matmuls issued so far.
    ReleaseByMatmuls(RingIteration),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    pub op: OpId,
    pub action: Action,
}

/// The events of a kernel: of all warps, then of each role.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    pub whole: Vec<Event>,
    pub producer: Vec<Event>,
    pub consumer: Vec<Event>,
    /// Of the threads that issue matmuls.
    pub matmuls: [Vec<Event>; ISSUERS],
    /// Some condition of the protocol's control flow was unknown.
    pub conditional: bool,
}
