//! What a role of matmuls knows of the consumers' work: what it has waited for itself, and what they hand over to it.

use super::super::events::{Action, Roles, StageUse};
use crate::ir::ValueId;
use rustc_hash::FxHashSet;

/// A pipeline's iteration.
type Filled = (ValueId, i64);

#[derive(Default)]
pub(super) struct Apart {
    /// The pipelines that consumers wait for, and those whose stages other matmuls hand back.
    elsewhere: FxHashSet<ValueId>,
    /// Iterations that consumers have waited for since they last handed something over.
    met: Vec<Filled>,
    /// Buffers that they have written since.
    written: FxHashSet<ValueId>,
    /// Iterations that the role knows to be filled.
    known: FxHashSet<Filled>,
}

impl Apart {
    /// What role number `issuer` of those that multiply knows at the start.
    pub fn of(roles: &Roles, issuer: usize) -> Apart {
        let waits = roles.consumer.iter().filter_map(|e| match e.action {
            Action::Wait(t) => Some(t.pipeline),
            _ => None,
        });
        let others = roles.matmuls.iter().enumerate();
        let others = others
            .filter(|(i, _)| *i != issuer)
            .flat_map(|(_, events)| events);
        let releases = others.filter_map(|e| match e.action {
            Action::ReleaseByMatmuls(t) => Some(t.pipeline),
            _ => None,
        });
        Apart {
            elsewhere: waits.chain(releases).collect(),
            ..Apart::default()
        }
    }

    /// Whether others wait for what the role waits for, too, and release it.
    pub fn waits_beside(&self, pipeline: ValueId) -> bool {
        self.elsewhere.contains(&pipeline)
    }

    /// The role has waited for an iteration.
    pub fn learns(&mut self, filled: Filled) {
        self.known.insert(filled);
    }

    /// Consumers have waited for an iteration.
    pub fn met(&mut self, filled: Filled) {
        self.met.push(filled);
    }

    /// Consumers have released an iteration: its stage may be filled again.
    pub fn released(&mut self, filled: Filled) {
        self.known.remove(&filled);
    }

    /// Whether the role knows that an iteration is filled, whatever consumers have waited for.
    pub fn knows(&self, filled: Filled) -> bool {
        self.known.contains(&filled)
    }

    /// Consumers have written a buffer.
    pub fn wrote(&mut self, buffer: ValueId) {
        self.written.insert(buffer);
    }

    /// Consumers hand over to it what they have done so far.
    pub fn hand_over(&mut self) {
        self.known.extend(self.met.drain(..));
        self.written.clear();
    }

    /// A matmul of the role reads a stage, which `ring` fills or consumers.
    ///
    /// # Errors
    /// Why it may not be filled yet.
    pub fn reads(&self, stage: StageUse, ring: Option<ValueId>) -> Result<(), String> {
        if self.written.contains(&stage.buffer) {
            return Err(
                "reads what consumers have written and not handed over: missing consumer_release"
                    .to_owned(),
            );
        }
        match ring.zip(stage.iteration) {
            Some(filled) if !self.knows(filled) => Err(format!(
                "reads iteration {}, which its own role has not waited for, and nobody handed over: missing consumer_wait",
                filled.1
            )),
            _ => Ok(()),
        }
    }
}
