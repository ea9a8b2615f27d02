//! What the command line shows while a kernel runs: a line per instruction, or a bar.

use indicatif::{ProgressBar, ProgressStyle};
use ptxsim::record::{Observer, Progress, Step};
use std::io::{BufWriter, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Prints every instruction with the PTX line that it comes from.
pub struct Trace<'s> {
    lines: Vec<&'s str>,
    out: Mutex<BufWriter<std::io::Stdout>>,
}

impl<'s> Trace<'s> {
    /// A trace that quotes `source`.
    pub fn new(source: &'s str) -> Trace<'s> {
        Trace {
            lines: source.lines().collect(),
            out: Mutex::new(BufWriter::new(std::io::stdout())),
        }
    }
}

impl Observer for Trace<'_> {
    fn traces(&self) -> bool {
        true
    }

    fn step(&self, step: &Step) {
        let [x, y, z] = step.block;
        let text = self
            .lines
            .get((step.line as usize).wrapping_sub(1))
            .map_or("", |l| l.trim());
        let mut out = self.out.lock().unwrap_or_else(|p| p.into_inner());
        let head = format!(
            "({x},{y},{z}) warp {:<2} {:08x} {:>5}: {text}",
            step.warp, step.lanes, step.line
        );
        // A closed pipe ends the trace, not the run.
        let _ = match step.result {
            Some(bits) => writeln!(out, "{head:<90} = {bits:#x}"),
            None => writeln!(out, "{head}"),
        };
    }
}

/// A bar of finished blocks on a terminal, once a launch has taken a second.
pub struct Bar {
    since: Instant,
    bar: Mutex<Option<ProgressBar>>,
    instructions: AtomicU64,
}

impl Bar {
    /// None where standard error is no terminal.
    pub fn new() -> Option<Bar> {
        std::io::stderr().is_terminal().then(|| Bar {
            since: Instant::now(),
            bar: Mutex::new(None),
            instructions: AtomicU64::new(0),
        })
    }
}

impl Observer for Bar {
    fn progress(&self, now: Progress) {
        let instructions = self
            .instructions
            .fetch_add(now.instructions, Ordering::Relaxed)
            + now.instructions;
        let elapsed = self.since.elapsed();
        if elapsed < Duration::from_secs(1) {
            return;
        }
        let mut slot = self.bar.lock().unwrap_or_else(|p| p.into_inner());
        let bar = slot.get_or_insert_with(|| {
            let bar = ProgressBar::new(now.total);
            if let Ok(style) = ProgressStyle::with_template(
                "{elapsed_precise} {wide_bar} {pos}/{len} blocks {msg}",
            ) {
                bar.set_style(style);
            }
            bar
        });
        bar.set_position(now.blocks);
        let rate = instructions as f64 / elapsed.as_secs_f64() / 1e6;
        bar.set_message(format!("{rate:.1} M warp instructions/s"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(|p| p.into_inner()).take() {
            bar.finish_and_clear();
        }
    }
}
