//! Decoded instructions.

pub use super::address::{Address, Order, Scope, Space};
pub use super::copies::{BulkCopy, BulkDirection, BulkReduce, MapField, TensorCopy, TensorMode};
pub use super::matrix::{
    AccTy, BlockScale, MatTy, MatrixMove, MatrixShape, Mma, Product, Wgmma, WgmmaA, WmmaMove,
};
pub use super::operand::{Pred, PredSrc, Reg, Src};
pub use super::words::{AtomOp, BarKind, MbarOp, Redux, ShflMode, Special, VoteMode, WaitPhase};

use super::Row;
use super::class::Class;
use super::tensor::Tensor;
use super::types::Ty;
use crate::clock::weight::Weight;
use crate::num::{Overflow, Round};

/// Arithmetic on whole rows: three or four sources, one result.
pub type LaneFn = Box<dyn Fn(&Row, &Row, &Row, &Row, &mut Row) + Send + Sync>;

/// Arithmetic with a carry: a, b, c, carry in to result and carry out.
pub type CarryFn = fn(u64, u64, u64, bool) -> (u64, bool);

/// What `clusterlaunchcontrol.query_cancel` asks.
#[derive(Debug, Clone)]
pub enum Query {
    /// whether a cluster was cancelled
    IsCanceled(Pred),
    /// its first block: x, y and z
    FirstBlock([Option<Reg>; 3]),
}

/// Boolean combination of `setp` and `set`, and of the predicate logic instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Xor,
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
    /// `malloc` of the driver
    Malloc,
    /// `free` of the driver
    Free,
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
    Wmma(Box<Product>),
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
    TryCancel {
        address: Address,
        barrier: Address,
        multicast: bool,
    },
    QueryCancel {
        response: [Src; 2],
        what: Query,
    },
    Alloca {
        dst: Reg,
        size: Src,
        align: u32,
    },
    StackSave {
        dst: Reg,
    },
    StackRestore {
        src: Src,
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
    /// `tcgen05`
    Tensor(Tensor),
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
    /// what it counts as
    pub class: Class,
    /// what it costs a GPU
    pub weight: Weight,
}

impl Inst {
    /// The first register that it writes, where that is an ordinary one.
    pub fn result(&self) -> Option<Reg> {
        match &self.op {
            Op::Lanes { dst, .. }
            | Op::Move { dst, .. }
            | Op::Select { dst, .. }
            | Op::Special { dst, .. }
            | Op::Pack { dst, .. }
            | Op::Carry { dst, .. }
            | Op::Shfl { dst, .. }
            | Op::Redux { dst, .. }
            | Op::CvtaTo { dst, .. }
            | Op::Mapa { dst, .. } => Some(*dst),
            Op::Load { dsts, .. } | Op::Unpack { dsts, .. } | Op::Atom { dsts, .. } => {
                dsts.iter().flatten().next().copied()
            }
            Op::Mma(mma) => mma.product.d.first().copied(),
            _ => None,
        }
    }
}
