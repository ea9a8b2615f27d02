//! Loops that carry sums of matmuls: over a range, or counting by themselves.

use super::control::{pairs, types};
use super::{Around, Gen};
use crate::types::{Elem, Fact, Tile, anything};

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
        let counter = Tile {
            name: self.fresh(),
            fact: Fact::Int {
                lo: 0,
                hi: i128::from(trips) - 1,
            },
            ..low.clone()
        };
        let inner: Vec<Tile> = starts
            .iter()
            .map(|start| Tile {
                name: self.fresh(),
                ..start.clone()
            })
            .collect();
        let results = if by_hand {
            self.begin_by_hand((&low, &high), (&counter, starts, &inner))
        } else {
            let by = self.int_constant(Elem::I32, &[], 1);
            let (head, results) = self.results(starts);
            self.line(&format!(
                "{head}for {} in ({} to {high}, step {}) : tile<i32> iter_values({}) -> ({}) {{",
                counter.name,
                low.name,
                by.name,
                pairs(&inner, starts),
                types(starts)
            ));
            self.depth += 1;
            results
        };
        self.around.push(Some(Around {
            counter: counter.name.clone(),
            below: trips,
        }));
        let here = self.env.len();
        self.env.push(counter.clone());
        Sums {
            counter: counter.name,
            inner,
            results,
            by_hand,
            here,
        }
    }

    /// A loop that carries its counter, and leaves where that has come to its end.
    fn begin_by_hand(
        &mut self,
        (low, high): (&Tile, &str),
        (counter, starts, sums): (&Tile, &[Tile], &[Tile]),
    ) -> Vec<Tile> {
        let inner = with_first(counter, sums);
        let starts = with_first(low, starts);
        let (head, mut results) = self.results(&starts);
        let list = types(&starts);
        self.line(&format!(
            "{head}loop iter_values({}) : {list} -> {list} {{",
            pairs(&inner, &starts)
        ));
        self.depth += 1;
        let done = self.fresh();
        self.line(&format!(
            "{done} = cmpi greater_than_or_equal {}, {high}, signed : tile<i32> -> tile<i1>",
            counter.name
        ));
        self.line(&format!("if {done} {{"));
        self.depth += 1;
        self.terminator("break", &inner);
        self.depth -= 1;
        self.line("} else {");
        self.line("}");
        results.split_off(1)
    }

    /// Ends a loop with the sums of the next iteration. Nothing is known of the results.
    pub(super) fn end_sums(&mut self, sums: Sums, next: &[Tile]) -> Vec<Tile> {
        if sums.by_hand {
            let one = self.int_constant(Elem::I32, &[], 1);
            let text = format!("addi {}, {}", sums.counter, one.name);
            let counter = self.op(&text, None, Elem::I32, &[], anything(Elem::I32));
            self.terminator("continue", &with_first(&counter, next));
        } else {
            self.terminator("continue", next);
        }
        self.depth -= 1;
        self.env.truncate(sums.here);
        self.around.pop();
        self.line("}");
        sums.results
    }

    /// A number of iterations: all, or as many as the block or memory says.
    fn bound(&mut self, trips: u64) -> String {
        let some = match self.c.weighted(&[(0, 14), (1, 1), (2, 1)]) {
            0 => return self.count(trips),
            // Up to the diagonal.
            1 => {
                let block = self.block_number();
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

    fn block_number(&self) -> Tile {
        Tile {
            name: "%bx".to_owned(),
            elem: Elem::I32,
            shape: Vec::new(),
            fact: Fact::Int {
                lo: 0,
                hi: i128::from(self.grid[0]) - 1,
            },
        }
    }

    /// A number below another, out of a table.
    pub(super) fn loaded_number(&mut self, below: u64) -> Tile {
        let size = 1 << self.c.below(4);
        let fill = crate::program::Fill::Whole(0, below as i64 - 1);
        let base = self.buffer(Elem::I32, size, fill, 0.0);
        let at = self.index_below(size as u64);
        let at = Tile {
            name: at,
            ..self.block_number()
        };
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
