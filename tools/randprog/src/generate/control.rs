//! Loops and branches around statements.

use super::{Around, Gen};
use crate::types::{Elem, Fact, Tile, anything};

impl Gen {
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
        self.line(&format!("{text} {{"));
        self.around.push(Some(Around {
            counter: counter.clone(),
            below: trips.max(1),
        }));
        self.inside(|g| {
            let fact = Fact::Int {
                lo: 0,
                hi: i128::from(trips.max(1)) - 1,
            };
            g.env.push(Tile {
                name: counter,
                elem: Elem::I32,
                shape: Vec::new(),
                fact,
            });
            g.env.extend(inner);
            g.statement();
            g.statements();
            let ends = g.ends(&carried);
            g.terminator("continue", &ends);
        });
        self.around.pop();
        self.line("}");
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
        self.line(&format!(
            "{head}loop iter_values({}) : {} -> {} {{",
            pairs(&inner, &carried),
            types(&carried),
            types(&carried)
        ));
        self.around.push(Some(Around {
            counter: inner[0].name.clone(),
            below: trips.max(1),
        }));
        self.inside(|g| {
            let done = g.fresh();
            g.line(&format!(
                "{done} = cmpi greater_than_or_equal {}, {end}, signed : tile<i32> -> tile<i1>",
                inner[0].name
            ));
            g.line(&format!("if {done} {{"));
            g.depth += 1;
            g.terminator("break", &inner);
            g.depth -= 1;
            g.line("} else {");
            g.line("}");
            g.env.extend(inner.iter().cloned());
            g.statement();
            g.statements();
            let one = g.int_constant(Elem::I32, &[], 1);
            let next = g.op(
                &format!("addi {}, {}", inner[0].name, one.name),
                None,
                Elem::I32,
                &[],
                anything(Elem::I32),
            );
            let mut ends = vec![next];
            ends.extend(g.ends(&carried[1..]));
            g.terminator("continue", &ends);
        });
        self.around.pop();
        self.line("}");
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
