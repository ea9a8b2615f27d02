//! Where everything that was chosen stands: blocks of operations, values by number.

use super::build::BlockIx;
use super::node::{AttrTable, Head, Leaf};
use crate::ir::{BlockId, LocId, OpId, TypeId, ValueId};
use smallvec::SmallVec;

/// Number of a value of a [`Schedule`].
pub type Val = u32;

/// A value and where it came from.
#[derive(Clone, Debug)]
pub struct ScheduledValue {
    pub ty: TypeId,
    /// The module's value, for block arguments and results of operations with regions.
    pub source: Option<ValueId>,
}

/// An operation or machine instruction at its place.
#[derive(Clone, Debug)]
pub struct Inst {
    pub head: Head,
    /// Attributes in table order.
    pub attrs: SmallVec<[Leaf; 4]>,
    /// Operands, groups one after another.
    pub operands: SmallVec<[Val; 4]>,
    /// End of each operand group within `operands`.
    pub groups: SmallVec<[u32; 4]>,
    pub results: SmallVec<[Val; 2]>,
    pub loc: LocId,
}

/// What a block holds, in order.
#[derive(Clone, Debug)]
pub enum Step {
    Inst(Inst),
    /// An operation with regions; its blocks are indices into the schedule's.
    Region {
        op: OpId,
        operands: Vec<Val>,
        blocks: Vec<BlockIx>,
        results: Vec<Val>,
    },
    Terminator {
        op: OpId,
        operands: Vec<Val>,
    },
}

/// A block.
#[derive(Clone, Debug)]
pub struct ScheduledBlock {
    pub id: BlockId,
    pub args: Vec<Val>,
    pub steps: Vec<Step>,
    /// Nothing refers to it any more.
    pub dead: bool,
}

/// A whole function with everything chosen and placed. Block 0 is the function's own.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub blocks: Vec<ScheduledBlock>,
    pub values: Vec<ScheduledValue>,
    /// What [`Leaf::Data`] refers to.
    pub attrs: AttrTable,
}
