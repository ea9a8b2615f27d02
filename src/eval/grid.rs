//! The blocks of a grid over the cores.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::context::{Context, Fault};
use super::decode::located;
use super::machine::Machine;
use super::memory::Memory;
use super::program::{Launch, Program};
use super::value::Values;
use crate::ir::Diagnostic;

/// What a launch tells the outside, and how far it may go.
pub struct Hooks<'a> {
    /// Takes what kernels print, in the order of blocks.
    pub output: &'a mut (dyn Write + Send),
    /// Called with the number of blocks done.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// The most operations that one block may run.
    pub steps: u64,
}

impl Program<'_> {
    /// Runs every block of a grid; returns the first assertion that failed, if any, which stops
    /// nothing.
    ///
    /// # Errors
    /// What made a block stop: of several blocks, the first.
    pub fn run(
        &self,
        launch: &Launch,
        memory: &Memory,
        hooks: Hooks,
    ) -> Result<Option<Diagnostic>, Diagnostic> {
        let arguments = self.bind(launch)?;
        let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let state = State {
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(u64::MAX),
            fault: Mutex::new(None),
            assertion: Mutex::new(None),
            output: Mutex::new(Output::new(hooks.output)),
        };
        let worker = || {
            loop {
                // In order, so that a block may wait for an earlier one.
                let index = state.next.fetch_add(1, Ordering::Relaxed);
                if index >= blocks || state.failed.load(Ordering::Relaxed) < index {
                    return;
                }
                let block = coordinates(index, launch.grid);
                let context = Context {
                    memory,
                    globals: &self.globals,
                    grid: launch.grid,
                    block,
                    index,
                    failed: &state.failed,
                    output: Default::default(),
                    assertion: Default::default(),
                    allocations: Default::default(),
                    steps: hooks.steps,
                };
                let mut machine = Machine::new(context, self.slots);
                let result = machine.call(&self.code, arguments.clone());
                if let Some(fault) = machine.context.assertion.take() {
                    keep_first(&state.assertion, index, block, fault);
                }
                state.finish(index, block, machine.context.output.take(), result);
                (hooks.progress)(state.done.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        rayon::scope(|scope| {
            for _ in 0..rayon::current_num_threads() {
                scope.spawn(|_| worker());
            }
        });
        // A lock is poisoned only by a panic, which rayon has already passed on.
        let failure = state.output.into_inner().unwrap_or_else(|e| e.into_inner());
        let fault = state.fault.into_inner().unwrap_or_else(|e| e.into_inner());
        if let Some((_, block, fault)) = fault {
            return Err(self.report(block, fault));
        }
        match failure.error {
            Some(error) => Err(Diagnostic::error(format!("cannot write output: {error}"))),
            None => {
                let assertion = state.assertion.into_inner();
                let assertion = assertion.unwrap_or_else(|e| e.into_inner());
                Ok(assertion.map(|(_, block, fault)| self.report(block, fault)))
            }
        }
    }

    fn report(&self, [x, y, z]: [u32; 3], fault: Fault) -> Diagnostic {
        let message = format!(
            "in kernel `{}`, block ({x}, {y}, {z}): {}",
            self.name, fault.message
        );
        located(self.module, fault.op, message)
    }
}

/// The fault of the earliest block, with the block's index and coordinates.
type First = Option<(u64, [u32; 3], Fault)>;

fn keep_first(first: &Mutex<First>, index: u64, block: [u32; 3], fault: Fault) {
    if let Ok(mut first) = first.lock()
        && first.as_ref().is_none_or(|(earlier, ..)| index < *earlier)
    {
        *first = Some((index, block, fault));
    }
}

/// What the workers share.
struct State<'o> {
    next: AtomicU64,
    done: AtomicU64,
    /// The lowest index of a failed block.
    failed: AtomicU64,
    fault: Mutex<First>,
    assertion: Mutex<First>,
    output: Mutex<Output<'o>>,
}

impl State<'_> {
    fn finish(&self, index: u64, block: [u32; 3], text: String, result: Result<Values, Fault>) {
        if let Ok(mut output) = self.output.lock() {
            output.put(index, text);
        }
        let Err(fault) = result else { return };
        self.failed.fetch_min(index, Ordering::Relaxed);
        keep_first(&self.fault, index, block, fault);
    }
}

/// Writes what blocks print in the order of blocks.
struct Output<'o> {
    sink: &'o mut (dyn Write + Send),
    next: u64,
    waiting: BTreeMap<u64, String>,
    error: Option<std::io::Error>,
}

impl<'o> Output<'o> {
    fn new(sink: &'o mut (dyn Write + Send)) -> Self {
        Self {
            sink,
            next: 0,
            waiting: BTreeMap::new(),
            error: None,
        }
    }

    fn put(&mut self, index: u64, text: String) {
        self.waiting.insert(index, text);
        while let Some(text) = self.waiting.remove(&self.next) {
            self.next += 1;
            if self.error.is_none() {
                self.error = self.sink.write_all(text.as_bytes()).err();
            }
        }
    }
}

fn coordinates(index: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x), u64::from(y));
    [
        (index % x) as u32,
        (index / x % y) as u32,
        (index / x / y) as u32,
    ]
}
