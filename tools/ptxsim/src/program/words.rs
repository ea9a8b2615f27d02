//! Words of opcodes as data: operations, modes, special registers, kinds of barriers.

use super::inst::{Pred, PredSrc, Reg, Src};

/// Which of the atomic operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomOp {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// `shfl` modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ShflMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// `vote` modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// Reductions of `redux` and `barrier.red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Redux {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Popc,
}

/// Special registers (PTX ISA 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    Clock,
    ClockHi,
    Clock64,
    Globaltimer,
    GlobaltimerLo,
    GlobaltimerHi,
    Clusterid(u8),
    Nclusterid(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    ReservedSmem,
    /// driver-defined registers, by number; `None` for others of the driver's
    Envreg(Option<u8>),
    /// address of a `.local` variable at this offset of the frame
    LocalAddress(u32),
    /// offset of a call parameter at this offset of the frame
    CallParamAddress(u32),
}

/// Barrier behaviours of `bar` and `barrier`.
#[derive(Debug, Clone, Copy)]
pub enum BarKind {
    /// wait
    Sync,
    /// arrive and go on
    Arrive,
    /// wait and reduce a predicate; `popc` writes a register, others a predicate
    Red(Redux, PredSrc),
}

/// `mbarrier` and related waits.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub enum MbarOp {
    Init {
        count: Src,
    },
    Inval,
    Arrive {
        count: Option<Src>,
        expect: Option<Src>,
        drop: bool,
        no_complete: bool,
        state: Option<Reg>,
    },
    ExpectTx {
        bytes: Src,
    },
    CompleteTx {
        bytes: Src,
    },
    TestWait {
        result: Pred,
        phase: WaitPhase,
        blocking: bool,
    },
    PendingCount {
        dst: Reg,
        state: Src,
    },
}

/// What a wait compares with.
#[derive(Debug, Clone, Copy)]
pub enum WaitPhase {
    /// a state from an arrive
    State(Src),
    /// a phase parity
    Parity(Src),
}
