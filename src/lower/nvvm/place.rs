//! Where operations are appended.

use super::Lower;
use super::emit::Emit;
use crate::ir::{BlockId, LocId, OpBuilder};

/// A block, and the source location that operations at its end get.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    block: BlockId,
    loc: LocId,
}

impl Place {
    pub fn new(block: BlockId, loc: LocId) -> Self {
        Place { block, loc }
    }
}

impl Lower<'_> {
    pub fn emit(&mut self) -> Emit<'_> {
        let Place { block, loc } = self.place;
        Emit {
            m: self.m,
            block,
            loc,
        }
    }

    /// A builder for operations with regions.
    pub fn build(&mut self) -> OpBuilder<'_> {
        let mut builder = self.m.at_end(self.place.block);
        builder.loc = self.place.loc;
        builder
    }

    /// The block that operations are appended to.
    pub fn block_at_hand(&self) -> BlockId {
        self.place.block
    }

    /// The location that operations get.
    pub fn loc(&self) -> LocId {
        self.place.loc
    }

    /// From here on operations come from there.
    pub fn come_from(&mut self, loc: LocId) {
        self.place.loc = loc;
    }

    /// Appends to `block` what `fill` does.
    pub fn within<T>(&mut self, block: BlockId, fill: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.place.block, block);
        let filled = fill(self);
        self.place.block = outer;
        self.memory.leave_region();
        filled
    }
}
