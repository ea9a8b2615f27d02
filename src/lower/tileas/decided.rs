//! The decisions for a kernel, which [`super::plan`] makes.

use super::pipeline;
use crate::ir::BlockId;
use crate::target::Target;

/// The decisions for one kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Warps that hold tiles.
    pub tile_warps: u64,
    /// The warps' roles, where they have any.
    pub roles: Option<pipeline::roles::Plan>,
    /// The `cp.async` pipelines.
    pub cp_async: Vec<pipeline::cp_async::Plan>,
    /// What threads copy once.
    pub once: Vec<pipeline::once::Site>,
    /// Blocks that should share a multiprocessor.
    pub occupancy: Option<i64>,
    /// Bytes of shared memory for operands that matmuls read there and that no pipeline brings.
    pub staging: u64,
}

/// How many blocks share a multiprocessor where a kernel asks for so many, or for none.
pub fn sharing(occupancy: Option<i64>) -> u64 {
    let asked = occupancy.and_then(|o| u64::try_from(o).ok());
    asked.unwrap_or(1).max(1)
}

/// What is known of a kernel when all that matmuls read has its place.
#[derive(Clone, Copy)]
pub struct Kernel<'p> {
    pub body: BlockId,
    pub target: &'p Target,
    pub plan: &'p Plan,
    /// Blocks that should share a multiprocessor.
    pub occupancy: Option<i64>,
}

impl Kernel<'_> {
    /// Warps that hold tiles.
    pub fn warps(&self) -> u64 {
        self.plan.tile_warps
    }

    /// Blocks that share a multiprocessor.
    pub fn blocks(&self) -> u64 {
        sharing(self.occupancy)
    }

    /// Registers that a thread that holds tiles can have.
    pub fn registers(&self) -> u64 {
        self.plan.registers(self.target, self.blocks())
    }
}

impl Plan {
    /// Warps of the block: those that hold tiles and a producer warpgroup.
    pub fn all_warps(&self) -> u64 {
        self.roles
            .as_ref()
            .map_or(self.tile_warps, |r| r.all_warps())
    }

    /// Blocks that should share a multiprocessor, as far as that is decided.
    pub fn blocks(&self) -> u64 {
        let in_turns = self.roles.as_ref().map_or(1, |r| r.together());
        sharing(self.occupancy).max(in_turns)
    }

    /// Registers that a thread that holds tiles can have where `blocks` blocks share a multiprocessor.
    pub fn registers(&self, target: &Target, blocks: u64) -> u64 {
        match &self.roles {
            Some(roles) if roles.redistributes() => roles.registers(target)[1],
            _ => target.registers_per_thread(self.all_warps() * blocks),
        }
    }
}
