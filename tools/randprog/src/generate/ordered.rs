//! Loops whose loads and atomic sums are ordered by one token, as cuTile writes them: an iteration loads what lies
//! behind the last one's atomic operations, which may acquire.

use super::Around;
use super::Gen;
use super::product::{Sizes, product_fact};
use crate::program::Fill;
use crate::types::{Elem, Fact, Tile, tile_type};

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
        self.line(&format!(
            "{name}, {last} = for {counter} in ({} to {high}, step {}) : tile<i32> iter_values({inner} = {}, {token} = {begin}) -> ({own}, token) {{",
            low.name, by.name, start.name
        ));
        self.around.push(Some(Around {
            counter: counter.clone(),
            below: trips,
        }));
        let here = self.env.len();
        self.depth += 1;
        let at = Tile {
            name: counter.clone(),
            fact: Fact::Int {
                lo: 0,
                hi: i128::from(trips) - 1,
            },
            ..low
        };
        self.env.push(at.clone());
        self.after = Some(token.clone());
        let along = (counter.as_str(), trips);
        let (gx, gy) = (u64::from(self.grid[0]), u64::from(self.grid[1]));
        let a = self.factor(input, (1, s.m, s.k), Some([("%bx", gx), along]));
        let b = self.factor(input, (1, s.k, s.n), Some([along, ("%by", gy)]));
        self.after = None;
        let inner = Tile {
            name: inner,
            ..start.clone()
        };
        let total = product_fact(&a, &b, &start, s.k * trips);
        let next = self.multiply(&a, &b, &inner, total.unwrap_or(start.fact));
        let every = product_fact(&a, &b, &start, s.k * trips * blocks);
        let token = match every
            .filter(|f| is_exact(*f))
            .filter(|_| output != Elem::F16)
        {
            None => token,
            Some(fact) => {
                let part = self.multiply(&a, &b, &start, fact);
                let number = self.int_constant(Elem::I32, &[], 0);
                let number = if tiles > 1 { at } else { number };
                let offsets = self.linear(&shape, Some(&number));
                self.add_ordered(&base, &offsets, &part, &token)
            }
        };
        self.line(&format!("continue {}, {token} : {own}, token", next.name));
        self.depth -= 1;
        self.env.truncate(here);
        self.around.pop();
        self.line("}");
        self.env.extend(total.map(|fact| Tile {
            name,
            fact,
            ..start
        }));
    }

    /// Adds a tile to memory behind a token; the token of that.
    fn add_ordered(&mut self, base: &str, offsets: &Tile, part: &Tile, token: &str) -> String {
        let order = self.c.pick(&[
            "relaxed device",
            "acq_rel device",
            "acquire device",
            "acq_rel sys",
        ]);
        let mode = if part.elem.is_float() { "addf" } else { "add" };
        let (pointers, ty) = self.pointers(base, part.elem, offsets);
        let (old, done) = (self.fresh(), self.fresh());
        let own = tile_type(part.elem, &part.shape);
        self.line(&format!(
            "{old}, {done} = atomic_rmw_tko {order} {pointers}, {mode}, {} token={token} : {ty}, {own} -> {own}, token",
            part.name
        ));
        done
    }
}

fn is_exact(fact: Fact) -> bool {
    match fact {
        Fact::Int { .. } => true,
        Fact::Float(x) => x.is_exact(),
    }
}
