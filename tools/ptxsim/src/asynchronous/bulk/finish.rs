//! What becomes of bulk operations: they happen when they are due, or when somebody waits for them.

use super::operation::{Destination, Operation, Origin, Source, Target, Work};
use crate::asynchronous::transfer::reduce_bytes;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::program::inst::AtomOp;
use crate::program::types::Ty;
use crate::record::Kind;

impl Operation {
    /// Refuses to touch the shared memory of a block whose threads have all exited.
    fn outlives_nobody(&self, env: &Env<'_>) -> Result<(), Trap> {
        let gone = |cta: usize| env.ctas[cta].live_threads == 0;
        let (cta, verb, wait) = match &self.work {
            Work::Store {
                cta, staged: None, ..
            } => (
                gone(*cta).then_some(*cta),
                "reads",
                "cp.async.bulk.wait_group.read",
            ),
            Work::Store { .. } => return Ok(()),
            Work::Load { targets, .. } => {
                let target = targets.iter().map(|t| t.cta).find(|&cta| gone(cta));
                (target, "writes", "its mbarrier phase")
            }
        };
        match cta {
            None => Ok(()),
            Some(cta) => Err(Trap::new(format!(
                "still {verb} shared memory of block {cta} of the cluster after all threads there have exited; have a \
                 thread there wait for {wait} before it exits"
            ))),
        }
    }
}

/// The reading half of a store.
pub(super) fn stage(env: &mut Env<'_>, index: usize) {
    let Work::Store {
        cta,
        offset,
        bytes,
        to,
        staged: None,
    } = &env.engine.pending[index].work
    else {
        return;
    };
    let data = match to {
        Destination::Tile { tile, .. } => tile.stage(env, *cta, *offset),
        Destination::Global { .. } => {
            env.ctas[*cta].shared[*offset as usize..(offset + bytes) as usize].to_vec()
        }
    };
    if let Work::Store { staged, .. } = &mut env.engine.pending[index].work {
        *staged = Some(data);
    }
}

/// Lets operation `index` happen to the end.
pub fn finish(env: &mut Env<'_>, index: usize) -> Result<(), Trap> {
    env.engine.pending[index].outlives_nobody(env)?;
    stage(env, index);
    let operation = env.engine.pending.remove(index);
    env.copies_in_flight -= 1;
    env.end_on(operation.origin.track(), Kind::Bulk, operation.id);
    env.failed_polls = 0;
    match operation.work {
        Work::Store { to, staged, .. } => write_out(env, &to, &staged.unwrap_or_default()),
        Work::Load {
            source,
            targets,
            bytes,
            reduce,
        } => {
            read_in(env, &source, &targets, bytes, reduce)?;
            for target in targets {
                let (rank, offset) = target.barrier;
                env.complete_tx(rank, offset, bytes)?;
                env.agents_release(&[operation.agent], rank, offset);
            }
            Ok(())
        }
    }
}

fn write_out(env: &mut Env<'_>, to: &Destination, data: &[u8]) -> Result<(), Trap> {
    let mut hint = 0;
    match to {
        Destination::Tile { tile, reduce } => tile.store(env, data, *reduce),
        Destination::Global {
            address,
            reduce: Some((op, ty)),
            ..
        } => reduce_bytes(env, *address, data, *op, *ty, &mut hint),
        Destination::Global {
            address,
            byte_mask: None,
            ..
        } => env.shared.global.write_bytes(*address, data, &mut hint),
        Destination::Global {
            address,
            byte_mask: Some(mask),
            ..
        } => {
            for (i, &byte) in data
                .iter()
                .enumerate()
                .filter(|(i, _)| mask >> (i % 16) & 1 == 1)
            {
                env.shared
                    .global
                    .write_bytes(address + i as u64, &[byte], &mut hint)?;
            }
            Ok(())
        }
    }
}

fn read_in(
    env: &mut Env<'_>,
    source: &Source,
    targets: &[Target],
    bytes: u64,
    reduce: Option<(AtomOp, Ty)>,
) -> Result<(), Trap> {
    let mut hint = 0;
    let data = match source {
        Source::Tile(tile) => {
            let places: Vec<_> = targets.iter().map(|t| (t.cta, t.offset)).collect();
            return tile.load(env, &places);
        }
        Source::Global(address) => {
            let mut data = vec![0; bytes as usize];
            env.shared
                .global
                .read_bytes(*address, &mut data, &mut hint)?;
            data
        }
        Source::Shared { cta, offset } => {
            env.ctas[*cta].shared[*offset as usize..(offset + bytes) as usize].to_vec()
        }
        Source::Immediate(data) => data.clone(),
    };
    for target in targets {
        let block = &mut env.ctas[target.cta];
        let range = target.offset as usize..target.offset as usize + data.len();
        match reduce {
            None => block.shared[range.clone()].copy_from_slice(&data),
            Some((op, ty)) => {
                let size = ty.bytes() as usize;
                for (old, new) in block.shared[range.clone()]
                    .chunks_exact_mut(size)
                    .zip(data.chunks_exact(size))
                {
                    let word = |b: &[u8]| b.iter().rev().fold(0u64, |w, &x| w << 8 | u64::from(x));
                    let value = crate::exec::atomic::combine(op, ty, word(old), word(new), 0);
                    old.copy_from_slice(&value.to_le_bytes()[..size]);
                }
            }
        }
        block.written[range].fill(true);
    }
    Ok(())
}

/// Lets operations that are due happen, or, if `force`, one chosen at random. True if something happened.
pub fn tick(env: &mut Env<'_>, force: bool) -> Result<bool, (Origin, Trap)> {
    let mut any = false;
    let mut i = 0;
    while i < env.engine.pending.len() {
        if env.engine.pending[i].due <= env.clock {
            finish_at(env, i)?;
            any = true;
        } else {
            i += 1;
        }
    }
    if !any && force && !env.engine.pending.is_empty() {
        let pick = env.rng.below(env.engine.pending.len());
        finish_at(env, pick)?;
        any = true;
    }
    Ok(any)
}

fn finish_at(env: &mut Env<'_>, index: usize) -> Result<(), (Origin, Trap)> {
    let origin = env.engine.pending[index].origin;
    finish(env, index).map_err(|trap| (origin, trap))
}
