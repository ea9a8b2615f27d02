//! What a loop's matmuls have made is copied out by tensor copies, a part of the columns at a time, where shared memory has no
//! room for all of it beside the rings.
//!
//! ```text
//! for … {                                for … {
//!   t = tensor_load acc : 128x256          for part in 0..4 {
//!   store t                                  t = tensor_load acc, part : 128x64
//! }                                   →      store_wait; local_store t, buffer
//!                                            tiled_tma_store buffer
//!                                          }
//!                                        }
//! ```
//! A thread has a row of an accumulator. By itself it stores sixteen bytes of it at a time, each time in other lines than
//! the other threads.

use super::{Epilogue, Work, whole_loads};
use crate::dialect::nv_tileas::{Op as S, view};
use crate::facts::access::tile_of;
use crate::facts::tensor::tensor_matrix;
use crate::facts::{self, FactMap};
use crate::ir::{Attr, Diagnostic, Module, OpId};
use crate::lower::tileas::buffers::tile_bytes;
use crate::lower::tileas::decided::Kernel;
use crate::lower::tileas::look::{self, loop_around, place};
use crate::lower::tileas::missed::Log;
use crate::lower::tileas::pipeline::{ahead, tma, tokens};

/// What is done, in messages.
const WHAT: &str = "results copied in parts";
/// Fewest bytes of a row in a part: what a warp stores of its rows at a time is half of a line each.
const LEAST_ROW: u64 = 64;

/// Cuts the epilogues in loops of a kernel with roles whose results `room` bytes of shared memory hold a part of.
pub fn out(
    m: &mut Module,
    func: OpId,
    kernel: &Kernel<'_>,
    mut room: u64,
    log: &mut Log,
) -> Result<(), Diagnostic> {
    let body = kernel.body;
    let Some(split) = look::roles(m, body) else {
        return Ok(());
    };
    let mut loads = whole_loads(m, body);
    loads.retain(|&l| loop_around(m, body, m.op(l).block).is_some());
    for load in loads {
        let facts = facts::of(m, func);
        let Some(result) = Stored::of(m, func, kernel, &facts, load) else {
            continue;
        };
        let Some(parts) = result.parts(room) else {
            continue;
        };
        room -= result.bytes / parts;
        ahead::forget_token(m, body, result.store);
        let loc = m.op(load).loc;
        match result.epilogue.cut(m, body, parts) {
            Ok(()) => {
                copy(m, func, split, result.store)?;
                let how = format!(
                    "shared memory has room for one of {parts} parts of the columns beside the rings"
                );
                log.changed(loc, WHAT, how);
            }
            Err((op, why)) => log.note(m, op, WHAT, why),
        }
    }
    wait_at_the_end(m, split);
    Ok(())
}

/// A result in a loop that threads would store, and that tensor copies could.
struct Stored {
    epilogue: Epilogue,
    store: OpId,
    /// Bytes of a row, and of all rows.
    row: u64,
    bytes: u64,
}

impl Stored {
    fn of(
        m: &Module,
        func: OpId,
        kernel: &Kernel<'_>,
        facts: &FactMap,
        load: OpId,
    ) -> Option<Stored> {
        let body = kernel.body;
        let epilogue = Epilogue::of(m, body, load, kernel.warps())?;
        let kind = |o: &OpId| S::of(m.op(*o).kind);
        let mut stores = Work::of(m, body, load).all(m, body);
        stores.retain(|o| matches!(kind(o), Some(S::TiledStore | S::Store | S::TmaStore)));
        let &[store] = stores.as_slice() else {
            return None;
        };
        // In an iteration it writes elsewhere from part to part; those of the one before are waited for in front of it.
        let followers = tokens::followers(m, body, store);
        let alone = followers.iter().all(|&f| f == store);
        if !alone || kind(&store) != Some(S::TiledStore) || !tma::store_legal(m, func, store, facts)
        {
            return None;
        }
        let bytes = tile_bytes(m, tile_of(m, store)?);
        let matrix = view::TensorLoad::of(m.op(load))?.source();
        let rows = tensor_matrix(m, matrix)?.rows;
        Some(Stored {
            row: bytes.checked_div(rows)?,
            epilogue,
            store,
            bytes,
        })
    }

    /// In how many parts it goes through so many bytes.
    fn parts(&self, room: u64) -> Option<u64> {
        let mut all = (1..4).map(|n| 1 << n);
        let fits = |n: &u64| self.bytes / n <= room;
        all.find(fits).filter(|n| self.row / n >= LEAST_ROW)
    }
}

/// Makes `store`, in a loop over its parts, a tensor copy from a buffer of its own.
fn copy(m: &mut Module, func: OpId, split: OpId, store: OpId) -> Result<(), Diagnostic> {
    let facts = facts::of(m, func);
    if !tma::store_legal(m, func, store, &facts) {
        return Ok(());
    }
    let ty = tma::store_buffer(m, store, &facts)?;
    if let Some(parts) = m.parent_op(store) {
        let (block, at) = place(m, parts);
        let mut b = m.at(block, at);
        b.op(S::StoreWait, &[], [Some(Attr::Unit)], &[], &[]);
        b.op(S::ProxyFence, &[], [], &[], &[]);
    }
    let (block, at) = place(m, split);
    let buffer = m.at(block, at).value(S::AllocTensor, &[], [], ty);
    let way = tma::Way::Through {
        buffer,
        ordered: false,
    };
    tma::store(m, store, &facts, way, false)
}

/// The consumers' program ends when its last copies have read their buffers.
fn wait_at_the_end(m: &mut Module, split: OpId) {
    let Some(consumer) = m.body_of(split, 1) else {
        return;
    };
    let is = |o: OpId, kind: S| S::of(m.op(o).kind) == Some(kind);
    let copies = |o: &OpId| is(*o, S::TmaStore);
    if let [.., last, end] = m.block(consumer).ops[..]
        && m.ops_under(consumer).iter().any(copies)
        && !is(last, S::StoreWait)
    {
        let (block, at) = place(m, end);
        m.at(block, at).op(S::StoreWait, &[], [], &[], &[]);
    }
}
