//! Bulk and tensor copies.

use super::inst::{Address, Src};
use super::types::Ty;
use super::words::AtomOp;

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
    Im2colWide {
        all_128: bool,
        halo: Src,
        offset: Src,
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
    /// `.cta_group::2`: the mbarrier may be the other block's of the pair
    pub pair: bool,
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
