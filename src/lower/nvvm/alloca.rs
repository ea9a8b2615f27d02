//! `alloca`: room in shared memory for the block, reached by generic accesses.
//!
//! Each operation has one place for the whole kernel: its memory lives no longer than the block it
//! stands in, so a loop's iterations can share it.

use super::Lower;
use super::shared_memory::SharedMemory;
use crate::dialect::cuda_tile::{Op as C, view};
use crate::dialect::enums::Space;
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::group;
use crate::ir::{BlockId, Diagnostic, Module, Op, OpId, ValueId};
use crate::lower::unsupported;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most bytes of one allocation: what any target has for a block.
const MOST: u64 = 227 * 1024;

/// Reserves room for every `alloca` under `body`; where each lies.
pub fn reserve(
    m: &Module,
    body: BlockId,
    memory: &mut SharedMemory,
) -> Result<FxHashMap<OpId, u64>, Diagnostic> {
    let mut places = FxHashMap::default();
    for op in m.ops_under(body) {
        let Some(v) = view::Alloca::of(m.op(op)) else {
            continue;
        };
        let number = |n: i64, what: &str| {
            u64::try_from(n).map_err(|_| unsupported(m, op, format!("a negative {what}")))
        };
        let elements = number(v.num_elem(), "number of elements")?;
        let alignment = number(v.alignment(), "alignment")?;
        let pointee = crate::facts::access::pointee(m, v.result());
        // One bit takes a byte in memory.
        let bits = match m.types.width(pointee) {
            1 => 8,
            bits => u64::from(bits),
        };
        let bytes = elements.saturating_mul(bits).div_ceil(8);
        if bytes > MOST {
            let why = format!("{bytes} bytes do not fit into shared memory");
            return Err(unsupported(m, op, why));
        }
        if v.global()
            && let Some(user) = escape(m, body, v.result())
        {
            let why = "the address of a global alloca leaves the tile block here, which needs memory \
                       that other blocks can reach: not yet compiled to PTX";
            return Err(unsupported(m, user, why));
        }
        places.insert(
            op,
            memory.reserve(bytes.max(1), alignment.max(16), "alloca"),
        );
    }
    memory.keep();
    Ok(places)
}

/// An operation through which other blocks may learn an address derived from `pointer`.
fn escape(m: &Module, body: BlockId, pointer: ValueId) -> Option<OpId> {
    let mut derived = FxHashSet::from_iter([pointer]);
    for op in m.ops_under(body) {
        let data = m.op(op);
        let takes = |values: &[ValueId]| values.iter().any(|v| derived.contains(v));
        if !takes(&data.operands) {
            continue;
        }
        let is_access = matches!(
            S::of(data.kind),
            Some(S::Load | S::Store | S::AtomicRmw | S::AtomicCas)
                | Some(S::TiledLoad | S::TiledStore | S::TiledAtomic)
        );
        let is_address = is_access
            && ["value", "tile", "compare", "padding"]
                .iter()
                .all(|g| !takes(group(data, g)));
        let is_pure = matches!(
            C::of(data.kind),
            Some(C::Offset | C::Reshape | C::Broadcast | C::Permute | C::Select | C::PtrToPtr)
                | Some(C::Assume | C::CmpI | C::Extract)
        ) || S::of(data.kind) == Some(S::ConvertLayout);
        match (is_address, is_pure) {
            (true, _) => {}
            (_, true) => derived.extend(&data.results),
            _ => return Some(op),
        }
    }
    None
}

impl Lower<'_> {
    /// The state space of accesses through pointers: generic where some may be to an `alloca`.
    pub fn space(&self) -> Space {
        if self.kernel.allocations.is_empty() {
            Space::Global
        } else {
            Space::Generic
        }
    }

    pub(super) fn alloca(&mut self, op: OpId, v: &view::Alloca<Op>) -> Result<(), Diagnostic> {
        let Some(&at) = self.kernel.allocations.get(&op) else {
            return Err(unsupported(self.m, op, "an alloca without a place"));
        };
        let ty = self.m.types.elem(self.m.ty(v.result()));
        let mut e = self.emit();
        let address = e.smem(at);
        let pointer = e.get(N::Generic, &[&[address]], [], ty);
        self.set(v.result(), pointer);
        Ok(())
    }
}
