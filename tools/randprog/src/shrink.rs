//! Makes a program smaller that still shows a finding: by taking decisions away, and by making them simpler.

use crate::choices::Choices;
use crate::generate;
use crate::program::Program;

/// The smallest program found within `tries` that `still` holds of, and the decisions that make it.
pub fn shrink(
    start: Vec<u32>,
    tries: usize,
    still: &mut dyn FnMut(&Program) -> bool,
) -> (Vec<u32>, Program) {
    let mut s = Shrinking {
        best: start,
        left: tries,
        still,
    };
    loop {
        let before = s.best.clone();
        for size in [64, 32, 16, 8, 4, 2, 1] {
            s.remove(size);
        }
        s.simplify();
        if s.best == before || s.left == 0 {
            break;
        }
    }
    let program = generate::program(&mut Choices::replay(s.best.clone()));
    (s.best, program)
}

struct Shrinking<'a> {
    best: Vec<u32>,
    left: usize,
    still: &'a mut dyn FnMut(&Program) -> bool,
}

impl Shrinking<'_> {
    fn attempt(&mut self, new: Vec<u32>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let mut choices = Choices::replay(new);
        let program = generate::program(&mut choices);
        let taken = choices.taken;
        // Zeros at the end come by themselves.
        let end = taken.iter().rposition(|&c| c != 0).map_or(0, |i| i + 1);
        let taken = taken[..end].to_vec();
        let is_smaller = (taken.len(), &taken) < (self.best.len(), &self.best);
        let holds = is_smaller && (self.still)(&program);
        if holds {
            self.best = taken;
        }
        holds
    }

    fn remove(&mut self, size: usize) {
        let mut at = self.best.len().saturating_sub(size);
        loop {
            if at + size <= self.best.len() {
                let mut new = self.best.clone();
                new.drain(at..at + size);
                if !self.attempt(new) {
                    let mut new = self.best.clone();
                    new[at..at + size].fill(0);
                    self.attempt(new);
                }
            }
            if at == 0 || self.left == 0 {
                return;
            }
            at = at.saturating_sub(size.div_ceil(2)).min(self.best.len());
        }
    }

    fn simplify(&mut self) {
        let mut at = 0;
        while at < self.best.len() && self.left > 0 {
            let value = self.best[at];
            for new_value in [0, value / 2, value.saturating_sub(1)] {
                if new_value < self.best.get(at).copied().unwrap_or(0) {
                    let mut new = self.best.clone();
                    new[at] = new_value;
                    if self.attempt(new) {
                        break;
                    }
                }
            }
            at += 1;
        }
    }
}
