//! Matrix products, alone and in loops over their inner dimension.

use super::control::{pairs, types};
use super::{Around, Gen};
use crate::program::Fill;
use crate::types::{Elem, Fact, Float, Tile};

/// Element types of operands and accumulators.
pub(super) const KINDS: &[((Elem, Elem), usize)] = &[
    ((Elem::F16, Elem::F32), 10),
    ((Elem::BF16, Elem::F32), 6),
    ((Elem::F16, Elem::F16), 4),
    ((Elem::I(8), Elem::I32), 4),
    ((Elem::TF32, Elem::F32), 4),
    ((Elem::F32, Elem::F32), 3),
    ((Elem::E4M3, Elem::F32), 3),
    ((Elem::E5M2, Elem::F32), 2),
    ((Elem::E4M3, Elem::F16), 1),
    ((Elem::F64, Elem::F64), 2),
];

/// Multiplications that one block's products may have.
const WORK: u64 = 1 << 19;

pub(super) struct Sizes {
    pub batch: u64,
    pub m: u64,
    pub n: u64,
    pub k: u64,
}

/// A loop that carries sums.
pub(super) struct Sums {
    /// What the loop yields.
    pub results: Vec<Tile>,
    pub counter: String,
    /// The sums in the loop.
    pub inner: Vec<Tile>,
    /// Where values of the loop begin.
    pub here: usize,
}

impl Gen {
    fn sizes(&mut self, work: u64) -> Sizes {
        let mut room = work.ilog2();
        let mut extent = |g: &mut Self| {
            let n =
                g.c.weighted(&[
                    (4, 6),
                    (5, 8),
                    (6, 8),
                    (3, 2),
                    (7, 5),
                    (2, 1),
                    (0, 1),
                    (1, 1),
                ])
                .min(room);
            room -= n;
            1 << n
        };
        let (m, n, k) = (extent(self), extent(self), extent(self));
        let batch = if self.c.chance(10) { 2 } else { 1 };
        Sizes { batch, m, n, k }
    }

    /// Numbers whose products and sums are exact, mostly.
    pub(super) fn factor_fill(&mut self, elem: Elem) -> Fill {
        if elem == Elem::I(8) {
            return self.c.pick(&[Fill::Whole(-5, 5), Fill::Whole(-128, 127)]);
        }
        match self.c.below(4) {
            0 if !matches!(elem, Elem::E4M3 | Elem::E5M2) => Fill::Uniform(-1.0, 1.0),
            1 => Fill::Whole(0, 2),
            _ => Fill::Whole(-2, 2),
        }
    }

    /// An operand of a product: loaded, at an index, perhaps turned, perhaps computed.
    pub(super) fn factor(
        &mut self,
        elem: Elem,
        (batch, rows, columns): (u64, u64, u64),
        index: Option<[(&str, u64); 2]>,
    ) -> Tile {
        let turned = batch == 1 && self.c.chance(25);
        let fill = self.factor_fill(elem);
        // Read in another format, as mixed products do.
        let from = match elem {
            Elem::F16 | Elem::BF16 if self.c.chance(15) => {
                self.c.pick(&[Elem::F32, Elem::I(8), Elem::E4M3])
            }
            _ => elem,
        };
        let fill = if from != elem {
            Fill::Whole(-2, 2)
        } else {
            fill
        };
        let mut shape = if turned {
            vec![columns, rows]
        } else {
            vec![rows, columns]
        };
        let mut at: Option<Vec<(String, u64)>> =
            index.map(|i| i.iter().map(|(n, b)| ((*n).to_owned(), *b)).collect());
        if let (Some(at), true) = (&mut at, turned) {
            at.reverse();
        }
        let matrix = shape.clone();
        if batch > 1 {
            self.dimension(0, batch, &mut shape, &mut at);
        } else if self.c.chance(25) {
            // Tensors have dimensions for batches and heads, of which a tile takes one.
            for _ in 0..1 + self.c.below(2) {
                let place = self.c.below(shape.len());
                self.dimension(place, 1, &mut shape, &mut at);
            }
        }
        let tile = match &at {
            Some(at) => {
                let at: Vec<(&str, u64)> = at.iter().map(|(n, b)| (n.as_str(), *b)).collect();
                self.load_at(from, &shape, fill, &at)
            }
            None => self.load_filled(from, &shape, fill),
        };
        let tile = if batch > 1 {
            tile
        } else {
            self.reshape(&tile, &matrix)
        };
        // Padding that is no number would be in every sum.
        let tile = if tile.elem.is_float() && !tile.float().is_finite() {
            self.clamp(&tile, (-2.0, 2.0))
        } else {
            tile
        };
        let tile = if from == elem {
            tile
        } else {
            self.convert_to(&tile, elem).unwrap_or(tile)
        };
        if turned {
            self.permute(&tile, &[1, 0])
        } else {
            tile
        }
    }

    /// Gives a tile another dimension, of whose tiles the first is loaded.
    fn dimension(
        &mut self,
        place: usize,
        extent: u64,
        shape: &mut Vec<u64>,
        at: &mut Option<Vec<(String, u64)>>,
    ) {
        shape.insert(place, extent);
        if let Some(at) = at {
            let zero = self.int_constant(Elem::I32, &[], 0).name;
            at.insert(place, (zero, 1));
        }
    }

    pub(super) fn product(&mut self) {
        if self.c.chance(15) {
            return self.several();
        }
        let (input, output) = self.c.weighted(KINDS);
        let s = self.sizes(WORK);
        let fits = |t: &Tile| usable(t) && t.float().max() < 64.0;
        let left = [s.m, s.k];
        let a = if s.batch == 1 && input.has_arithmetic() && self.c.chance(30) {
            self.operand_where(input, &left, &fits)
        } else {
            self.factor(input, (s.batch, s.m, s.k), None)
        };
        let b = self.factor(input, (s.batch, s.k, s.n), None);
        let shape = result_shape(&s);
        let acc = if self.c.chance(60) {
            self.zero(output, &shape)
        } else {
            self.operand_where(output, &shape, &fits)
        };
        let Some(fact) = product_fact(&a, &b, &acc, s.k) else {
            return;
        };
        self.multiply(&a, &b, &acc, fact);
    }

    pub(super) fn zero(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        if elem.is_float() {
            self.float_constant(elem, shape, 0.0)
        } else {
            self.int_constant(elem, shape, 0)
        }
    }

    pub(super) fn multiply(&mut self, a: &Tile, b: &Tile, acc: &Tile, fact: Fact) -> Tile {
        let types = format!("{}, {}, {}", a.ty(), b.ty(), acc.ty());
        let (name, sign) = if acc.elem == Elem::I32 {
            ("mmai", " signed signed")
        } else {
            ("mmaf", "")
        };
        let text = format!("{name} {}, {}, {}{sign}", a.name, b.name, acc.name);
        self.value(&text, Some(&types), acc.elem, &acc.shape, fact)
    }

    /// The loop of a matrix multiplication, with more statements in it now and then.
    pub(super) fn product_loop(&mut self) {
        if self.depth > 2 {
            return self.product();
        }
        if self.c.chance(10) {
            return self.recurrence();
        }
        if self.c.chance(15) {
            return self.several_loop();
        }
        if self.c.chance(10) {
            return self.chained_loop();
        }
        let (input, output) = self.c.weighted(KINDS);
        let s = self.sizes(WORK / 4);
        let trips = 1 + self.c.below(6) as u64;
        if s.batch == 1 && self.c.chance(25) {
            return self.walked_loop((input, output), &s, trips);
        }
        let start = self.zero(output, &result_shape(&s));
        let starts = std::slice::from_ref(&start);
        let Sums {
            results,
            counter,
            inner,
            here,
        } = self.begin_sums(starts, trips);
        let (gx, gy) = (u64::from(self.grid[0]), u64::from(self.grid[1]));
        let a = self.factor(
            input,
            (s.batch, s.m, s.k),
            Some([("%bx", gx), (&counter, trips)]),
        );
        let b = self.factor(
            input,
            (s.batch, s.k, s.n),
            Some([(&counter, trips), ("%by", gy)]),
        );
        if self.c.chance(20) {
            self.statement();
        }
        // The sum over all iterations bounds that of each.
        let total = product_fact(&a, &b, &start, s.k * trips);
        let step = self.multiply(&a, &b, &inner[0], total.unwrap_or(start.fact));
        if self.c.chance(10) {
            self.statement();
        }
        self.terminator("continue", &[step]);
        let known = |result: Tile| {
            Some(Tile {
                fact: total?,
                ..result
            })
        };
        self.end_sums(here, results.into_iter().filter_map(known));
    }

    /// Begins a loop of so many iterations that carries sums.
    pub(super) fn begin_sums(&mut self, starts: &[Tile], trips: u64) -> Sums {
        let low = self.int_constant(Elem::I32, &[], 0);
        let high = self.count(trips);
        let by = self.int_constant(Elem::I32, &[], 1);
        let counter = self.fresh();
        let inner: Vec<Tile> = starts
            .iter()
            .map(|start| Tile {
                name: self.fresh(),
                ..start.clone()
            })
            .collect();
        let (head, results) = self.results(starts);
        self.line(&format!(
            "{head}for {counter} in ({} to {high}, step {}) : tile<i32> iter_values({}) -> ({}) {{",
            low.name,
            by.name,
            pairs(&inner, starts),
            types(starts)
        ));
        self.around.push(Some(Around {
            counter: counter.clone(),
            below: trips,
        }));
        let here = self.env.len();
        self.depth += 1;
        let fact = Fact::Int {
            lo: 0,
            hi: i128::from(trips) - 1,
        };
        self.env.push(Tile {
            name: counter.clone(),
            elem: Elem::I32,
            shape: Vec::new(),
            fact,
        });
        Sums {
            results,
            counter,
            inner,
            here,
        }
    }

    /// Ends a loop behind `here` that adds up products; those of its results are used that enough is known of.
    pub(super) fn end_sums(&mut self, here: usize, known: impl IntoIterator<Item = Tile>) {
        self.depth -= 1;
        self.env.truncate(here);
        self.around.pop();
        self.line("}");
        self.env.extend(known);
    }
}

pub(super) fn result_shape(s: &Sizes) -> Vec<u64> {
    if s.batch > 1 {
        vec![s.batch, s.m, s.n]
    } else {
        vec![s.m, s.n]
    }
}

fn usable(t: &Tile) -> bool {
    !t.elem.is_float() || (t.float().is_finite() && t.float().error.is_finite())
}

/// What holds of `acc` plus the sum of `k` products; `None` where no bound is known.
pub(super) fn product_fact(a: &Tile, b: &Tile, acc: &Tile, k: u64) -> Option<Fact> {
    if !acc.elem.is_float() {
        return Some(crate::types::anything(acc.elem));
    }
    let (x, y, z) = (a.float(), b.float(), acc.float());
    if !(x.is_finite() && y.is_finite() && z.is_finite()) {
        return None;
    }
    let k = k as f64;
    let size = k * x.max() * y.max() + z.max();
    if size > acc.elem.extent().0 / 4.0 {
        return None;
    }
    let quantum = x
        .quantum
        .zip(y.quantum)
        .map(|(a, b)| a + b)
        .zip(z.quantum)
        .map(|(a, b)| a.min(b));
    // Factors in f32 may be cut to tf32.
    let whole = |t: &Tile, x: Float| {
        t.elem != Elem::F32 || x.quantum.is_some_and(|q| x.max() <= 2f64.powi(11 + q))
    };
    let exact = x.is_exact()
        && y.is_exact()
        && z.is_exact()
        && whole(a, x)
        && whole(b, y)
        && quantum.is_some_and(|q| size <= 2f64.powi(acc.elem.precision() + q));
    let error = if exact {
        0.0
    } else {
        let cut = if a.elem == Elem::F32 {
            2f64.powi(-9)
        } else {
            0.0
        };
        k * (x.max() * y.error + y.max() * x.error + x.error * y.error)
            + z.error
            + size * (cut + 4.0 * acc.elem.epsilon() * (k + 4.0))
    };
    Some(Fact::Float(Float {
        quantum: if exact { quantum } else { None },
        error,
        ..Float::range(-size - error, size + error)
    }))
}
