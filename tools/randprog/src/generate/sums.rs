//! Loops that carry sums of matmuls: over a range, or counting by themselves.

use super::Gen;
use super::control::{pairs, types};
use crate::program::Fill;
use crate::types::{Elem, Fact, Tile};

/// A loop that carries sums.
pub(super) struct Sums {
    pub counter: String,
    /// The sums in the loop.
    pub inner: Vec<Tile>,
    /// What the loop yields.
    results: Vec<Tile>,
    /// Whether the loop counts by itself.
    by_hand: bool,
    /// Where values of the loop begin.
    here: usize,
}

impl Gen {
    /// Begins a loop of at most so many iterations, and mostly of as many.
    pub(super) fn begin_sums(&mut self, starts: &[Tile], trips: u64) -> Sums {
        let low = self.int_constant(Elem::I32, &[], 0);
        let high = self.bound(trips);
        let by_hand = self.c.chance(8);
        let counter = Tile::index(self.fresh(), trips);
        let inner: Vec<Tile> = starts
            .iter()
            .map(|start| Tile {
                name: self.fresh(),
                ..start.clone()
            })
            .collect();
        let (head, results) = if by_hand {
            let starts = with_first(&low, starts);
            let (head, mut results) = self.results(&starts);
            let list = types(&starts);
            let all = with_first(&counter, &inner);
            let head = format!(
                "{head}loop iter_values({}) : {list} -> {list}",
                pairs(&all, &starts)
            );
            (head, results.split_off(1))
        } else {
            let by = self.int_constant(Elem::I32, &[], 1);
            let (head, results) = self.results(starts);
            let head = format!(
                "{head}for {} in ({} to {high}, step {}) : tile<i32> iter_values({}) -> ({})",
                counter.name,
                low.name,
                by.name,
                pairs(&inner, starts),
                types(starts)
            );
            (head, results)
        };
        let here = self.open_loop(&head, &counter.name, trips);
        if by_hand {
            self.leave_at(&high, &with_first(&counter, &inner));
        }
        self.env.push(counter.clone());
        Sums {
            counter: counter.name,
            inner,
            results,
            by_hand,
            here,
        }
    }

    /// Ends a loop with the sums of the next iteration. Those of its results of which `facts` says something, in order.
    pub(super) fn end_sums(
        &mut self,
        sums: Sums,
        next: &[Tile],
        facts: &[Option<Fact>],
    ) -> Vec<Tile> {
        if sums.by_hand {
            let counter = self.counted(&sums.counter);
            self.terminator("continue", &with_first(&counter, next));
        } else {
            self.terminator("continue", next);
        }
        self.close_loop(sums.here);
        let known = sums.results.into_iter().zip(facts);
        let known = known.filter_map(|(result, fact)| {
            let fact = (*fact)?;
            Some(Tile { fact, ..result })
        });
        known.collect()
    }

    /// A number of iterations: all, or as many as the block or memory says.
    fn bound(&mut self, trips: u64) -> String {
        let some = match self.c.weighted(&[(0, 14), (1, 1), (2, 1)]) {
            0 => return self.count(trips),
            // Up to the diagonal.
            1 => {
                let block = Tile::index("%bx", self.grid[0].into());
                let more = self.c.below(2) as i64;
                let more = self.int_constant(Elem::I32, &[], more);
                self.int_op("addi", &block, &more)
            }
            _ => self.loaded_number(trips + 1),
        };
        let most = self.int_constant(Elem::I32, &[], trips as i64);
        let text = format!("mini {}, {} signed", some.name, most.name);
        self.op(&text, None, Elem::I32, &[], some.fact).name
    }

    /// A number below another, out of a table.
    pub(super) fn loaded_number(&mut self, below: u64) -> Tile {
        let size = 1 << self.c.below(4);
        let fill = Fill::Whole(0, below as i64 - 1);
        let base = self.buffer(Elem::I32, size, fill, 0.0);
        let at = Tile::index(self.index_below(size as u64), size as u64);
        let (pointer, ty) = self.pointers(&base, Elem::I32, &at);
        let (name, token) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{name}, {token} = load_ptr_tko weak {pointer} : {ty} -> tile<i32>, token"
        ));
        let tile = Tile {
            name,
            fact: fill.fact(Elem::I32),
            ..at
        };
        self.env.push(tile.clone());
        tile
    }
}

fn with_first(first: &Tile, rest: &[Tile]) -> Vec<Tile> {
    std::iter::once(first).chain(rest).cloned().collect()
}
