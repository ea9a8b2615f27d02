//! `tcgen05.cp` (PTX ISA 9.7.16.9.2): rows of shared memory into lanes of tensor memory.

use super::descriptor::Descriptor;
use super::memory::{COLUMNS, LANES};
use super::mma::check_chunk;
use super::moved::Fill;
use super::operands::unpacked;
use super::work::Work;
use super::{blocks, check_group, lane_value, queue, tensor_place};
use crate::check::{TensorAccess, TensorUse};
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::program::tensor::{FillShape, TensorFill, Unpack};

impl Fill {
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
    queue::push(env, warp, line, Work::Fill(Box::new(operation)));
    Ok(())
}
