//! Decoded instructions.

use super::Row;
use super::types::Ty;
use crate::num::{Overflow, Round};

/// Arithmetic on whole rows: three or four sources, one result.
pub type LaneFn = Box<dyn Fn(&Row, &Row, &Row, &Row, &mut Row) + Send + Sync>;

/// Arithmetic with a carry: a, b, c, carry in to result and carry out.
pub type CarryFn = fn(u64, u64, u64, bool) -> (u64, bool);

/// A general register: a row of the current frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reg(pub u32);

/// A predicate register: a mask of the current frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pred(pub u32);

/// A source: a register of the frame, or a row of the program's constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Src {
    /// register row
    Reg(u32),
    /// constant row
    Const(u32),
}

/// A predicate as a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PredSrc {
    /// which; `None` is the constant true
    pub pred: Option<Pred>,
    /// negated
    pub negated: bool,
}

/// Boolean combination of `setp` and `set`, and of the predicate logic instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// State space of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// decided by the address
    Generic,
    /// `.global`
    Global,
    /// `.shared`, `.shared::cta`
    Shared,
    /// `.shared::cluster`
    SharedCluster,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// entry parameters
    Param,
    /// parameters of calls, in the current frame
    CallParam,
}

/// Memory order of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// no qualifier
    Weak,
    /// `.volatile`, `.relaxed`, `.mmio`
    Relaxed,
    /// `.acquire` or `.release` or both
    Strong,
}

/// `[base + offset]`
#[derive(Debug, Clone, Copy)]
pub struct Address {
    /// its space
    pub space: Space,
    /// row with the base
    pub base: Src,
    /// bytes added
    pub offset: i64,
    /// the base is relative to the frame's local or parameter area
    pub in_frame: bool,
}

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
    Envreg,
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

/// Element types of matrix multiplications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MatTy {
    F16,
    BF16,
    TF32,
    F64,
    E4M3,
    E5M2,
    E2M3,
    E3M2,
    E2M1,
    S8,
    U8,
    S4,
    U4,
    B1,
}

/// Accumulator types of matrix multiplications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AccTy {
    F16,
    F32,
    F64,
    S32,
}

/// `mma.sync`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Mma {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a_ty: MatTy,
    pub b_ty: MatTy,
    pub c_ty: AccTy,
    pub d_ty: AccTy,
    pub d: Vec<Reg>,
    pub a: Vec<Src>,
    pub b: Vec<Src>,
    pub c: Vec<Src>,
    /// `.satfinite` of integers
    pub saturate: bool,
    /// 1-bit operation: true for `.and.popc`, false for `.xor.popc`
    pub bit_and: bool,
    /// `.row` of A and `.col` of B, which `m8n8k4` of halves may have otherwise
    pub a_row: bool,
    pub b_col: bool,
    /// `mma.sp`: metadata, selector, and whether it is `::ordered_metadata`
    pub sparse: Option<(Src, u32)>,
    /// block scaling: scale vector size, scale format is e4m3 (else e8m0), (a data, byte, thread), (b data, byte, thread)
    pub scale: Option<BlockScale>,
}

/// Block scale operands of `mma … .block_scale`.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct BlockScale {
    pub vectors: usize,
    pub e4m3: bool,
    pub a: (Src, Src, Src),
    pub b: (Src, Src, Src),
}

/// `ldmatrix` and `stmatrix`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct MatrixMove {
    pub address: Address,
    pub regs: Vec<Src>,
    pub trans: bool,
    /// bytes per row: 16 for b16 rows of 8; 8-bit matrices are 16 rows with `.trans`
    pub shape: MatrixShape,
    pub store: bool,
}

/// Matrix shapes of `ldmatrix`/`stmatrix`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MatrixShape {
    M8n8B16,
    M16n8B8,
    M16n16B8,
    /// 4-bit or 6-bit elements padded in memory, expanded to bytes; true for 6-bit
    M8n16Unpack {
        six: bool,
    },
    M16n16Unpack {
        six: bool,
    },
}

/// `wgmma.mma_async`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Wgmma {
    pub n: usize,
    pub k: usize,
    pub a_ty: MatTy,
    pub b_ty: MatTy,
    pub d_ty: AccTy,
    pub d: Vec<Reg>,
    pub a: WgmmaA,
    pub b: Src,
    pub scale_d: PredSrc,
    pub negate_a: bool,
    pub negate_b: bool,
    pub a_mn_major: bool,
    pub b_mn_major: bool,
    pub saturate: bool,
    pub sparse: Option<(Src, u32)>,
    pub bit_and: bool,
}

/// `wmma.load` and `wmma.store` of one matrix
#[derive(Debug)]
#[allow(missing_docs)]
pub struct WmmaMove {
    pub rows: usize,
    pub columns: usize,
    /// of an element, in memory and in registers
    pub bits: u32,
    pub row_major: bool,
    pub regs: Vec<Src>,
    pub address: Address,
    /// elements between rows (columns where column-major)
    pub stride: Option<Src>,
    pub store: bool,
}

/// `wmma.mma`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Wmma {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a_ty: MatTy,
    pub b_ty: MatTy,
    pub c_ty: AccTy,
    pub d_ty: AccTy,
    pub d: Vec<Reg>,
    pub a: Vec<Src>,
    pub b: Vec<Src>,
    pub c: Vec<Src>,
    pub saturate: bool,
    /// 1-bit operation `.xor.popc`
    pub bit_xor: bool,
}

/// Where `wgmma`'s A lies.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum WgmmaA {
    Descriptor(Src),
    Registers(Vec<Src>),
}

/// Reduction of bulk copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkReduce {
    /// operation
    pub op: AtomOp,
    /// element type
    pub ty: Ty,
}

/// Modes of tensor copies.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum TensorMode {
    Tile,
    /// none for stores
    Im2col {
        offsets: Vec<Src>,
    },
    Gather4,
    Scatter4,
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, `cp.async.bulk.prefetch.tensor`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct TensorCopy {
    pub map: Address,
    pub coords: Vec<Src>,
    pub shared: Option<Address>,
    pub barrier: Option<Address>,
    pub direction: BulkDirection,
    pub mode: TensorMode,
    pub reduce: Option<AtomOp>,
    pub multicast: Option<Src>,
}

/// Direction and completion of a bulk copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkDirection {
    /// global to shared, completes on an mbarrier
    Load,
    /// shared to global, completes with bulk groups
    Store,
    /// shared of this block to shared of another, completes on its mbarrier
    Cluster,
    /// global to L2
    Prefetch,
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`
#[derive(Debug)]
#[allow(missing_docs)]
pub struct BulkCopy {
    pub dst: Option<Address>,
    pub src: Address,
    pub size: Src,
    pub barrier: Option<Address>,
    pub direction: BulkDirection,
    pub reduce: Option<BulkReduce>,
    pub multicast: Option<Src>,
    pub byte_mask: Option<Src>,
}

/// Fields of `tensormap.replace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MapField {
    GlobalAddress,
    Rank,
    BoxDim,
    GlobalDim,
    GlobalStride,
    ElementStride,
    Elemtype,
    Interleave,
    Swizzle,
    SwizzleAtomicity,
    Fill,
}

/// Whom a fence or an access is ordered for, from near to far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu`, `.sys`, `membar.gl`
    Device,
}

/// What `fence` and `membar` order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceKind {
    /// ordinary threads
    Memory(Scope),
    /// `fence.proxy.async`: generic and async proxies
    ProxyAsync,
    /// `fence.proxy.tensormap` and alias: nothing that this simulator reorders
    ProxyOther,
    /// `fence.mbarrier_init.release.cluster`
    MbarrierInit,
}

/// Everything a conversion may say.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct CvtMods {
    pub round: Option<Round>,
    pub to_integer: bool,
    pub ftz: bool,
    pub sat: bool,
    pub relu: bool,
    pub overflow: Overflow,
}

/// An argument or result of a call.
#[derive(Debug, Clone, Copy)]
pub enum CallValue {
    /// a call parameter at this offset of the caller's area, with its size
    Param(u32, u32),
    /// a source
    Value(Src),
    /// a register that receives a result
    Target(Reg),
}

/// Whom a call calls.
#[derive(Debug, Clone, Copy)]
pub enum Callee {
    /// a function of the program
    Function(u32),
    /// `vprintf`
    Printf,
    /// an `assert` failure
    AssertFail,
    /// through a register with a code address
    Indirect(Src),
}

/// What an instruction does.
#[allow(missing_docs)]
pub enum Op {
    /// dst = f(srcs)
    Lanes {
        f: LaneFn,
        dst: Reg,
        srcs: [Src; 4],
        count: u8,
    },
    /// dst = a, definedness included
    Move {
        dst: Reg,
        src: Src,
    },
    /// predicates from a comparison, combined with another predicate
    Compare {
        f: LaneFn,
        srcs: [Src; 4],
        count: u8,
        combine: Option<(BoolOp, PredSrc)>,
        p: Option<Pred>,
        q: Option<Pred>,
    },
    /// dst = f(srcs) where a boolean of the comparison becomes ones or 1.0: `set` with a predicate
    Carry {
        f: CarryFn,
        dst: Reg,
        srcs: [Src; 3],
        count: u8,
        reads: bool,
        writes: bool,
        carry: Pred,
    },
    PredLogic {
        op: BoolOp,
        dst: Pred,
        a: PredSrc,
        b: PredSrc,
    },
    PredMove {
        dst: Pred,
        src: PredSrc,
    },
    Select {
        dst: Reg,
        a: Src,
        b: Src,
        pred: PredSrc,
    },
    Special {
        dst: Reg,
        special: Special,
    },
    /// pieces of `bits` each, low first; `None` is `_`
    Unpack {
        dsts: Vec<Option<Reg>>,
        src: Src,
        bits: u32,
    },
    Pack {
        dst: Reg,
        srcs: Vec<Src>,
        bits: u32,
    },

    Load {
        dsts: Vec<Option<Reg>>,
        address: Address,
        ty: Ty,
        order: Order,
        extend_to: u32,
    },
    Store {
        srcs: Vec<Src>,
        address: Address,
        ty: Ty,
        order: Order,
    },
    Atom {
        op: AtomOp,
        ty: Ty,
        dsts: Vec<Option<Reg>>,
        address: Address,
        srcs: Vec<Src>,
        compare: Option<Src>,
        order: Order,
        red: bool,
    },
    Prefetch {
        address: Address,
        is_map: bool,
    },
    /// `st.bulk`
    ZeroShared {
        address: Address,
        size: Src,
    },
    CvtaTo {
        dst: Reg,
        src: Src,
        space: Space,
        to_generic: bool,
    },
    IsSpace {
        dst: Pred,
        src: Src,
        space: Space,
    },
    Mapa {
        dst: Reg,
        address: Src,
        offset: i64,
        rank: Src,
        generic: bool,
    },
    GetCtaRank {
        dst: Reg,
        address: Src,
        generic: bool,
    },

    Branch {
        target: u32,
        uniform: bool,
    },
    BranchIndirect {
        index: Src,
        targets: Vec<u32>,
    },
    Call {
        callee: Callee,
        args: Vec<CallValue>,
        returns: Vec<CallValue>,
    },
    Return,
    Exit,
    Trap,
    Breakpoint,
    Nop,
    Nanosleep,

    Bar {
        kind: BarKind,
        id: Src,
        count: Option<Src>,
        aligned: bool,
        dst_reg: Option<Reg>,
        dst_pred: Option<Pred>,
    },
    WarpSync {
        mask: Src,
    },
    Fence {
        kind: FenceKind,
    },
    Shfl {
        mode: ShflMode,
        dst: Reg,
        pred: Option<Pred>,
        src: Src,
        lane: Src,
        clamp: Src,
        mask: Src,
    },
    Vote {
        mode: VoteMode,
        dst: Option<Reg>,
        dst_pred: Option<Pred>,
        src: PredSrc,
        mask: Src,
    },
    Match {
        all: bool,
        dst: Reg,
        pred: Option<Pred>,
        src: Src,
        mask: Src,
    },
    Redux {
        op: Redux,
        ty: Ty,
        abs: bool,
        nan: bool,
        dst: Reg,
        src: Src,
        mask: Src,
    },
    Elect {
        dst: Option<Reg>,
        pred: Pred,
        mask: Src,
    },
    ActiveMask {
        dst: Reg,
    },

    Mma(Box<Mma>),
    Wmma(Box<Wmma>),
    WmmaMove(Box<WmmaMove>),
    MatrixMove(Box<MatrixMove>),
    MoveMatrix {
        dst: Reg,
        src: Src,
    },

    CpAsync {
        dst: Address,
        src: Address,
        bytes: u32,
        src_size: Option<Src>,
        ignore: Option<PredSrc>,
    },
    CpAsyncCommit,
    CpAsyncWait {
        pending: Option<u32>,
    },
    CpAsyncArrive {
        barrier: Address,
        no_increment: bool,
    },
    Mbarrier {
        op: MbarOp,
        address: Address,
    },
    BulkCopy(Box<BulkCopy>),
    TensorCopy(Box<TensorCopy>),
    BulkCommit,
    BulkWait {
        pending: u32,
        read_only: bool,
    },
    StAsync {
        address: Address,
        barrier: Address,
        srcs: Vec<Src>,
        ty: Ty,
        reduce: Option<AtomOp>,
    },
    TensormapReplace {
        address: Address,
        field: MapField,
        index: u32,
        value: Src,
    },
    TensormapCopy {
        dst: Address,
        src: Address,
    },

    WgmmaFence,
    WgmmaCommit,
    WgmmaWait {
        pending: u32,
    },
    Wgmma(Box<Wgmma>),
    SetMaxNreg {
        count: u32,
        increase: bool,
    },

    ClusterArrive {
        /// orders nothing by itself
        relaxed: bool,
    },
    ClusterWait,
    GridDependency,
}

/// One instruction with its guard.
pub struct Inst {
    /// lanes that execute it
    pub guard: PredSrc,
    /// what it does
    pub op: Op,
    /// 1-based line of the source
    pub line: u32,
}
