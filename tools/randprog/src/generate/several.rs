//! Several matmuls of a few extents, which read the same operands and each other's results: what attention, its gradients
//! and recurrent states are made of.

use super::Gen;
use super::product::{KINDS, product_fact};
use crate::program::Fill;
use crate::types::{Elem, Fact, Float, Tile, anything, tile_type};

/// Multiplications that each of them may have.
const WORK: u64 = 1 << 19;

/// What a sum goes through before it is an operand.
#[derive(Clone, Copy)]
enum Through {
    Nothing,
    Mask,
    Rows,
    Softmax,
}

/// What their operands are taken from.
struct Pool {
    elem: Elem,
    extents: [u64; 3],
    tiles: Vec<Tile>,
    /// Where a loop is around them: its counter, and how many values that has.
    counter: Option<(String, u64)>,
}

impl Gen {
    fn pool(&mut self, elem: Elem) -> Pool {
        let mut extents = [0; 3];
        for extent in &mut extents {
            *extent = self
                .c
                .weighted(&[(32, 7), (64, 6), (16, 5), (128, 3), (8, 1)]);
        }
        Pool {
            elem,
            extents,
            tiles: Vec::new(),
            counter: None,
        }
    }

    /// Matmuls one after the other.
    pub(super) fn several(&mut self) {
        let (input, output) = self.c.weighted(KINDS);
        let mut pool = self.pool(input);
        for _ in 0..2 + self.c.below(3) {
            let start = self.start(&pool, output);
            let (sum, fact) = self.add_to(&mut pool, &start, 1);
            if fact.is_some() && self.c.chance(60) {
                self.store(&sum);
            }
            self.keep(&mut pool, &sum);
        }
    }

    /// A loop that carries several sums.
    pub(super) fn several_loop(&mut self) {
        let (input, output) = self.c.weighted(KINDS);
        let mut pool = self.pool(input);
        let trips = 1 + self.c.below(4) as u64;
        let starts: Vec<Tile> = (0..1 + self.c.below(3))
            .map(|_| self.start(&pool, output))
            .collect();
        // What the loop reads again in each iteration.
        for _ in 0..self.c.below(3) {
            let shape = [pool.extent(self), pool.extent(self)];
            self.factor_of(&mut pool, shape);
        }
        let sums = self.begin_sums(&starts, trips);
        pool.counter = Some((sums.counter.clone(), trips));
        let (mut next, mut facts) = (Vec::new(), Vec::new());
        for inner in &sums.inner {
            if self.c.chance(50) {
                let start = self.start(&pool, output);
                let (scores, _) = self.add_to(&mut pool, &start, 1);
                self.keep(&mut pool, &scores);
            }
            let decays = inner.elem.is_float() && self.c.chance(25);
            let state = if decays {
                self.scaled_rows(inner)
            } else {
                inner.clone()
            };
            let (sum, fact) = self.add_to(&mut pool, &state, trips);
            if let Some(fact) = fact {
                // The bound of all iterations holds in front of each, too.
                let before = self.c.chance(50);
                let state = if before { inner } else { &sum };
                self.keep(
                    &mut pool,
                    &Tile {
                        fact,
                        ..state.clone()
                    },
                );
            }
            facts.push(fact);
            next.push(sum);
        }
        let known = self.end_sums(sums, &next, &facts);
        self.env.extend(known);
    }

    /// Zeros in the shape of one of the results.
    fn start(&mut self, pool: &Pool, output: Elem) -> Tile {
        let shape = [pool.extent(self), pool.extent(self)];
        self.zero(output, &shape)
    }

    /// `start` and the matmul of two operands, and what holds of the sum of so many of them.
    fn add_to(&mut self, pool: &mut Pool, start: &Tile, trips: u64) -> (Tile, Option<Fact>) {
        let (m, n) = (start.shape[0], start.shape[1]);
        let k = pool.extent(self).min(WORK / (m * n));
        let left = self.factor_of(pool, [m, k]);
        let right = self.factor_of(pool, [k, n]);
        let fact = product_fact(&left, &right, start, k * trips);
        let sum = self.multiply(&left, &right, start, fact);
        (sum, fact)
    }

    /// An operand of this shape: one that is there, perhaps transposed, or a new one.
    fn factor_of(&mut self, pool: &mut Pool, shape: [u64; 2]) -> Tile {
        let fits = |t: &&Tile| t.shape == shape || t.shape == [shape[1], shape[0]];
        let there: Vec<Tile> = pool.tiles.iter().filter(fits).cloned().collect();
        if !there.is_empty() && self.c.chance(75) {
            let at = self.c.below(there.len());
            let tile = &there[at];
            return match tile.shape == shape {
                true => tile.clone(),
                false => self.permute(tile, &[1, 0]),
            };
        }
        let counter = pool.counter.clone();
        let grid = u64::from(self.grid[0]);
        let index = counter.as_ref().map(|(name, trips)| {
            let along = [(name.as_str(), *trips), ("%bx", grid)];
            if self.c.chance(50) {
                [along[1], along[0]]
            } else {
                along
            }
        });
        let new = self.factor(pool.elem, (1, shape[0], shape[1]), index);
        // Operands that threads compute take other ways than those that are only loaded.
        let new = if pool.elem.has_arithmetic() && self.c.chance(30) {
            self.clamp(&new, (-1.0, 1.0))
        } else {
            new
        };
        pool.tiles.push(new.clone());
        new
    }

    /// Makes an operand of a sum.
    fn keep(&mut self, pool: &mut Pool, sum: &Tile) {
        let finite = |x: Float| x.is_finite() && x.error < 1.0;
        if !sum.elem.is_float() || !finite(sum.float()) || !self.c.chance(60) {
            return;
        }
        let small = self.clamp(sum, (-2.0, 2.0));
        let scores = match self.c.weighted(&[
            (Through::Nothing, 4),
            (Through::Mask, 2),
            (Through::Rows, 2),
            (Through::Softmax, 2),
        ]) {
            Through::Nothing => Some(small),
            Through::Mask => Some(self.lower_part(&small)),
            Through::Rows => Some(self.scaled_rows(&small)),
            // Sums are made in f32.
            Through::Softmax => match small.elem {
                Elem::F16 => self.convert_to(&small, Elem::F32),
                _ => Some(small),
            }
            .and_then(|t| self.softmax(&t, 1)),
        };
        let operand = scores.and_then(|t| self.convert_to(&t, pool.elem));
        pool.tiles.extend(operand.filter(|t| finite(t.float())));
    }

    /// A matrix with zeros above its diagonal, as causal masks make them.
    fn lower_part(&mut self, a: &Tile) -> Tile {
        let [row, column] = [0, 1].map(|dim| {
            let numbers = self.iota(Elem::I32, a.shape[dim]);
            self.along(&numbers, &a.shape, 1 - dim)
        });
        let ty = tile_type(Elem::I1, &a.shape);
        let types = format!("{} -> {ty}", row.ty());
        let text = format!(
            "cmpi greater_than_or_equal {}, {}, signed",
            row.name, column.name
        );
        let mask = self.op(&text, Some(&types), Elem::I1, &a.shape, anything(Elem::I1));
        let zero = self.zero(a.elem, &a.shape);
        self.select(&mask, a, &zero)
    }

    /// The rows of a matrix times zero or one, which a state loses or keeps.
    fn scaled_rows(&mut self, a: &Tile) -> Tile {
        let by = self.load_filled(a.elem, &a.shape[..1], Fill::Whole(0, 1));
        let by = self.clamp(&by, (0.0, 1.0));
        let by = self.along(&by, &a.shape, 1);
        let fact = a.float().product(by.float()).rounded(a.elem);
        let text = format!("mulf {}, {}", a.name, by.name);
        self.op(&text, None, a.elem, &a.shape, Fact::Float(fact))
    }
}

impl Pool {
    fn extent(&self, g: &mut Gen) -> u64 {
        g.c.pick(&self.extents)
    }
}
