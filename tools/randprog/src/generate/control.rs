//! Loops and branches around statements.

use super::{Around, Gen};
use crate::types::{Elem, Fact, Tile, anything};

impl Gen {
    /// Begins a loop whose counter is below a number. Where its values begin, for [`Gen::close_loop`].
    pub(super) fn open_loop(&mut self, head: &str, counter: &str, below: u64) -> usize {
        self.line(&format!("{head} {{"));
        self.around.push(Some(Around {
            counter: counter.to_owned(),
            below,
        }));
        self.depth += 1;
        self.env.len()
    }

    /// Ends a loop behind its terminator; what it made is then out of scope.
    pub(super) fn close_loop(&mut self, here: usize) {
        self.depth -= 1;
        self.env.truncate(here);
        self.around.pop();
        self.line("}");
    }

    /// Leaves a loop that counts by itself with the values that it carries, the first of them its counter, where that has
    /// come to `end`.
    pub(super) fn leave_at(&mut self, end: &str, carried: &[Tile]) {
        let done = self.fresh();
        self.line(&format!(
            "{done} = cmpi greater_than_or_equal {}, {end}, signed : tile<i32> -> tile<i1>",
            carried[0].name
        ));
        self.line(&format!("if {done} {{"));
        self.depth += 1;
        self.terminator("break", carried);
        self.depth -= 1;
        self.line("} else {");
        self.line("}");
    }

    /// The counter of the next iteration of such a loop.
    pub(super) fn counted(&mut self, counter: &str) -> Tile {
        let one = self.int_constant(Elem::I32, &[], 1);
        let text = format!("addi {counter}, {}", one.name);
        self.op(&text, None, Elem::I32, &[], anything(Elem::I32))
    }

    /// Runs `body` one level deeper; what it made is then out of scope.
    fn inside(&mut self, body: impl FnOnce(&mut Self)) {
        let here = self.env.len();
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.env.truncate(here);
    }

    /// Values that a loop carries, exact ones.
    fn carried(&mut self) -> Vec<Tile> {
        let n = self.c.below(4);
        (0..n)
            .map(|_| {
                let shape = self.shape();
                let elem = self.any_elem();
                self.operand(elem, &shape)
            })
            .collect()
    }

    /// Names inside a region for values carried into it; nothing is known of them there.
    fn arguments(&mut self, carried: &[Tile]) -> Vec<Tile> {
        carried
            .iter()
            .map(|t| Tile {
                name: self.fresh(),
                fact: anything(t.elem),
                ..t.clone()
            })
            .collect()
    }

    /// Values of the same types, to end a region with.
    fn ends(&mut self, like: &[Tile]) -> Vec<Tile> {
        like.iter()
            .map(|t| self.operand(t.elem, &t.shape.clone()))
            .collect()
    }

    /// `%n` for one result, `%n:k` for several, and what later statements call them.
    pub(super) fn results(&mut self, like: &[Tile]) -> (String, Vec<Tile>) {
        let name = self.fresh();
        let head = match like.len() {
            0 => String::new(),
            1 => format!("{name} = "),
            n => format!("{name}:{n} = "),
        };
        let tiles = like.iter().enumerate().map(|(i, t)| Tile {
            name: if like.len() == 1 {
                name.clone()
            } else {
                format!("{name}#{i}")
            },
            fact: anything(t.elem),
            ..t.clone()
        });
        (head, tiles.collect())
    }

    pub(super) fn count(&mut self, n: u64) -> String {
        if self.c.chance(50) {
            self.scalar_param(n as i64)
        } else {
            self.int_constant(Elem::I32, &[], n as i64).name
        }
    }

    pub(super) fn for_loop(&mut self) {
        if self.depth > 3 {
            return self.float_binary();
        }
        let trips = self.c.below(5) as u64;
        let step = self.c.weighted(&[(1, 6), (2, 1), (3, 1)]);
        let carried = self.carried();
        let low = self.int_constant(Elem::I32, &[], 0);
        let high = self.count(trips);
        let by = self.int_constant(Elem::I32, &[], step);
        let counter = self.fresh();
        let inner = self.arguments(&carried);
        let (head, results) = self.results(&carried);
        let unsigned = if self.c.chance(10) { "unsigned " } else { "" };
        let mut text = format!(
            "{head}for {unsigned}{counter} in ({} to {high}, step {}) : tile<i32>",
            low.name, by.name
        );
        if !carried.is_empty() {
            text.push_str(&format!(
                " iter_values({}) -> ({})",
                pairs(&inner, &carried),
                types(&carried)
            ));
        }
        let here = self.open_loop(&text, &counter, trips.max(1));
        self.env.push(Tile::index(counter, trips.max(1)));
        self.env.extend(inner);
        self.statement();
        self.statements();
        let ends = self.ends(&carried);
        self.terminator("continue", &ends);
        self.close_loop(here);
        self.env.extend(results);
    }

    pub(super) fn terminator(&mut self, name: &str, values: &[Tile]) {
        if values.is_empty() {
            return self.line(name);
        }
        self.line(&format!("{name} {} : {}", names(values), types(values)));
    }

    pub(super) fn branch(&mut self) {
        if self.depth > 3 {
            return self.compare();
        }
        let condition = self.condition(&[]);
        let like: Vec<Tile> = self.carried();
        let (head, results) = self.results(&like);
        let arrow = if like.is_empty() {
            String::new()
        } else {
            format!(" -> ({})", types(&like))
        };
        self.line(&format!("{head}if {}{arrow} {{", condition.name));
        self.conditional += 1;
        for part in 0..2 {
            let like = like.clone();
            self.inside(|g| {
                if part == 0 || g.c.chance(60) {
                    g.statement();
                    g.statements();
                }
                let ends = g.ends(&like);
                if !ends.is_empty() {
                    g.terminator("yield", &ends);
                }
            });
            self.line(if part == 0 { "} else {" } else { "}" });
        }
        self.conditional -= 1;
        self.env.extend(results);
    }

    /// A loop that counts by itself and leaves where it has done enough.
    pub(super) fn while_loop(&mut self) {
        if self.depth > 3 {
            return self.float_binary();
        }
        let trips = self.c.below(5) as u64;
        let mut carried = vec![self.int_constant(Elem::I32, &[], 0)];
        carried.extend(self.carried());
        let end = self.count(trips);
        let mut inner = self.arguments(&carried);
        inner[0].fact = Fact::Int {
            lo: 0,
            hi: i128::from(trips),
        };
        let (head, mut results) = self.results(&carried);
        results[0].fact = Fact::Int {
            lo: trips.into(),
            hi: trips.into(),
        };
        let list = types(&carried);
        let head = format!(
            "{head}loop iter_values({}) : {list} -> {list}",
            pairs(&inner, &carried)
        );
        let here = self.open_loop(&head, &inner[0].name, trips.max(1));
        self.leave_at(&end, &inner);
        self.env.extend(inner.iter().cloned());
        self.statement();
        self.statements();
        let mut ends = vec![self.counted(&inner[0].name)];
        ends.extend(self.ends(&carried[1..]));
        self.terminator("continue", &ends);
        self.close_loop(here);
        self.env.extend(results);
    }
}

pub(super) fn names(tiles: &[Tile]) -> String {
    tiles
        .iter()
        .map(|t| t.name.clone())
        .collect::<Vec<_>>()
        .join(", ")
}

pub(super) fn types(tiles: &[Tile]) -> String {
    tiles.iter().map(Tile::ty).collect::<Vec<_>>().join(", ")
}

pub(super) fn pairs(inner: &[Tile], outer: &[Tile]) -> String {
    let pair = |(i, o): (&Tile, &Tile)| format!("{} = {}", i.name, o.name);
    inner
        .iter()
        .zip(outer)
        .map(pair)
        .collect::<Vec<_>>()
        .join(", ")
}
