//! `tcgen05.cp` (PTX ISA 9.7.16.9.2): rows of shared memory into lanes of tensor memory.

use super::descriptor::Descriptor;
use super::memory::{COLUMNS, LANES, Place};
use super::mma::check_chunk;
use super::operands::unpacked;
use super::{blocks, check_group, lane_value, queue, tensor_place};
use crate::check::{TensorAccess, TensorUse};
use crate::exec::cluster::Env;
use crate::exec::fault::Trap;
use crate::exec::warp::{Frame, Warp};
use crate::program::tensor::{FillShape, TensorFill, Unpack};
use std::ops::Range;

/// A copy in flight. Each block of a pair copies from its own shared memory.
#[derive(Debug)]
pub struct Fill {
    /// blocks that it concerns
    pub blocks: Vec<usize>,
    shape: FillShape,
    unpack: Option<Unpack>,
    place: Place,
    source: Descriptor,
}

impl FillShape {
    fn rows(self) -> usize {
        match self {
            FillShape::L128B256 | FillShape::L128B128 => 128,
            FillShape::L4B256 => 4,
            FillShape::L64Pairs02 | FillShape::L64Pairs01 => 64,
            FillShape::L32Four => 32,
        }
    }

    /// Bytes of a row in tensor memory.
    fn bytes(self) -> usize {
        match self {
            FillShape::L128B256 | FillShape::L4B256 => 32,
            _ => 16,
        }
    }

    /// Lanes, from the address, that a row goes to.
    fn lanes(self, row: usize) -> Vec<usize> {
        match self {
            FillShape::L128B256 | FillShape::L128B128 => vec![row],
            // One lane of each quarter.
            FillShape::L4B256 => vec![32 * row],
            FillShape::L64Pairs02 => vec![row, row + 64],
            FillShape::L64Pairs01 => {
                let first = row % 32 + row / 32 * 64;
                vec![first, first + 32]
            }
            FillShape::L32Four => (0..4).map(|q| 32 * q + row).collect(),
        }
    }
}

impl Fill {
    /// Columns that it writes.
    pub fn columns(&self) -> Range<usize> {
        self.place.column..self.place.column + self.shape.bytes() / 4
    }

    /// Moves the data.
    pub fn perform(&self, env: &mut Env<'_>) -> Result<(), Trap> {
        for &cta in &self.blocks {
            for row in 0..self.shape.rows() {
                let mut bytes = Vec::with_capacity(32);
                for c in 0..self.shape.bytes() / 16 {
                    let at = self.source.k_major_chunk(row, c) as usize;
                    let chunk = env.ctas[cta].shared.get(at..at + 16).unwrap_or(&[0; 16]);
                    match self.unpack {
                        None => bytes.extend_from_slice(chunk),
                        Some(Unpack::Six) => bytes.extend(unpacked(chunk, 6).map(|c| c as u8)),
                        // Four bits lie in the middle of their byte.
                        Some(Unpack::Four) => {
                            bytes.extend(unpacked(chunk, 4).map(|c| (c << 2) as u8));
                        }
                    }
                }
                let memory = &mut env.ctas[cta].tensor;
                for lane in self.shape.lanes(row) {
                    for (j, word) in bytes.chunks_exact(4).enumerate() {
                        let word = word.iter().rev().fold(0u32, |w, &b| w << 8 | u32::from(b));
                        memory.set(self.place.lane + lane, self.place.column + j, Some(word));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Issues the copy of one thread.
pub fn issue(
    env: &mut Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    line: u32,
    fill: &TensorFill,
) -> Result<(), Trap> {
    check_group(env, fill.pair)?;
    let place = tensor_place(env, warp, frame, fill.address, 1 << lane)?;
    let bits = lane_value(env, warp, frame, lane, fill.source)?;
    let source = Descriptor::decode(bits).map_err(|m| Trap::new(format!("tcgen05.cp: {m}")))?;
    let operation = Fill {
        blocks: blocks(env, warp, fill.pair)?,
        shape: fill.shape,
        unpack: fill.unpack,
        place,
        source,
    };
    let top = fill.shape.lanes(fill.shape.rows() - 1);
    let columns = operation.columns();
    if place.lane + top.iter().max().unwrap_or(&0) >= LANES || columns.end > COLUMNS {
        return Err(Trap::new(format!(
            "tcgen05.cp to lane {}, column {} leaves tensor memory",
            place.lane, place.column
        )));
    }
    let agent = env.tensor_issue(warp, line, "tcgen05.cp");
    let used = match fill.unpack {
        None => 16,
        Some(Unpack::Six) => 12,
        Some(Unpack::Four) => 8,
    };
    let four = fill.shape == FillShape::L4B256;
    let groups = if four {
        0b0101_0101 << (place.lane / 16 % 2)
    } else {
        u8::MAX
    };
    for &cta in &operation.blocks {
        env.ctas[cta].tensor.check(&columns, "tcgen05.cp")?;
        for row in 0..fill.shape.rows() {
            for c in 0..fill.shape.bytes() / 16 {
                let chunk = (source.k_major_chunk(row, c), used);
                check_chunk(env, warp, agent, cta, chunk, "tcgen05.cp")?;
            }
        }
        env.tensor_access(TensorAccess {
            warp: env.serial(warp),
            cta,
            groups,
            columns: columns.clone(),
            how: TensorUse::Copy(four),
            number: agent.number(),
            line,
        })?;
    }
    queue::push(env, warp, line, queue::Work::Fill(Box::new(operation)));
    Ok(())
}
