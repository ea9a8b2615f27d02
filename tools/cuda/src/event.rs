//! Events: moments in the order of a stream's work.

use crate::graph::Capture;
use crate::handles::{Handle, Handles, fresh};
use crate::status::{Result, Status};
use crate::work::Moment;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// `CU_EVENT_DISABLE_TIMING`
const DISABLE_TIMING: u32 = 2;

/// An event.
pub struct Event {
    /// its handle
    pub handle: Handle,
    flags: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// when it last happened
    at: Option<Instant>,
    /// records that have been asked for and have not happened: their stream waits for something
    pending: u32,
    /// the capture that it was recorded in, and behind which nodes
    captured: Option<(Arc<Capture>, Vec<Handle>)>,
}

/// All events.
pub static EVENTS: Handles<Event> = Handles::new();

impl Event {
    /// A new event.
    pub fn create(flags: u32) -> Arc<Event> {
        let event = Arc::new(Event {
            handle: fresh(),
            flags,
            state: Mutex::default(),
        });
        EVENTS.add(event.handle, Arc::clone(&event));
        event
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// It is recorded in a capture, behind these nodes.
    pub fn capture(&self, capture: &Arc<Capture>, behind: &[Handle]) {
        self.state().captured = Some((Arc::clone(capture), behind.to_vec()));
    }

    /// The capture that it belongs to.
    pub fn captured(&self) -> Option<(Arc<Capture>, Vec<Handle>)> {
        self.state().captured.clone()
    }

    /// Milliseconds from this event to another.
    pub fn until(&self, end: &Event) -> Result<f32> {
        if (self.flags | end.flags) & DISABLE_TIMING != 0 {
            return Err(Status::INVALID_HANDLE);
        }
        let (from, to) = (self.state().at, end.state().at);
        let (Some(from), Some(to)) = (from, to) else {
            return Err(Status::INVALID_HANDLE);
        };
        let (later, sign) = if to >= from {
            (to.duration_since(from), 1.0)
        } else {
            (from.duration_since(to), -1.0)
        };
        Ok((later.as_secs_f64() * 1e3) as f32 * sign)
    }
}

impl Moment for Event {
    fn ask(&self) {
        let mut state = self.state();
        state.pending += 1;
        state.captured = None;
    }

    fn happen(&self) {
        let mut state = self.state();
        state.pending = state.pending.saturating_sub(1);
        state.at = Some(Instant::now());
    }

    /// Whether everything before its last record is done; so it is before its first.
    fn done(&self) -> bool {
        self.state().pending == 0
    }
}
