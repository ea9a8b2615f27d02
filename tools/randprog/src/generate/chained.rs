//! Loops whose iterations hand tiles on through memory, as tokens order them: what runs ahead of such a loop's writes reads
//! what is not there yet.

use super::Gen;
use super::atomics::Update;
use super::product::product_fact;
use crate::program::Fill;
use crate::types::{Elem, Fact, Float, Tile, extents, tile_type};

/// Element types of what is stored.
const KINDS: &[(Elem, usize)] = &[
    (Elem::F16, 4),
    (Elem::BF16, 2),
    (Elem::F32, 2),
    (Elem::TF32, 1),
];

/// Where the tiles lie that the iterations hand on: one below the other, those of each block by themselves.
struct Chain {
    elem: Elem,
    shape: [u64; 2],
    view: String,
    ty: String,
    /// Which block it is, of how many.
    block: (Tile, u64),
    /// The number of the block's first tile.
    first: Tile,
    /// So many iterations behind the one that stores a tile, it is loaded.
    distance: u64,
    trips: u64,
}

impl Gen {
    /// `x[k + d] = narrow(x[k] · b[k])`, and perhaps `y += x[k + d]`, which is atomic.
    pub(super) fn chained_loop(&mut self) {
        let Some(chain) = self.chain() else {
            return self.product();
        };
        let sums = self.c.chance(40).then(|| {
            let count = chain.shape[0] * chain.shape[1] * chain.block.1;
            let base = self.buffer(Elem::F32, count as usize, Fill::Zero, 0.0);
            let offsets = self.linear(&chain.shape, Some(&chain.block.0));
            self.pointers(&base, Elem::F32, &offsets)
        });
        let tokens: Vec<String> = (0..chain.distance).map(|_| self.fresh()).collect();
        let start = self.fresh();
        self.line(&format!("{start} = make_token : token"));
        let low = self.int_constant(Elem::I32, &[], 0);
        let high = self.count(chain.trips);
        let by = self.int_constant(Elem::I32, &[], 1);
        let (result, counter) = (self.fresh(), self.fresh());
        let (head, values, types) = carried(&result, &tokens, &start);
        let head = format!(
            "{head} = for {counter} in ({} to {high}, step {}) : tile<i32> iter_values({values}) -> ({types})",
            low.name, by.name
        );
        let here = self.open_loop(&head, &counter, chain.trips);
        let (next, mut last) = self.link(&chain, &counter, &tokens[0]);
        if let (Some(pointers), true) = (&sums, next.elem == Elem::F32) {
            let how = Update {
                scope: self.c.pick(&["relaxed device", "acq_rel device"]),
                mode: "addf",
                mask: None,
                after: Some(&last),
            };
            last = self.atomic_rmw(pointers, &next, &how).1;
        }
        let ends: Vec<&str> = (tokens.iter().skip(1).chain([&last]))
            .map(String::as_str)
            .collect();
        self.line(&format!("continue {} : {types}", ends.join(", ")));
        self.close_loop(here);
    }

    /// Tiles of numbers that stay exact, whatever is multiplied.
    fn chain(&mut self) -> Option<Chain> {
        let elem = self.c.weighted(KINDS);
        let block = self.exclusive()?;
        let sides = [(16, 4), (32, 4), (64, 5), (128, 1), (8, 1)];
        let shape = [self.c.weighted(&sides), self.c.weighted(&sides)];
        let distance = self.c.weighted(&[(1, 3), (2, 2)]);
        let trips = 1 + self.c.below(5) as u64;
        let tiles = trips + distance;
        let rows = block.1 * tiles * shape[0];
        let base = self.buffer(elem, (rows * shape[1]) as usize, Fill::Whole(-1, 1), 0.0);
        let base = self.perhaps_aligned(base, elem);
        let tensor = format!(
            "tensor_view<{rows}x{}x{}, strides=[{},1]>",
            shape[1],
            elem.name(),
            shape[1]
        );
        let (whole, view) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{whole} = make_tensor_view {base}, shape = [{rows}, {}], strides = [{}, 1] : {tensor}",
            shape[1], shape[1]
        ));
        let tile = extents(&shape);
        let ty = format!(
            "partition_view<tile=({}), {tensor}>",
            tile.trim_end_matches('x')
        );
        self.line(&format!("{view} = make_partition_view {whole} : {ty}"));
        let by = self.int_constant(Elem::I32, &[], tiles as i64);
        let first = self.int_op("muli", &block.0, &by);
        Some(Chain {
            elem,
            shape,
            view,
            ty,
            block,
            first,
            distance,
            trips,
        })
    }

    /// An iteration: what it stores, in f32 if it was made so, and the token of the store.
    fn link(&mut self, chain: &Chain, counter: &str, token: &str) -> (Tile, String) {
        let number = Tile::index(counter, chain.trips + 1);
        let zero = self.int_constant(Elem::I32, &[], 0);
        let from = self.int_op("addi", &chain.first, &number);
        let ahead = self.int_constant(Elem::I32, &[], chain.distance as i64);
        let to = self.int_op("addi", &from, &ahead);
        let own = tile_type(chain.elem, &chain.shape);
        let (x, read) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{x}, {read} = load_view_tko weak {}[{}, {}] token = {token} : {}, tile<i32> -> {own}, token",
            chain.view, from.name, zero.name, chain.ty
        ));
        let small = Float {
            quantum: Some(0),
            ..Float::range(-2.0, 2.0)
        };
        let x = Tile {
            name: x,
            elem: chain.elem,
            shape: chain.shape.to_vec(),
            fact: Fact::Float(small),
        };
        let side = chain.shape[1];
        let index = [(counter, chain.trips), ("%bx", u64::from(self.grid[0]))];
        let b = self.load_at(chain.elem, &[side, side], Fill::Whole(-1, 1), &index);
        let b = match b.float().is_finite() {
            true => b,
            false => self.clamp(&b, (-1.0, 1.0)),
        };
        if self.c.chance(15) {
            self.statement();
        }
        let start = self.zero(Elem::F32, &chain.shape);
        let made = product_fact(&x, &b, &start, side).and_then(|fact| {
            let sum = self.multiply(&x, &b, &start, Some(fact));
            let next = self.clamp(&sum, (-2.0, 2.0));
            Some((self.convert_to(&next, chain.elem)?, next))
        });
        // Where nothing is known of the sum, the tile is handed on as it is.
        let (narrow, next) = made.unwrap_or_else(|| (x.clone(), x));
        let last = self.hand_on(chain, &narrow, (&to, &zero), (token, &read));
        (next, last)
    }

    /// Stores a tile for a later iteration. The store's token.
    fn hand_on(
        &mut self,
        chain: &Chain,
        tile: &Tile,
        (to, zero): (&Tile, &Tile),
        (token, read): (&str, &str),
    ) -> String {
        let after = if self.c.chance(50) {
            read.to_owned()
        } else {
            let both = self.fresh();
            self.line(&format!("{both} = join_tokens {token}, {read} : token"));
            both
        };
        let last = self.fresh();
        self.line(&format!(
            "{last} = store_view_tko weak {}, {}[{}, {}] token = {after} : {}, {}, tile<i32> -> token",
            tile.name,
            chain.view,
            to.name,
            zero.name,
            tile.ty(),
            chain.ty
        ));
        last
    }
}

/// How a loop says that it carries these tokens: its results, what they begin as, and their types.
fn carried(result: &str, tokens: &[String], start: &str) -> (String, String, String) {
    let head = match tokens.len() {
        1 => result.to_owned(),
        n => format!("{result}:{n}"),
    };
    let values: Vec<String> = tokens.iter().map(|t| format!("{t} = {start}")).collect();
    (
        head,
        values.join(", "),
        vec!["token"; tokens.len()].join(", "),
    )
}
