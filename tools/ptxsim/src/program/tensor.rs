//! Tensor memory and `tcgen05` (PTX ISA 9.7.16).

use super::address::Address;
use super::operand::{PredSrc, Reg, Src};

/// Instructions of the `tcgen05` family.
#[derive(Debug)]
pub enum Tensor {
    /// `tcgen05.alloc`, `.dealloc`, `.relinquish_alloc_permit`
    Allocation(Allocation),
    /// `tcgen05.ld`, `.st`
    Move(Box<TensorMove>),
    /// `tcgen05.wait::ld`, `::st`
    Wait {
        /// for stores, else for loads
        stores: bool,
    },
    /// `tcgen05.fence::before_thread_sync`, `::after_thread_sync`
    Fence {
        /// `::after_thread_sync`
        after: bool,
    },
    /// `tcgen05.commit`
    Commit {
        /// `.cta_group::2`
        pair: bool,
        /// the mbarrier
        barrier: Address,
        /// blocks of `.multicast::cluster`
        multicast: Option<Src>,
    },
    /// `tcgen05.cp`
    Copy(Box<TensorFill>),
    /// `tcgen05.shift`
    Shift {
        /// `.cta_group::2`
        pair: bool,
        /// in tensor memory
        address: TensorAddress,
    },
    /// `tcgen05.mma`
    Mma(Box<TensorMma>),
}

/// `[base + offset]` in tensor memory: lane in the upper half, column in the lower.
#[derive(Debug, Clone, Copy)]
pub struct TensorAddress {
    /// register
    pub base: Src,
    /// added to it
    pub offset: i64,
}

/// What concerns allocations.
#[derive(Debug)]
pub struct Allocation {
    /// `.cta_group::2`
    pub pair: bool,
    /// which of them
    pub what: AllocationKind,
}

/// `tcgen05.alloc` and its relatives.
#[derive(Debug)]
pub enum AllocationKind {
    /// writes the address into shared memory
    Alloc {
        /// where
        to: Address,
        /// how many
        columns: Src,
    },
    /// gives columns back
    Dealloc {
        /// address that `alloc` gave
        address: Src,
        /// how many
        columns: Src,
    },
    /// no more allocations by this block
    Relinquish,
}

/// Shapes of `tcgen05.ld` and `tcgen05.st`: lanes × bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MoveShape {
    L32B32,
    L16B64,
    L16B128,
    L16B256,
    /// two halves of 16 lanes × 32 bits, the second this many columns further
    L16B32x2 {
        split: u32,
    },
}

/// `.red` of `tcgen05.ld`: minimum or maximum over a thread's registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadReduce {
    /// where it goes
    pub dst: Reg,
    /// `.max`
    pub max: bool,
    /// type of the elements
    pub ty: ReduceType,
    /// `.abs`
    pub abs: bool,
    /// `.NaN`
    pub nan: bool,
}

/// Element types of `tcgen05.ld.red`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ReduceType {
    F32,
    U32,
    S32,
}

/// `tcgen05.ld` and `tcgen05.st`
#[derive(Debug)]
pub struct TensorMove {
    /// `st`, else `ld`
    pub store: bool,
    /// base dimension
    pub shape: MoveShape,
    /// repetitions along the columns
    pub count: u32,
    /// `.pack::16b`, `.unpack::16b`
    pub packed: bool,
    /// where in tensor memory
    pub address: TensorAddress,
    /// registers
    pub regs: Vec<Src>,
    /// `.red`
    pub reduce: Option<LoadReduce>,
}

/// Shapes of `tcgen05.cp` with what they need of `.multicast`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FillShape {
    L128B256,
    L128B128,
    L4B256,
    /// `.64x128b.warpx2::02_13`
    L64Pairs02,
    /// `.64x128b.warpx2::01_23`
    L64Pairs01,
    /// `.32x128b.warpx4`
    L32Four,
}

/// Formats that `tcgen05.cp` unpacks into bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpack {
    /// `.b8x16.b6x16_p32`
    Six,
    /// `.b8x16.b4x16_p64`
    Four,
}

/// `tcgen05.cp`
#[derive(Debug)]
pub struct TensorFill {
    /// `.cta_group::2`
    pub pair: bool,
    /// lanes × bits
    pub shape: FillShape,
    /// decompression
    pub unpack: Option<Unpack>,
    /// where to
    pub address: TensorAddress,
    /// matrix descriptor of the source
    pub source: Src,
}

/// `.kind` of `tcgen05.mma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MmaKind {
    F16,
    Tf32,
    F8f6f4,
    I8,
    Mxf8f6f4,
    Mxf4,
    Mxf4nvf4,
}

impl MmaKind {
    /// True for kinds with `.block_scale`.
    pub fn is_scaled(self) -> bool {
        matches!(self, MmaKind::Mxf8f6f4 | MmaKind::Mxf4 | MmaKind::Mxf4nvf4)
    }

    /// True for kinds that have nothing but packed 4-bit elements.
    pub fn is_packed(self) -> bool {
        matches!(self, MmaKind::Mxf4 | MmaKind::Mxf4nvf4)
    }
}

/// What is done with a collector buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Collect {
    Fill,
    Use,
    LastUse,
    Discard,
}

/// Where A of `tcgen05.mma` lies.
#[derive(Debug, Clone, Copy)]
pub enum TensorA {
    /// in shared memory, by descriptor
    Shared(Src),
    /// in tensor memory
    Tensor(TensorAddress),
}

/// Scale factors of `.block_scale`.
#[derive(Debug, Clone, Copy)]
pub struct TensorScales {
    /// elements of k per scale; none if `.scale_vectorsize` is left out
    pub block: Option<ScaleSize>,
    /// of A
    pub a: TensorAddress,
    /// of B
    pub b: TensorAddress,
}

/// `.scale_vectorsize`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleSize {
    /// `.scale_vec::NX`: scales per row
    Vectors(usize),
    /// `.blockN`: elements per scale
    Block(usize),
}

/// `tcgen05.mma`, `.sp`, `.ws`
#[derive(Debug)]
pub struct TensorMma {
    /// `.cta_group::2`
    pub pair: bool,
    /// `.kind`
    pub kind: MmaKind,
    /// `.ws`
    pub stationary: bool,
    /// accumulator
    pub d: TensorAddress,
    /// first factor
    pub a: TensorA,
    /// second factor
    pub b: Src,
    /// metadata of `.sp`
    pub metadata: Option<TensorAddress>,
    /// instruction descriptor
    pub descriptor: Src,
    /// `.block_scale`
    pub scales: Option<TensorScales>,
    /// `disable-output-lane`, four or eight words
    pub disabled: Vec<Src>,
    /// `enable-input-d`
    pub accumulate: PredSrc,
    /// `scale-input-d`: D is divided by this power of two first
    pub scale_d: u32,
    /// `.ashift`
    pub shift_a: bool,
    /// collector buffer (A's, or the number of one of B's with `.ws`) and what is done with it
    pub collect: (u8, Collect),
    /// zero-column mask of `.ws`
    pub zero_columns: Option<Src>,
}
