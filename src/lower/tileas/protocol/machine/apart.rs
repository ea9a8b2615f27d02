//! What the role of matmuls knows of the consumers' work: what it has waited for itself, and what they hand over to it.

use super::super::events::{Action, Roles, StageUse};
use crate::ir::ValueId;
use rustc_hash::FxHashSet;

/// A pipeline's iteration.
type Filled = (ValueId, i64);

#[derive(Default)]
pub(super) struct Apart {
    /// Whether the step at hand is that role's.
    pub here: bool,
    /// The pipelines that consumers wait for.
    consumed: FxHashSet<ValueId>,
    /// Iterations that consumers have waited for since they last handed something over.
    met: Vec<Filled>,
    /// Buffers that they have written since.
    written: FxHashSet<ValueId>,
    /// Iterations that the role knows to be filled.
    known: FxHashSet<Filled>,
}

impl Apart {
    pub fn of(roles: &Roles) -> Apart {
        let waits = roles.consumer.iter().filter_map(|e| match e.action {
            Action::Wait(t) => Some(t.pipeline),
            _ => None,
        });
        Apart {
            consumed: waits.collect(),
            ..Apart::default()
        }
    }

    /// Whether the role at hand waits for what consumers wait for, too.
    pub fn waits_beside(&self, pipeline: ValueId) -> bool {
        self.here && self.consumed.contains(&pipeline)
    }

    /// The role at hand has waited for an iteration.
    pub fn waited(&mut self, filled: Filled) {
        match self.here {
            true => drop(self.known.insert(filled)),
            false => self.met.push(filled),
        }
    }

    /// Consumers have released an iteration: its stage may be filled again.
    pub fn released(&mut self, filled: Filled) {
        self.known.remove(&filled);
    }

    /// Whether the role at hand knows that an iteration is filled, whatever consumers have waited for.
    pub fn knows(&self, filled: Filled) -> bool {
        self.here && self.known.contains(&filled)
    }

    /// The role at hand has written a buffer.
    pub fn wrote(&mut self, buffer: ValueId) {
        self.written.insert(buffer);
    }

    /// Consumers hand over what they have done so far.
    pub fn hand_over(&mut self) {
        self.known.extend(self.met.drain(..));
        self.written.clear();
    }

    /// A matmul of the role at hand reads a stage, which `ring` fills or consumers.
    ///
    /// # Errors
    /// Why it may not be filled yet.
    pub fn reads(&self, stage: StageUse, ring: Option<ValueId>) -> Result<(), String> {
        if !self.here {
            return Ok(());
        }
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
