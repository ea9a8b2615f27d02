//! An entry's operations as a tree of steps with numbered values; [`super::decode`] makes it.

use smallvec::SmallVec;

use super::operation::Action;
use crate::ir::OpId;

/// Where a value lives in a block's environment.
pub type Slot = u32;

/// Deepest nesting of regions; a thread's stack holds several times as many.
pub const MAX_DEPTH: usize = 100;

/// The operations of one region.
pub struct Code {
    pub arguments: SmallVec<[Slot; 4]>,
    pub steps: Vec<Step>,
    /// Whether it works element by element: it may run on many elements at once where it is
    /// written for one.
    pub lanewise: bool,
}

/// One operation.
pub struct Step {
    pub op: OpId,
    pub inputs: SmallVec<[Slot; 4]>,
    pub outputs: SmallVec<[Slot; 2]>,
    /// Bits and number of the elements of each result that is a tile.
    pub tiles: SmallVec<[Option<(u32, usize)>; 2]>,
    pub what: What,
}

pub enum What {
    Do(Action),
    If {
        then: Code,
        otherwise: Option<Code>,
    },
    For {
        width: u32,
        unsigned: bool,
        body: Code,
    },
    Loop(Code),
    Fold(Box<Fold>),
    End(Ending),
}

/// How a region ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    Yield,
    Continue,
    Break,
    Return,
}

/// A `reduce` or `scan`.
pub struct Fold {
    pub kind: FoldKind,
    /// Extents before the folded dimension, of it, and after it.
    pub outer: usize,
    pub extent: usize,
    pub inner: usize,
    /// Per operand, element bits and the identity.
    pub operands: Vec<(u32, u64)>,
    pub body: Code,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FoldKind {
    Reduce,
    Scan { reverse: bool },
}
