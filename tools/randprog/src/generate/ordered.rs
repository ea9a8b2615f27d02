//! Loops whose loads and atomic sums are ordered by one token, as cuTile writes them: an iteration loads what lies
//! behind the last one's atomic operations, which may acquire.

use super::Gen;
use super::atomics::Update;
use super::product::{Sizes, product_fact};
use crate::program::Fill;
use crate::types::{Elem, Tile};

impl Gen {
    /// `y[k] += a[k] · b[k]` in memory, `acc += a[k] · b[k]`, or both.
    pub(super) fn ordered_loop(&mut self, (input, output): (Elem, Elem), s: &Sizes, trips: u64) {
        let shape = [s.m, s.n];
        let start = self.zero(output, &shape);
        let count = s.m * s.n;
        let blocks: u64 = self.grid.iter().map(|&g| u64::from(g)).product();
        // All of them add to one tile, or each iteration to its own.
        let tiles = self.c.pick(&[1, trips]);
        let base = self.buffer(output, (count * tiles) as usize, Fill::Zero, 0.0);
        let begin = self.fresh();
        self.line(&format!("{begin} = make_token : token"));
        let low = self.int_constant(Elem::I32, &[], 0);
        let high = self.count(trips);
        let by = self.int_constant(Elem::I32, &[], 1);
        let (name, last) = (self.fresh(), self.fresh());
        let (counter, inner, token) = (self.fresh(), self.fresh(), self.fresh());
        let own = start.ty();
        let head = format!(
            "{name}, {last} = for {counter} in ({} to {high}, step {}) : tile<i32> iter_values({inner} = {}, {token} = {begin}) -> ({own}, token)",
            low.name, by.name, start.name
        );
        let here = self.open_loop(&head, &counter, trips);
        let at = Tile::index(&counter, trips);
        self.env.push(at.clone());
        self.after = Some(token.clone());
        let along = (counter.as_str(), trips);
        let [row, column] = self.blocks();
        let a = self.factor(input, (1, s.m, s.k), Some([row, along]));
        let b = self.factor(input, (1, s.k, s.n), Some([along, column]));
        self.after = None;
        let inner = Tile {
            name: inner,
            ..start.clone()
        };
        let total = product_fact(&a, &b, &start, s.k * trips);
        let next = self.multiply(&a, &b, &inner, total);
        let every = product_fact(&a, &b, &start, s.k * trips * blocks);
        let every = every.filter(|f| f.is_exact() && output != Elem::F16);
        let token = match every {
            None => token,
            Some(fact) => {
                let part = self.multiply(&a, &b, &start, Some(fact));
                let number = self.int_constant(Elem::I32, &[], 0);
                let number = if tiles > 1 { at } else { number };
                let offsets = self.linear(&shape, Some(&number));
                self.add_ordered(&base, &offsets, &part, &token)
            }
        };
        self.line(&format!("continue {}, {token} : {own}, token", next.name));
        self.close_loop(here);
        self.env.extend(total.map(|fact| Tile {
            name,
            fact,
            ..start
        }));
    }

    /// Adds a tile to memory behind a token; the token of that.
    fn add_ordered(&mut self, base: &str, offsets: &Tile, part: &Tile, token: &str) -> String {
        let scope = self.c.pick(&[
            "relaxed device",
            "acq_rel device",
            "acquire device",
            "acq_rel sys",
        ]);
        let mode = if part.elem.is_float() { "addf" } else { "add" };
        let pointers = self.pointers(base, part.elem, offsets);
        let how = Update {
            scope,
            mode,
            mask: None,
            after: Some(token),
        };
        self.atomic_rmw(&pointers, part, &how).1
    }
}
