//! The bar of a launch that takes long.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How many blocks of a grid are done, shown once a launch has taken a while.
pub struct Progress {
    bar: ProgressBar,
    shown_from: Instant,
    /// Where to draw, if there is anywhere.
    target: fn() -> Option<ProgressDrawTarget>,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_secs(1);

    /// On standard error, where that is a terminal.
    pub fn new(grid: [u32; 3]) -> Self {
        let terminal = || {
            std::io::stderr()
                .is_terminal()
                .then(ProgressDrawTarget::stderr)
        };
        Self::after(Self::PATIENCE, grid, terminal)
    }

    fn after(
        patience: Duration,
        grid: [u32; 3],
        target: fn() -> Option<ProgressDrawTarget>,
    ) -> Self {
        let blocks = grid.iter().map(|&n| u64::from(n)).product();
        let bar = ProgressBar::with_draw_target(Some(blocks), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(
            "{bar:40} {pos}/{len} blocks, {elapsed} (about {eta} left)",
        );
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self {
            bar,
            shown_from: Instant::now() + patience,
            target,
        }
    }

    /// So many blocks are done.
    pub fn set(&self, done: u64) {
        if self.bar.is_hidden()
            && Instant::now() >= self.shown_from
            && let Some(target) = (self.target)()
        {
            self.bar.set_draw_target(target);
        }
        self.bar.set_position(done);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps what is written, and where lines were cleared a mark.
    #[derive(Debug)]
    struct Recorder(&'static Mutex<String>);

    impl Recorder {
        fn add(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("no panics").push_str(text);
            Ok(())
        }
    }

    impl TermLike for Recorder {
        fn width(&self) -> u16 {
            120
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }
        fn clear_line(&self) -> io::Result<()> {
            self.add("<cleared>")
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    static LONG: Mutex<String> = Mutex::new(String::new());
    static SHORT: Mutex<String> = Mutex::new(String::new());

    fn on(terminal: &'static Mutex<String>) -> Option<ProgressDrawTarget> {
        Some(ProgressDrawTarget::term_like(Box::new(Recorder(terminal))))
    }

    #[test]
    fn a_long_launch_shows_its_blocks_and_leaves_nothing() {
        let progress = Progress::after(Duration::ZERO, [4, 3, 2], || on(&LONG));
        progress.set(6);
        let shown = LONG.lock().unwrap().clone();
        assert!(shown.contains("6/24 blocks"), "{shown:?}");
        assert!(shown.contains(&"█".repeat(10)), "a quarter: {shown:?}");
        progress.finish();
        let shown = LONG.lock().unwrap().clone();
        assert!(shown.ends_with("<cleared>"), "{shown:?}");
    }

    #[test]
    fn a_short_launch_shows_nothing() {
        let hour = Duration::from_secs(3600);
        let progress = Progress::after(hour, [24, 1, 1], || on(&SHORT));
        progress.set(6);
        progress.set(24);
        progress.finish();
        assert_eq!(SHORT.lock().unwrap().as_str(), "");
    }

    #[test]
    fn without_a_terminal_there_is_no_bar() {
        let progress = Progress::after(Duration::ZERO, [24, 1, 1], || None);
        progress.set(6);
        assert!(progress.bar.is_hidden());
        progress.finish();
    }
}
