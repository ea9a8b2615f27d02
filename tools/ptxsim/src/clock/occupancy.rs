//! How many blocks a multiprocessor holds at once.

use super::gpu::Gpu;
use crate::clock::Subject;
use crate::program::Program;
use crate::program::inst::Op;
use crate::program::operand::Src;
use crate::program::tensor::{AllocationKind, Tensor};
use serde::Serialize;

/// What limits the number of resident blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Limit {
    Blocks,
    Warps,
    SharedMemory,
    Registers,
    TensorMemory,
    /// the grid has no more
    Grid,
}

/// Blocks of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Occupancy {
    /// blocks that are resident at once
    pub blocks: u32,
    /// warps of these
    pub warps: u32,
    /// what keeps more away
    pub limit: Limit,
    /// registers of a thread that were counted with; none if nobody said
    pub registers: Option<u32>,
}

/// Registers are allocated to warps in units of this many.
const REGISTER_UNIT: u32 = 256;
/// Columns of tensor memory (PTX ISA 9.7.16.1).
const COLUMNS: u32 = 512;

/// Columns that a block allocates, where the code says how many. Another one that finds too few waits at its start.
fn columns(program: &Program) -> u32 {
    let constant = |src: &Src| match src {
        Src::Const(row) => program.constants.get(*row as usize)?.first().copied(),
        Src::Reg(_) => None,
    };
    let allocated = program.code.iter().enumerate().filter_map(|(at, inst)| {
        let Op::Tensor(Tensor::Allocation(allocation)) = &inst.op else {
            return None;
        };
        let AllocationKind::Alloc { columns, .. } = &allocation.what else {
            return None;
        };
        let Src::Reg(register) = columns else {
            return constant(columns);
        };
        let before = program.code.get(..at)?.iter().rev();
        let mut written = before.filter_map(|inst| match &inst.op {
            Op::Move { dst, src } if dst.0 == *register => Some(constant(src)),
            _ => None,
        });
        written.next()?
    });
    allocated.filter_map(|n| u32::try_from(n).ok()).sum()
}

/// Blocks that fit a multiprocessor.
pub fn occupancy(subject: &Subject<'_>, gpu: &Gpu) -> Result<Occupancy, String> {
    let warps = subject.threads.div_ceil(32);
    let figure = |name: &str| gpu.get(name) as u32;
    let registers = subject.registers.or(subject.program.attributes.maxnreg);
    let by_registers = registers.map_or(u32::MAX, |r| {
        let of_warp = (r * 32).next_multiple_of(REGISTER_UNIT);
        figure("registers") / (of_warp * warps).max(1)
    });
    let limits = [
        (figure("blocks"), Limit::Blocks),
        (figure("warps") / warps, Limit::Warps),
        (
            figure("shared_bytes") / (subject.shared + figure("shared_reserved")).max(1),
            Limit::SharedMemory,
        ),
        (by_registers, Limit::Registers),
        (
            (COLUMNS / columns(subject.program).max(1)).max(1),
            Limit::TensorMemory,
        ),
    ];
    let (blocks, limit) = limits
        .into_iter()
        .min_by_key(|(n, _)| *n)
        .unwrap_or((0, Limit::Blocks));
    if blocks == 0 {
        return Err(format!(
            "a block of {} threads and {} bytes of shared memory does not fit a multiprocessor of {}: {limit:?}",
            subject.threads, subject.shared, gpu.name
        ));
    }
    Ok(Occupancy {
        blocks,
        warps: blocks * warps,
        limit,
        registers,
    })
}
