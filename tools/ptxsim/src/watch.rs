//! What the command line shows while a kernel runs: a line per instruction, or a bar.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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

/// A bar of finished blocks on a terminal, once a launch has taken a while.
pub struct Bar {
    since: Instant,
    patience: Duration,
    /// where the bar will be; taken when it appears
    target: Mutex<Option<ProgressDrawTarget>>,
    bar: Mutex<Option<ProgressBar>>,
    instructions: AtomicU64,
}

impl Bar {
    /// On standard error, after a second. None where that is no terminal.
    pub fn new() -> Option<Bar> {
        let terminal = std::io::stderr().is_terminal();
        terminal.then(|| Bar::on(ProgressDrawTarget::stderr(), Duration::from_secs(1)))
    }

    fn on(target: ProgressDrawTarget, patience: Duration) -> Bar {
        Bar {
            since: Instant::now(),
            patience,
            target: Mutex::new(Some(target)),
            bar: Mutex::new(None),
            instructions: AtomicU64::new(0),
        }
    }

    fn appear(&self, total: u64) -> ProgressBar {
        let mut target = self.target.lock().unwrap_or_else(|p| p.into_inner());
        let target = target.take().unwrap_or_else(ProgressDrawTarget::hidden);
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let template = "{elapsed_precise} {wide_bar} {pos}/{len} blocks {msg}";
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

impl Observer for Bar {
    fn progress(&self, now: Progress) {
        let instructions = self
            .instructions
            .fetch_add(now.instructions, Ordering::Relaxed)
            + now.instructions;
        let elapsed = self.since.elapsed();
        if elapsed < self.patience {
            return;
        }
        let mut slot = self.bar.lock().unwrap_or_else(|p| p.into_inner());
        let bar = slot.get_or_insert_with(|| self.appear(now.total));
        // Threads may come here in another order than their blocks ended.
        bar.set_position(now.blocks.max(bar.position()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;
    use ptxsim::{Launch, Module};

    fn bar(patience: Duration) -> (InMemoryTerm, Bar) {
        let screen = InMemoryTerm::new(4, 100);
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        (screen, Bar::on(target, patience))
    }

    /// A grid of 12 blocks: the bar ends full, says how many there are and how fast it goes, and goes away.
    #[test]
    fn a_launch_shows_its_blocks() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r;\n\
            mov.u32 %r, %tid.x;\nret;\n}\n";
        let program = Module::new(text).and_then(|m| m.entry(None)).unwrap();
        let (screen, bar) = bar(Duration::ZERO);
        let mut launch = Launch::new(&program);
        launch.grid = [12, 1, 1];
        launch.observer = Some(&bar);
        launch.run().unwrap();
        // It draws so many times a second, and certainly when it is told to stay as it is.
        if let Some(bar) = bar.bar.lock().unwrap().as_ref() {
            bar.abandon();
        }
        let shown = screen.contents();
        assert!(shown.contains("12/12 blocks"), "{shown}");
        assert!(shown.contains("M warp instructions/s"), "{shown}");
        assert!(shown.contains('█'), "{shown}");
        drop(bar);
        assert_eq!(screen.contents(), "");
    }

    #[test]
    fn a_short_launch_shows_nothing() {
        let (screen, bar) = bar(Duration::MAX);
        bar.progress(Progress {
            blocks: 1,
            total: 2,
            instructions: 7,
        });
        assert_eq!(screen.contents(), "");
    }
}
