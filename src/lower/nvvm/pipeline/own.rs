//! Rings of `cp.async` in which every thread reads what it has copied itself.
//!
//! Then the copies that a thread waits for are all it needs to know about, unless other accesses wait for them, too: a
//! streaming loop has no barrier for its ring, and its warps run on by themselves.

use super::Lower;
use crate::dialect::nv_tileas::view::{self, View};
use crate::facts::access;
use crate::ir::{Diagnostic, OpId, ValueId};
use crate::layout::convert::Transfer;
use crate::layout::lookup::Lookup;
use crate::layout::{In, Layout};
use crate::lower::tileas::shared_bytes;

impl Lower<'_> {
    /// Whether every thread reads only its own copies of the stages that `wait` waits for.
    ///
    /// # Errors
    /// A copy or a load that cannot be lowered.
    pub(super) fn reads_own_copies(&self, wait: OpId) -> Result<bool, Diagnostic> {
        let m = &self.m;
        let create = |p: ValueId| view::PipelineCreate::of(m.op(m.def_op(p)?));
        let pipeline = view::ConsumerWait::of(m.op(wait)).map(|w| w.pipeline());
        let unfollowed = |p: &ValueId| create(*p).is_some_and(|c| c.unfollowed());
        let Some(pipeline) = pipeline.filter(unfollowed) else {
            return Ok(false);
        };
        let ops = self.all_ops();
        let mut copies: Vec<(ValueId, Layout)> = Vec::new();
        for &op in ops
            .iter()
            .filter(|&&o| access::pipeline(m.op(o)) == Some(pipeline))
        {
            let Some(buffer) = access::destination(m.op(op)) else {
                continue;
            };
            let Some(layout) = self.copied(op, buffer)? else {
                return Ok(false);
            };
            copies.push((buffer, layout));
        }
        for &op in &ops {
            let data = self.m.op(op);
            for (buffer, copied) in &copies {
                if data.operands.contains(buffer) && !self.is_own(op, *buffer, copied)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Which thread copies which elements to `buffer` by `copy`; `None` if several copy the same, or others use its bytes,
    /// as neighbours do of less than one.
    fn copied(&self, copy: OpId, buffer: ValueId) -> Result<Option<Layout>, Diagnostic> {
        let data = self.m.op(copy);
        let known = self.buffer(copy, buffer)?;
        let alloc = self.m.def_op(buffer);
        let shared = alloc.is_none_or(|o| shared_bytes(self.m, o).is_some());
        if known.overlay || shared || known.layout.element_bits() < 8 {
            return Ok(None);
        }
        let layout = match view::PointerCopy::of(data) {
            Some(v) => self.layout(v.pointers()),
            None => Some(self.copy_layout(copy, data, &known)?),
        };
        let alone = |l: &Layout| {
            let free = l.free_variable_masks();
            free[In::Lane as usize] == 0 && free[In::Warp as usize] == 0
        };
        Ok(layout.filter(alone))
    }

    /// Whether `op` fills `buffer`, or each thread loads from it what it has copied there.
    fn is_own(&self, op: OpId, buffer: ValueId, copied: &Layout) -> Result<bool, Diagnostic> {
        let data = self.m.op(op);
        match View::of(data) {
            Some(View::TiledCopy(_) | View::PointerCopy(_)) => return Ok(true),
            Some(View::LocalLoad(_)) => {}
            _ => return Ok(false),
        }
        let known = self.buffer(op, buffer)?;
        let Some(read) = data.results.first().and_then(|&r| self.layout(r)) else {
            return Ok(false);
        };
        if read.shape() != copied.shape() {
            return Ok(false);
        }
        let lookup = self.layout_error(op, Lookup::new(copied, &read))?;
        if lookup.registers_only().is_none() {
            return Ok(false);
        }
        let transfer = self.transfer(&read, &known.layout, true);
        // The lanes of a warp load each other's elements by matrices.
        Ok(matches!(
            self.layout_error(op, transfer)?,
            Transfer::Plain(_)
        ))
    }
}
