//! A model of warpgroups that take turns: each computes, or waits for its matmuls or its turn.
//!
//! Groups that compute at the same time share the schedulers; one alone has stalls that another would fill. Matmuls
//! run in the order in which they were issued, those of several groups in shares.

use std::collections::VecDeque;

use super::body::Body;
use super::order::Times;

/// Iterations of the first group that are run, and those of them that are not counted.
const RUN: u64 = 12;
const WARM: u64 = 4;

/// Hundredths of a multiprocessor's arithmetic that one group reaches alone. Fitted to `ptxsim --time` of attention
/// forward, tiles of 128×128, two groups with turns, D of 64 and 128.
const ALONE: u64 = 90;

/// What is left of something, in hundredths of cycles.
type Left = u64;

#[derive(Default)]
struct Group {
    /// The operation at hand.
    at: usize,
    /// What is left of its arithmetic, if it has begun.
    computes: Option<Left>,
    /// Matmuls that were issued and are not done.
    issued: VecDeque<(usize, Left)>,
    /// Whether it has the turn.
    has: bool,
    iterations: u64,
}

struct Model<'b> {
    body: &'b Body,
    times: &'b Times,
    take: usize,
    pass: usize,
    groups: Vec<Group>,
    /// The group whose turn is next or now.
    turn: usize,
}

/// Cycles in which each group runs an iteration, where turns are taken in front of operation `take` and passed behind
/// operation `pass`.
pub fn period(body: &Body, times: &Times, take: usize, pass: usize) -> u64 {
    let mut model = Model {
        body,
        times,
        take,
        pass,
        groups: (0..times.groups()).map(|_| Group::default()).collect(),
        turn: 0,
    };
    let (mut now, mut warm) = (0, None);
    loop {
        model.settle();
        let done = model.groups.first().map_or(RUN, |g| g.iterations);
        if done >= WARM {
            warm = warm.or(Some(now));
        }
        if done >= RUN {
            return (now - warm.unwrap_or(0)) / (RUN - WARM) / 100;
        }
        match model.pass_time() {
            Some(passed) => now += passed,
            None => return u64::MAX,
        }
    }
}

impl Model<'_> {
    /// Lets each group go on until it computes or waits.
    fn settle(&mut self) {
        let mut moved = true;
        while moved {
            moved = false;
            for g in 0..self.groups.len() {
                while self.step(g) {
                    moved = true;
                }
            }
        }
    }

    /// One operation of group `g`, if it takes no time. Whether it went on.
    fn step(&mut self, g: usize) -> bool {
        let turn = self.turn == g;
        let Some(group) = self.groups.get_mut(g) else {
            return false;
        };
        if group.computes.is_some() || group.iterations > RUN {
            return false;
        }
        if group.at == self.body.ops.len() {
            group.at = 0;
            group.iterations += 1;
            return true;
        }
        let at = group.at;
        if at == self.take && !group.has {
            if !turn {
                return false;
            }
            group.has = true;
        }
        let waits = |issued: &(usize, Left)| {
            let mut dots = self.body.dots.iter();
            dots.any(|d| d.at == issued.0 && d.wait == at)
        };
        let cycles = self.times.cycles(at) * 100;
        if self.body.dots.iter().any(|d| d.at == at) {
            group.issued.push_back((at, cycles));
        } else if group.issued.iter().any(waits) {
            return false;
        } else if cycles > 0 {
            group.computes = Some(cycles);
            return false;
        }
        self.advance(g);
        true
    }

    /// Group `g` has done the operation at hand.
    fn advance(&mut self, g: usize) {
        let count = self.groups.len();
        let Some(group) = self.groups.get_mut(g) else {
            return;
        };
        if group.at == self.pass {
            group.has = false;
            self.turn = (g + 1) % count;
        }
        group.at += 1;
    }

    /// Lets time pass until something is done; how much, in hundredths of cycles. `None` if nothing goes on.
    fn pass_time(&mut self) -> Option<u64> {
        let computing = self.groups.iter().filter(|g| g.computes.is_some()).count() as u64;
        let multiplying = self.groups.iter().filter(|g| !g.issued.is_empty()).count() as u64;
        // Hundredths of the whole for each.
        let rate = if computing == 1 {
            ALONE
        } else {
            100 / computing.max(1)
        };
        let share = 100 / multiplying.max(1);
        let ends = self.groups.iter().flat_map(|g| {
            let own = g.computes.map(|left| (left * 100).div_ceil(rate));
            let matmul = g.issued.front().map(|d| (d.1 * 100).div_ceil(share));
            [own, matmul]
        });
        let passed = ends.flatten().min()?.max(1);
        for g in 0..self.groups.len() {
            let Some(group) = self.groups.get_mut(g) else {
                continue;
            };
            if let Some(matmul) = group.issued.front_mut() {
                matmul.1 = matmul.1.saturating_sub(passed * share / 100);
                if matmul.1 == 0 {
                    group.issued.pop_front();
                }
            }
            if let Some(left) = group.computes {
                let left = left.saturating_sub(passed * rate / 100);
                group.computes = Some(left).filter(|&l| l > 0);
                if group.computes.is_none() {
                    self.advance(g);
                }
            }
        }
        Some(passed)
    }
}
