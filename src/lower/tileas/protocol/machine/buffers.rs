//! Reads and writes of buffers, and the fences between them.

use super::super::events::StageUse;
use super::{Group, Machine, Matmul, Step};
use crate::ir::{Diagnostic, OpId, ValueId};
use crate::lower::unsupported;

impl Machine<'_> {
    pub(super) fn read(
        &mut self,
        op: OpId,
        stage: StageUse,
        dot: bool,
    ) -> Result<Step, Diagnostic> {
        let Some(pipeline) = self.s.filled_by.get(&stage.buffer) else {
            return self.kept(op, stage.buffer);
        };
        let Some(i) = stage.iteration else {
            return self.fail(
                op,
                "reads a pipeline's buffer without saying which iteration",
            );
        };
        let state = self.states.entry(*pipeline).or_default();
        if !state.waited.contains_key(&i)
            && !self
                .here
                .is_some_and(|h| self.apart[h].knows((*pipeline, i)))
        {
            let held: Vec<String> = state.waited.keys().map(i64::to_string).collect();
            let why = if i < state.next_release {
                format!("reads iteration {i} after its consumer_release")
            } else if held.is_empty() {
                format!("reads iteration {i}: missing consumer_wait")
            } else {
                let held = held.join(", ");
                format!(
                    "reads iteration {i}, but the iteration waited for is {held}: wrong iteration"
                )
            };
            return self.fail(op, why);
        }
        let filled = state
            .filled
            .get(&i)
            .is_some_and(|f| f.1.contains(&stage.buffer));
        if !filled {
            let how = if dot { "multiplies" } else { "reads" };
            return self.fail(
                op,
                format!("{how} a buffer that no copy of iteration {i} fills"),
            );
        }
        Ok(Step::Done)
    }

    pub(super) fn write(&mut self, op: OpId, stage: StageUse) -> Result<Step, Diagnostic> {
        if self.s.filled_by.contains_key(&stage.buffer) {
            return self.fail(op, "writes to a buffer that a pipeline's copies fill");
        }
        let aliases = |b: ValueId| self.s.aliases(b, stage.buffer);
        if self.leaving.keys().any(|&b| aliases(b)) {
            return self.fail(
                op,
                "overwrites a buffer that a tensor copy may still read: missing async.store_wait and async.fence",
            );
        }
        let overlay = self.s.overlays.contains(&stage.buffer);
        let reads = |g: &Group| overlay || g.reads.iter().any(|r| aliases(r.buffer));
        if self.groups.iter().any(reads) {
            return self.fail(
                op,
                "overwrites memory that an async.dot in flight reads: missing async.dot_wait",
            );
        }
        let multiplies = |p: &Matmul| overlay || p.shared.iter().any(|r| aliases(r.buffer));
        if self.matmuls.iter().any(multiplies) {
            return self.fail(
                op,
                "overwrites memory that an async.tensor_dot in flight reads: missing consumer_wait",
            );
        }
        let unread = self
            .states
            .iter()
            .any(|(p, state)| state.next_wait < self.commits.get(p).copied().unwrap_or(0));
        if overlay && unread {
            return self.fail(
                op,
                "takes the place of a pipeline's buffers while copies into them may be in flight: missing consumer_wait",
            );
        }
        self.dirty.insert(stage.buffer, op);
        self.apart.iter_mut().for_each(|a| a.wrote(stage.buffer));
        let others = self.s.shared_bytes.keys().copied();
        let lost = others.filter(|&b| b != stage.buffer && self.s.aliases(b, stage.buffer));
        self.lost.extend(lost.map(|b| (b, op)));
        self.lost.remove(&stage.buffer);
        Ok(Step::Done)
    }

    /// Whether what was stored to `buffer` is still there.
    fn kept(&self, op: OpId, buffer: ValueId) -> Result<Step, Diagnostic> {
        let Some(&store) = self.lost.get(&buffer) else {
            return Ok(Step::Done);
        };
        let m = self.s.m;
        let store = m.op(store);
        let note =
            Diagnostic::error(format!("'{}' stores it", store.kind)).at(m.source_of(store.loc));
        Err(unsupported(
            m,
            op,
            "reads a buffer in whose bytes another tile was stored since",
        )
        .note(note.to_string().replacen("error: ", "", 1)))
    }

    /// The asynchronous proxy reads `buffer`.
    pub(super) fn fenced(&self, op: OpId, buffer: ValueId) -> Result<Step, Diagnostic> {
        let Some(&writer) = self.dirty.get(&buffer) else {
            return Ok(Step::Done);
        };
        let m = self.s.m;
        let writer = m.op(writer);
        let note =
            Diagnostic::error(format!("'{}' writes it", writer.kind)).at(m.source_of(writer.loc));
        Err(unsupported(
            m,
            op,
            "reads generic writes to shared memory through the asynchronous proxy: missing async.fence",
        )
        .note(note.to_string().replacen("error: ", "", 1)))
    }
}
