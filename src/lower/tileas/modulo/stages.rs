//! Which operations of an iteration run while the next one has begun.
//!
//! An iteration has two stages. The second, late one runs beside the first of the next iteration. What depends on
//! something late is late, from one iteration to the next, too.

use super::body::{Body, Origin, is_made_anew, is_scalar};
use crate::dialect::nv_tileas::Op as S;
use crate::ir::{Module, ValueId};

/// The stages of an iteration's operations, and what passes between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stages {
    /// Whether each operation is late.
    pub late: Vec<bool>,
    /// Operations of the first stage that the second computes again.
    pub again: Vec<usize>,
    /// What the first stage hands to the second, which runs when the first has made the next.
    pub crossing: Vec<ValueId>,
}

impl Stages {
    /// The stages in which the matmuls `late` are late; `None` where all would be.
    pub fn of(m: &Module, body: &Body, late: &[usize]) -> Option<Stages> {
        let stages = Stages::with_late(m, body, late);
        let of_dots = body.dots.iter().map(|d| stages.late[d.at]);
        let of_dots: Vec<bool> = of_dots.collect();
        (of_dots.contains(&true) && of_dots.contains(&false)).then_some(stages)
    }

    /// The stages in which the operations `late` are late.
    pub fn with_late(m: &Module, body: &Body, late: &[usize]) -> Stages {
        let mut stages = Stages {
            late: (0..body.ops.len()).map(|i| late.contains(&i)).collect(),
            again: Vec::new(),
            crossing: Vec::new(),
        };
        while stages.follow(body) {}
        let behind = body.behind();
        while stages.sink(m, body, &behind) {}
        stages.cross(m, body);
        stages
    }

    /// Whether carried value `i` is made by a late operation.
    pub fn carried_late(&self, body: &Body, i: usize) -> bool {
        body.maker(i).is_some_and(|op| self.late[op])
    }

    fn reads_late(&self, body: &Body, op: usize) -> bool {
        let carried = |&v: &ValueId| match body.origin(v) {
            Origin::Carried(k) => self.carried_late(body, k),
            _ => false,
        };
        body.before[op].iter().any(|&b| self.late[b]) || body.reads[op].iter().any(carried)
    }

    /// What reads something late becomes late. Whether anything did.
    fn follow(&mut self, body: &Body) -> bool {
        let mut changed = false;
        for op in 0..body.ops.len() {
            if !self.late[op] && self.reads_late(body, op) {
                self.late[op] = true;
                changed = true;
            }
        }
        changed
    }

    /// Numbers, views and waits that only late operations need become late. Whether any did.
    fn sink(&mut self, m: &Module, body: &Body, behind: &[Vec<usize>]) -> bool {
        let mut changed = false;
        for op in (0..body.ops.len()).rev().filter(|&i| !behind[i].is_empty()) {
            let id = body.ops[op];
            let light = is_made_anew(m, id)
                || is_scalar(m, id)
                || S::of(m.op(id).kind) == Some(S::ConsumerWait);
            let needed = behind[op].iter().all(|&b| b == op || self.late[b]);
            let alone = behind[op].iter().all(|&b| b == op);
            if !self.late[op] && light && needed && !alone {
                self.late[op] = true;
                changed = true;
            }
        }
        changed
    }

    /// Finds what late operations read of the first stage.
    fn cross(&mut self, m: &Module, body: &Body) {
        let late = |i: &usize| self.late[*i];
        let mut work: Vec<usize> = (0..body.ops.len()).filter(late).collect();
        while let Some(op) = work.pop() {
            for &v in &body.reads[op] {
                match body.origin(v) {
                    Origin::Outside => {}
                    Origin::Made(i) if self.late[i] => {}
                    Origin::Carried(k) if self.carried_late(body, k) => {}
                    Origin::Made(i) if is_made_anew(m, body.ops[i]) => {
                        if !self.again.contains(&i) {
                            self.again.push(i);
                            work.push(i);
                        }
                    }
                    _ => self.crossing.push(v),
                }
            }
        }
        self.again.sort_unstable();
        self.crossing.sort_unstable();
        self.crossing.dedup();
    }

    /// The operations of the second stage, as they stand in an iteration.
    pub fn second(&self) -> Vec<usize> {
        let late = |i: &usize| self.late[*i] || self.again.contains(i);
        (0..self.late.len()).filter(late).collect()
    }
}
