//! Matrix products, alone and in loops over their inner dimension.

use super::Gen;
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
        if batch == 1
            && (elem.has_arithmetic() || elem == Elem::I(8))
            && self.c.chance(6)
            && let Some(tile) = self.quantized(elem, &shape, at.as_deref())
        {
            return self.perhaps_turned(tile, turned);
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
        let tile = self.load_perhaps_at(from, &shape, fill, at.as_deref());
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
        self.perhaps_turned(tile, turned)
    }

    fn perhaps_turned(&mut self, tile: Tile, turned: bool) -> Tile {
        match turned {
            true => self.permute(&tile, &[1, 0]),
            false => tile,
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
        self.multiply(&a, &b, &acc, Some(fact));
    }

    pub(super) fn zero(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        if elem.is_float() {
            self.float_constant(elem, shape, 0.0)
        } else {
            self.int_constant(elem, shape, 0)
        }
    }

    /// `acc` plus the matmul of `a` and `b`. Of which nothing is known, no later statement uses.
    pub(super) fn multiply(&mut self, a: &Tile, b: &Tile, acc: &Tile, fact: Option<Fact>) -> Tile {
        let types = format!("{}, {}, {}", a.ty(), b.ty(), acc.ty());
        let (name, sign) = if acc.elem == Elem::I32 {
            ("mmai", " signed signed")
        } else {
            ("mmaf", "")
        };
        let text = format!("{name} {}, {}, {}{sign}", a.name, b.name, acc.name);
        let (types, elem, shape) = (Some(types.as_str()), acc.elem, &acc.shape);
        match fact {
            Some(fact) => self.value(&text, types, elem, shape, fact),
            None => self.op(&text, types, elem, shape, Fact::Float(Float::UNKNOWN)),
        }
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
        match self.c.weighted(&[(0, 8), (1, 1), (2, 1), (3, 1), (4, 1)]) {
            1 => self.skipping_loop((input, output), &s, trips),
            2 => self.ordered_loop((input, output), &s, trips),
            3 => self.scaled_loop(trips),
            4 => self.tiles_loop((input, output), &s, trips),
            _ => {
                let blocks = self.blocks();
                let sum = self.plain_loop((input, output), &s, trips, blocks);
                self.env.extend(sum);
            }
        }
    }

    /// The row and the column of a block's tile, and how many there are.
    pub(super) fn blocks(&self) -> [(&'static str, u64); 2] {
        [("%bx", self.grid[0].into()), ("%by", self.grid[1].into())]
    }

    /// The sum of the products of a row and a column of tiles, if enough is known of it.
    pub(super) fn plain_loop(
        &mut self,
        (input, output): (Elem, Elem),
        s: &Sizes,
        trips: u64,
        [row, column]: [(&str, u64); 2],
    ) -> Option<Tile> {
        let start = self.zero(output, &result_shape(s));
        let sums = self.begin_sums(std::slice::from_ref(&start), trips);
        let along = (sums.counter.as_str(), trips);
        let a = self.factor(input, (s.batch, s.m, s.k), Some([row, along]));
        let b = self.factor(input, (s.batch, s.k, s.n), Some([along, column]));
        if self.c.chance(20) {
            self.statement();
        }
        // The sum over all iterations bounds that of each.
        let total = product_fact(&a, &b, &start, s.k * trips);
        let next = self.multiply(&a, &b, &sums.inner[0], total);
        if self.c.chance(10) {
            self.statement();
        }
        self.end_sums(sums, &[next], &[total]).pop()
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
