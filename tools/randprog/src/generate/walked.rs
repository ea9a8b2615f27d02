//! Loops over matrix products whose operands come through pointers that the loop carries, as Triton writes them.

use super::Gen;
use super::arith::join;
use super::product::{Sizes, product_fact, result_shape};
use crate::types::{Elem, Fact, Tile, anything, extents};

/// An operand and the pointers that walk over its matrix.
struct Walk {
    elem: Elem,
    shape: [u64; 2],
    /// The type of the pointers, the first of them, and what every iteration adds to them.
    ty: String,
    first: String,
    step: Tile,
    /// What is loaded, and what takes the place of the rest.
    mask: Option<(Tile, Tile)>,
    fact: Fact,
}

/// Where the tiles of an operand lie in its matrix: the loop goes along one dimension.
struct Path {
    rows: u64,
    columns: u64,
    /// The dimension along which the loop goes.
    along: usize,
    trips: u64,
    /// The number of the tile along the other dimension, and how many there are.
    beside: (&'static str, u64),
}

impl Gen {
    /// A loop that adds up products.
    pub(super) fn walked_loop(&mut self, (input, output): (Elem, Elem), s: &Sizes, trips: u64) {
        let start = self.zero(output, &result_shape(s));
        let [row, column] = self.blocks();
        let left = Path {
            rows: s.m,
            columns: s.k,
            along: 1,
            trips,
            beside: row,
        };
        let right = Path {
            rows: s.k,
            columns: s.n,
            along: 0,
            trips,
            beside: column,
        };
        let walks = [self.walk(input, &left), self.walk(input, &right)];
        let stride = self.c.pick(&[1, 1, 1, 2, 8]);
        let low = self.int_constant(Elem::I32, &[], 0);
        let high = self.count(trips * stride);
        let by = self.int_constant(Elem::I32, &[], stride as i64);
        let counter = self.fresh();
        let inner = Tile {
            name: self.fresh(),
            ..start.clone()
        };
        let (name, ends) = (self.fresh(), [self.fresh(), self.fresh()]);
        let at = [self.fresh(), self.fresh()];
        let head = format!(
            "{name}, {}, {} = for {counter} in ({} to {high}, step {}) : tile<i32> iter_values({} = {}, {} = {}, {} = {}) -> ({}, {}, {})",
            ends[0],
            ends[1],
            low.name,
            by.name,
            inner.name,
            start.name,
            at[0],
            walks[0].first,
            at[1],
            walks[1].first,
            start.ty(),
            walks[0].ty,
            walks[1].ty
        );
        let here = self.open_loop(&head, &counter, trips * stride);
        let a = self.load_walked(&walks[0], &at[0]);
        let b = self.load_walked(&walks[1], &at[1]);
        if self.c.chance(20) {
            self.statement();
        }
        let total = product_fact(&a, &b, &start, s.k * trips);
        let next = self.multiply(&a, &b, &inner, total);
        let moved = [
            self.move_on(&walks[0], &at[0]),
            self.move_on(&walks[1], &at[1]),
        ];
        self.line(&format!(
            "continue {}, {}, {} : {}, {}, {}",
            next.name,
            moved[0],
            moved[1],
            next.ty(),
            walks[0].ty,
            walks[1].ty
        ));
        self.close_loop(here);
        self.env.extend(total.map(|fact| Tile {
            name,
            fact,
            ..start
        }));
    }

    fn walk(&mut self, elem: Elem, path: &Path) -> Walk {
        let shape = [path.rows, path.columns];
        let mut whole = shape;
        whole[path.along] *= path.trips;
        whole[1 - path.along] *= path.beside.1;
        // Which dimension is contiguous, and space behind what lies along it.
        let near = usize::from(!self.c.chance(30));
        let far = whole[near] + self.c.pick(&[0, 0, 0, 3, 16]);
        let far = if self.c.chance(50) {
            far.next_multiple_of(16)
        } else {
            far
        };
        let fill = self.factor_fill(elem);
        let count = (whole[1 - near] - 1) * far + whole[near];
        let base = self.buffer(elem, count as usize, fill, 0.0);
        let base = self.perhaps_aligned(base, elem);
        let far = self.distance(far);
        let (offsets, beside) = self.places(path, near, &far);
        let (first, ty) = self.pointers(&base, elem, &offsets);
        let step = self.int_constant(Elem::I32, &[], shape[path.along] as i64);
        let step = if near == path.along {
            step
        } else {
            self.int_op("muli", &step, &far)
        };
        let step = self.splat(&step, &shape);
        let mut fact = fill.fact(elem);
        let mask = self.c.chance(30).then(|| {
            let most = (path.beside.1 * shape[1 - path.along]) as usize;
            let end = 1 + self.c.below(most) as i64;
            let mask = self.below(&beside, end);
            let mask = self.broadcast(&mask, &shape);
            let other = self.zero(elem, &shape);
            fact = join(
                &Tile {
                    fact,
                    ..other.clone()
                },
                &other,
            );
            (mask, other)
        });
        Walk {
            elem,
            shape,
            ty,
            first,
            step,
            mask,
            fact,
        }
    }

    /// How far rows (or columns) are from each other: a number, or a parameter.
    fn distance(&mut self, far: u64) -> Tile {
        if self.c.chance(40) {
            return self.int_constant(Elem::I32, &[], far as i64);
        }
        let name = self.scalar_param(far as i64);
        let name = self.perhaps_divisible(name, far);
        let fact = Fact::Int {
            lo: far.into(),
            hi: far.into(),
        };
        Tile {
            name,
            elem: Elem::I32,
            shape: Vec::new(),
            fact,
        }
    }

    /// Offsets of the first tile's elements, and their numbers along the dimension that stands still.
    fn places(&mut self, path: &Path, near: usize, far: &Tile) -> (Tile, Tile) {
        let shape = [path.rows, path.columns];
        let mut parts = Vec::new();
        let mut still = None;
        for dim in 0..2 {
            let mut thin = [1, 1];
            thin[dim] = shape[dim];
            let numbers = self.iota(Elem::I32, shape[dim]);
            let mut numbers = self.reshape(&numbers, &thin);
            if dim != path.along {
                let block = Tile::index(path.beside.0, path.beside.1);
                let size = self.int_constant(Elem::I32, &[], shape[dim] as i64);
                let first = self.int_op("muli", &block, &size);
                let first = self.splat(&first, &thin);
                numbers = self.int_op("addi", &numbers, &first);
                still = Some(numbers.clone());
            }
            if dim != near {
                let far = self.splat(far, &thin);
                numbers = self.int_op("muli", &numbers, &far);
            }
            parts.push(self.broadcast(&numbers, &shape));
        }
        let offsets = self.int_op("addi", &parts[0], &parts[1]);
        let still = still.unwrap_or_else(|| parts[0].clone());
        (offsets, still)
    }

    /// Which numbers are below `end`.
    fn below(&mut self, numbers: &Tile, end: i64) -> Tile {
        let end = self.int_constant(Elem::I32, &[], end);
        let end = self.splat(&end, &numbers.shape);
        let ty = crate::types::tile_type(Elem::I1, &numbers.shape);
        let types = format!("{} -> {ty}", numbers.ty());
        let text = format!("cmpi less_than {}, {}, signed", numbers.name, end.name);
        self.op(
            &text,
            Some(&types),
            Elem::I1,
            &numbers.shape,
            anything(Elem::I1),
        )
    }

    fn load_walked(&mut self, walk: &Walk, at: &str) -> Tile {
        let own = crate::types::tile_type(walk.elem, &walk.shape);
        let (name, token) = (self.fresh(), self.fresh());
        let masked = walk.mask.as_ref().map(|(m, o)| {
            (
                format!(", {}, {}", m.name, o.name),
                format!(", {}, {}", m.ty(), o.ty()),
            )
        });
        let (values, types) = masked.unwrap_or_default();
        self.line(&format!(
            "{name}, {token} = load_ptr_tko weak {at}{values} : {}{types} -> {own}, token",
            walk.ty
        ));
        let tile = Tile {
            name,
            elem: walk.elem,
            shape: walk.shape.to_vec(),
            fact: walk.fact,
        };
        self.env.push(tile.clone());
        tile
    }

    fn move_on(&mut self, walk: &Walk, at: &str) -> String {
        let name = self.fresh();
        let by = format!("tile<{}i32>", extents(&walk.shape));
        self.line(&format!(
            "{name} = offset {at}, {} : {}, {by} -> {}",
            walk.step.name, walk.ty, walk.ty
        ));
        name
    }
}
