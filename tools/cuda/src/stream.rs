//! Streams: work in order.
//!
//! Work is done where it is asked for, in the thread that asks, unless it or something before it waits: for an event of
//! another stream that waits itself, or for a value in memory. Then it is queued, and done by whoever next asks for
//! anything, or waits.

use crate::context::{self, Context};
use crate::graph::{Capture, Graph, NodeKind};
use crate::handles::{Handle, Handles, fresh};
use crate::status::{Result, Status};
use crate::work::Work;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// `CU_STREAM_LEGACY`
pub const LEGACY: Handle = 1;
/// `CU_STREAM_PER_THREAD`
pub const PER_THREAD: Handle = 2;
/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: u32 = 1;

/// A stream.
pub struct Stream {
    /// its handle, which is its number, too
    pub handle: Handle,
    /// the context that it is of
    pub context: Arc<Context>,
    /// flags it was made with
    pub flags: u32,
    /// priority it was made with
    pub priority: i32,
    queue: Mutex<VecDeque<Work>>,
    turn: Mutex<()>,
    capture: Mutex<Option<(Arc<Capture>, Vec<Handle>)>>,
}

static STREAMS: Handles<Stream> = Handles::new();
/// The default streams of contexts, by their context's handle.
static DEFAULTS: Handles<Stream> = Handles::new();
/// Streams with a queue.
static WAITING: AtomicUsize = AtomicUsize::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|p| p.into_inner())
}

fn new(handle: Handle, context: Arc<Context>, flags: u32, priority: i32) -> Arc<Stream> {
    Arc::new(Stream {
        handle,
        context,
        flags,
        priority,
        queue: Mutex::default(),
        turn: Mutex::default(),
        capture: Mutex::default(),
    })
}

/// Makes a stream in the current context.
pub fn create(flags: u32, priority: i32) -> Result<Arc<Stream>> {
    let stream = new(fresh(), context::live()?, flags, priority);
    STREAMS.add(stream.handle, Arc::clone(&stream));
    Ok(stream)
}

/// Ends a stream; what is in it is done first.
pub fn destroy(handle: Handle) -> Result {
    let stream = STREAMS.remove(handle)?;
    stream.synchronise()
}

/// The stream of a handle; the default stream of the current context for the special ones.
pub fn get(handle: Handle) -> Result<Arc<Stream>> {
    if !matches!(handle, 0 | LEGACY | PER_THREAD) {
        return STREAMS.get(handle);
    }
    let context = context::current()?;
    if let Ok(stream) = DEFAULTS.get(context.handle) {
        return Ok(stream);
    }
    let stream = new(fresh(), Arc::clone(&context), 0, 0);
    DEFAULTS.add(context.handle, Arc::clone(&stream));
    Ok(stream)
}

/// Does all that can be done in streams that had to wait.
fn progress() {
    while WAITING.load(Ordering::Relaxed) > 0 {
        let streams = STREAMS.all().into_iter().chain(DEFAULTS.all());
        let moved = streams.filter(|s| s.drain()).count();
        if moved == 0 {
            return;
        }
    }
}

/// Waits until every stream of a context is done.
pub fn synchronise_all(context: &Arc<Context>) -> Result {
    for stream in STREAMS.all().into_iter().chain(DEFAULTS.all()) {
        if stream.context.handle == context.handle {
            stream.synchronise()?;
        }
    }
    context.healthy()
}

/// Waits until something holds, doing what work there is.
pub fn wait_until(done: &dyn Fn() -> bool) {
    while !done() {
        progress();
        if !done() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Stream {
    /// Asks for a piece of work, or records it if the stream is captured.
    pub fn submit(&self, work: Work) -> Result {
        if let Some((capture, last)) = &mut *lock(&self.capture) {
            let node = capture.graph.add(NodeKind::of(&work), work, last);
            *last = vec![node?];
            return Ok(());
        }
        self.context.healthy()?;
        progress();
        if let Work::Record(event) = &work {
            event.ask();
        }
        let _turn = lock(&self.turn);
        let blocked = !lock(&self.queue).is_empty() || self.blocked_by_others();
        if blocked || !work.ready() {
            self.enqueue(work);
            return Ok(());
        }
        work.run(&self.context, wait_until)
    }

    /// The default stream waits for all others that are not made to be independent of it, and they for it.
    fn blocked_by_others(&self) -> bool {
        if WAITING.load(Ordering::Relaxed) == 0 || self.flags & NON_BLOCKING != 0 {
            return false;
        }
        let is_default = |s: &Stream| {
            DEFAULTS
                .get(s.context.handle)
                .is_ok_and(|d| d.handle == s.handle)
        };
        let waits = |s: &Arc<Stream>| {
            s.handle != self.handle
                && s.context.handle == self.context.handle
                && s.flags & NON_BLOCKING == 0
                && !lock(&s.queue).is_empty()
        };
        match is_default(self) {
            true => STREAMS.all().iter().any(waits),
            false => DEFAULTS.all().iter().any(waits),
        }
    }

    fn enqueue(&self, work: Work) {
        let mut queue = lock(&self.queue);
        if queue.is_empty() {
            WAITING.fetch_add(1, Ordering::Relaxed);
        }
        queue.push_back(work);
    }

    /// Does what is queued as far as it can be done; whether that was anything.
    fn drain(&self) -> bool {
        let Ok(_turn) = self.turn.try_lock() else {
            return false;
        };
        let mut moved = false;
        loop {
            let ready = lock(&self.queue).front().is_some_and(Work::ready);
            if !ready {
                return moved;
            }
            // It leaves the queue when it is done: until then the stream is not.
            let Some(work) = lock(&self.queue).front().cloned() else {
                return moved;
            };
            // An error stays in the context.
            if let Err(status) = work.run(&self.context, wait_until) {
                self.context.fail(status);
            }
            let mut queue = lock(&self.queue);
            queue.pop_front();
            if queue.is_empty() {
                WAITING.fetch_sub(1, Ordering::Relaxed);
            }
            moved = true;
        }
    }

    /// Whether all is done.
    pub fn idle(&self) -> bool {
        progress();
        lock(&self.queue).is_empty()
    }

    /// Waits until all is done.
    pub fn synchronise(&self) -> Result {
        if self.capture().is_some() {
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        wait_until(&|| lock(&self.queue).is_empty());
        self.context.healthy()
    }

    /// Begins to record what is asked for.
    pub fn begin_capture(&self, graph: Arc<Graph>, behind: Vec<Handle>) -> Result {
        let mut capture = lock(&self.capture);
        if capture.is_some() {
            return Err(Status::ILLEGAL_STATE);
        }
        *capture = Some((Arc::new(Capture::new(graph, self.handle)), behind));
        Ok(())
    }

    /// Ends the capture that began with this stream, in all streams that have joined it.
    pub fn end_capture(&self) -> Result<Arc<Graph>> {
        let capture = lock(&self.capture).take();
        let (capture, _) = capture.ok_or(Status::ILLEGAL_STATE)?;
        if capture.origin != self.handle {
            return Err(Status::STREAM_CAPTURE_UNMATCHED);
        }
        for stream in STREAMS.all() {
            let mut theirs = lock(&stream.capture);
            if theirs.as_ref().is_some_and(|(c, _)| c.id == capture.id) {
                *theirs = None;
            }
        }
        Ok(Arc::clone(&capture.graph))
    }

    /// The capture that the stream is in, and the nodes that its next one follows.
    pub fn capture(&self) -> Option<(Arc<Capture>, Vec<Handle>)> {
        lock(&self.capture).clone()
    }

    /// Replaces or adds to the nodes that the next one follows.
    pub fn follow(&self, nodes: &[Handle], replace: bool) -> Result {
        let mut capture = lock(&self.capture);
        let (_, last) = capture.as_mut().ok_or(Status::ILLEGAL_STATE)?;
        if replace {
            last.clear();
        }
        last.extend_from_slice(nodes);
        Ok(())
    }

    /// Waits for an event; one that was recorded in a capture takes the stream into it.
    pub fn wait(&self, event: &Arc<crate::event::Event>) -> Result {
        let Some((theirs, nodes)) = event.captured() else {
            return self.submit(Work::Await(event.clone()));
        };
        let mut capture = lock(&self.capture);
        match &mut *capture {
            None => *capture = Some((theirs, nodes)),
            Some((ours, last)) if ours.id == theirs.id => last.extend(nodes),
            Some(_) => return Err(Status(902)),
        }
        Ok(())
    }

    /// Records an event, in the stream or in its capture.
    pub fn record(&self, event: &Arc<crate::event::Event>) -> Result {
        if let Some((capture, last)) = &*lock(&self.capture) {
            event.capture(capture, last);
            return Ok(());
        }
        self.submit(Work::Record(event.clone()))
    }
}
