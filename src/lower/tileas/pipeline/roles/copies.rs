//! A producer whose threads copy by themselves what no tensor copy brings.
//!
//! Gathered rows, and tensors whose numbers the kernel loads, have no tensor map. `cp.async` brings their tiles into the
//! ring's stages, each thread of the producer a part; the other tiles of a stage come by tensor copies that one of these
//! threads starts. The warps that multiply wait for both on one mbarrier, and compute no address.

use crate::ir::{BlockId, Module};
use crate::lower::tileas::cluster::Split;
use crate::lower::tileas::limits::REGISTERS_BESIDE_TILES;
use crate::lower::tileas::look::{elements, is_matmul, together};
use crate::target::{Feature, Target};

/// Registers of a thread that computes addresses of two tiles' parts.
const COPYING: u64 = 80;
/// The same of one that computes masks, too, where registers are left.
const COPYING_MANY: u64 = 96;

/// Whether threads of a producer may copy in the function with this `body`: warpgroups multiply, and with as many warps
/// beside them they find the registers that their accumulators need.
pub fn can(
    m: &Module,
    body: BlockId,
    target: &Target,
    consumers: u64,
    split: Option<&Split>,
) -> bool {
    let both = 2 * target.registers_per_thread(2 * consumers);
    target.has(Feature::SetMaxNReg)
        && split.is_none()
        && needed(m, body, target, consumers) + COPYING <= both
}

/// Registers of a thread that multiplies, or that works on one accumulator after the other where tensor memory holds them.
fn needed(m: &Module, body: BlockId, target: &Target, consumers: u64) -> u64 {
    let ops = m.ops_under(body);
    let accumulators = match target.has(Feature::Tcgen05) {
        true => {
            let matmuls = ops.iter().filter(|&&o| is_matmul(m, o));
            let each = matmuls.map(|&o| elements(m, m.result(o)));
            each.max().unwrap_or(0)
        }
        false => together(m, &ops, &|v| elements(m, v)),
    };
    accumulators / (32 * consumers.max(1)) + REGISTERS_BESIDE_TILES
}

/// Registers of a thread that copies: all that it starts with, or where two warpgroups multiply and the block has the
/// multiprocessor for itself, no more than it needs.
pub fn producer_registers(m: &Module, body: BlockId, target: &Target, consumers: u64) -> u64 {
    let own = target.registers_per_thread(2 * consumers);
    let left = (2 * own).saturating_sub(needed(m, body, target, consumers));
    match consumers {
        0..=4 => own,
        _ => COPYING_MANY.min(left / 8 * 8),
    }
}
