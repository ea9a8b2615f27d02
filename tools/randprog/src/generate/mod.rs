//! Makes a program of decisions: statements over values of a few shapes, nested in control flow, whose results
//! are stored at the end.
//!
//! What a program may do is what Tile IR defines: no access outside a buffer, no two blocks at one element, no
//! division by zero, no conversion out of range. Of each value its range and its possible error are known
//! ([`crate::types::Fact`]): where an operation may be computed in another order, or approximately, the result
//! carries a bound, and goes only where a bound can be carried on.

mod access;
mod arith;
mod atomics;
mod chained;
mod control;
mod convert;
mod float;
mod fold;
mod operand;
mod ordered;
mod product;
mod quantized;
mod recurrence;
mod rows;
mod scaled;
mod several;
mod shape;
mod skipping;
mod sums;
mod tiles;
mod walked;

use crate::choices::Choices;
use crate::program::{Fill, Param, Program};
use crate::types::{Elem, Fact, Tile, tile_type};

/// A kind of statement.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Float,
    Int,
    Unary,
    Compare,
    Convert,
    Shape,
    Approximate,
    Fold,
    Scan,
    ArgMax,
    Product,
    ProductLoop,
    Rows,
    View,
    Gather,
    Strided,
    Pointers,
    For,
    If,
    Loop,
    Atomic,
    Through,
    Store,
}

/// Weights of statements, each like a family of kernels: elementwise and indexing; rows (softmax, norms);
/// products (GEMM, attention); anything.
const FLAVOURS: &[&[(Kind, usize)]] = {
    use Kind as K;
    &[
        &[
            (K::Float, 20),
            (K::Int, 14),
            (K::Unary, 6),
            (K::Compare, 8),
            (K::Convert, 10),
            (K::Shape, 8),
            (K::View, 6),
            (K::Pointers, 8),
            (K::Gather, 4),
            (K::Strided, 3),
            (K::If, 3),
            (K::For, 3),
            (K::Store, 3),
            (K::Through, 3),
            (K::Atomic, 2),
        ],
        &[
            (K::Float, 14),
            (K::Rows, 10),
            (K::Fold, 14),
            (K::Scan, 5),
            (K::ArgMax, 3),
            (K::Approximate, 6),
            (K::Shape, 8),
            (K::Convert, 6),
            (K::View, 8),
            (K::For, 5),
            (K::Compare, 4),
            (K::Int, 4),
            (K::Store, 3),
            (K::Through, 2),
        ],
        &[
            (K::ProductLoop, 14),
            (K::Product, 14),
            (K::Float, 10),
            (K::Convert, 6),
            (K::Rows, 4),
            (K::Shape, 5),
            (K::Fold, 4),
            (K::View, 4),
            (K::Approximate, 3),
            (K::Compare, 3),
            (K::If, 2),
            (K::For, 3),
            (K::Store, 3),
            (K::Int, 2),
        ],
        &[
            (K::Float, 8),
            (K::Int, 8),
            (K::Unary, 5),
            (K::Compare, 6),
            (K::Convert, 7),
            (K::Shape, 9),
            (K::Approximate, 3),
            (K::Fold, 6),
            (K::Scan, 5),
            (K::ArgMax, 3),
            (K::Product, 5),
            (K::ProductLoop, 3),
            (K::Rows, 3),
            (K::View, 6),
            (K::Gather, 5),
            (K::Strided, 5),
            (K::Pointers, 6),
            (K::For, 6),
            (K::If, 6),
            (K::Loop, 4),
            (K::Atomic, 5),
            (K::Through, 6),
            (K::Store, 4),
        ],
    ]
};

/// A loop around what is generated.
#[derive(Clone)]
struct Around {
    /// its counter, an i32
    counter: String,
    /// the values that the counter takes, all below
    below: u64,
}

pub struct Gen {
    c: Choices,
    body: String,
    depth: usize,
    next: usize,
    env: Vec<Tile>,
    params: Vec<Param>,
    names: Vec<String>,
    grid: [u32; 3],
    /// Loops around the current place; `None` where one has no counter that stores may use.
    around: Vec<Option<Around>>,
    /// Conditions around the current place.
    conditional: usize,
    /// The token behind which views are read.
    after: Option<String>,
    /// Statements that may still be made.
    budget: usize,
    /// Elements that tiles may have.
    largest: u64,
    /// Shapes that this program likes.
    shapes: Vec<Vec<u64>>,
    flavour: &'static [(Kind, usize)],
    stored: usize,
}

/// The program that the decisions make; `choices` then holds what was decided.
pub fn program(choices: &mut Choices) -> Program {
    let c = std::mem::replace(choices, Choices::replay(Vec::new()));
    let mut g = Gen {
        c,
        body: String::new(),
        depth: 1,
        next: 0,
        env: Vec::new(),
        params: Vec::new(),
        names: Vec::new(),
        grid: [1; 3],
        around: Vec::new(),
        conditional: 0,
        after: None,
        budget: 0,
        largest: 0,
        shapes: Vec::new(),
        flavour: FLAVOURS[0],
        stored: 0,
    };
    let program = g.main();
    *choices = g.c;
    program
}

impl Gen {
    fn main(&mut self) -> Program {
        self.flavour = self.c.weighted(&[
            (FLAVOURS[0], 3),
            (FLAVOURS[1], 3),
            (FLAVOURS[2], 3),
            (FLAVOURS[3], 4),
        ]);
        self.budget = 1 + self.c.below(9) + self.c.below(9);
        self.largest = 1 << (8 + self.c.below(6));
        // Blocks with large tiles take most of the time that programs take: a few of them are enough.
        let most = if self.largest > 1 << 11 { 2 } else { 3 };
        self.grid = [
            1 + self.c.below(most) as u32,
            self.c.weighted(&[(1, 5), (2, 2), (3, 1)]).min(most as u32),
            self.c.weighted(&[(1, 8), (2, 1)]),
        ];
        self.make_shapes();
        self.line("%bx, %by, %bz = get_tile_block_id : tile<i32>");
        for (name, extent) in ["%bx", "%by", "%bz"].iter().zip(self.grid) {
            self.env.push(Tile::index(*name, extent.into()));
        }
        self.statements();
        self.final_stores();
        let hints = self.hints();
        let params: Vec<String> = self.names.clone();
        let mut text = format!("entry @main({}){hints} {{\n", params.join(", "));
        text.push_str(&self.body);
        text.push_str("  return\n}\n");
        Program {
            text,
            grid: self.grid,
            params: std::mem::take(&mut self.params),
        }
    }

    /// Hints that entries in use have.
    fn hints(&mut self) -> &'static str {
        self.c.weighted(&[
            ("", 12),
            (" optimization_hints=<default = {occupancy = 2}>", 1),
            (" optimization_hints=<default = {occupancy = 1}, sm_90 = {num_cta_in_cga = 2, occupancy = 1}>", 1),
            (" optimization_hints=<sm_100 = {num_cta_in_cga = 2}, sm_120 = {occupancy = 4}>", 1),
        ])
    }

    /// A few shapes of several ranks: small extents mostly, one or a wide row now and then.
    fn make_shapes(&mut self) {
        for _ in 0..1 + self.c.below(3) {
            let rank = self.c.weighted(&[(2, 10), (1, 6), (3, 3), (4, 1)]);
            let mut room = self.largest.ilog2() as usize;
            let mut shape = Vec::new();
            for d in 0..rank {
                let most = room.min(if d + 1 == rank { 10 } else { 7 });
                let n = 1u64 << self.c.below(most + 1);
                room -= n.ilog2() as usize;
                shape.push(n);
            }
            self.shapes.push(shape);
        }
    }

    /// One of the program's shapes.
    fn shape(&mut self) -> Vec<u64> {
        let at = self.c.below(self.shapes.len());
        self.shapes[at].clone()
    }

    fn statements(&mut self) {
        while self.budget > 0 {
            self.budget -= 1;
            self.statement();
            // In regions: stop early.
            if self.depth > 1 && self.c.chance(40) {
                break;
            }
        }
    }

    fn statement(&mut self) {
        match self.c.weighted(self.flavour) {
            Kind::Float => self.float_binary(),
            Kind::Int => self.int_binary(),
            Kind::Unary => self.unary(),
            Kind::Compare => self.compare(),
            Kind::Convert => self.convert(),
            Kind::Shape => self.reform(),
            Kind::Approximate => self.approximate(),
            Kind::Fold => self.fold(false),
            Kind::Scan => self.fold(true),
            Kind::ArgMax => self.arg_max(),
            Kind::Product => self.product(),
            Kind::ProductLoop => self.product_loop(),
            Kind::Rows => self.rows(),
            Kind::View => self.load_any(),
            Kind::Gather => self.gather(),
            Kind::Strided => self.strided(),
            Kind::Pointers => self.load_pointers_any(),
            Kind::For => self.for_loop(),
            Kind::If => self.branch(),
            Kind::Loop => self.while_loop(),
            Kind::Atomic => self.atomic(),
            Kind::Through => self.through_memory(),
            Kind::Store => self.store_some(),
        }
    }

    /// At least one store, of what was made last.
    fn final_stores(&mut self) {
        let mut last: Vec<Tile> = self.env.iter().skip(3).rev().take(6).cloned().collect();
        if last.is_empty() {
            let shape = self.shape();
            let elem = self.any_elem();
            last.push(self.operand(elem, &shape));
        }
        let most = if self.stored == 0 { 1 } else { 0 } + self.c.below(last.len());
        for tile in last.iter().take(most.max(1)) {
            self.store(tile);
        }
    }

    /// A name that no value has.
    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next)
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.body.push_str("  ");
        }
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// An operation with one tile as result: `%n = TEXT : TYPES`, `TYPES` the result's type where none are given.
    fn op(
        &mut self,
        text: &str,
        types: Option<&str>,
        elem: Elem,
        shape: &[u64],
        fact: Fact,
    ) -> Tile {
        let name = self.fresh();
        let own = tile_type(elem, shape);
        let types = types.unwrap_or(&own);
        self.line(&format!("{name} = {text} : {types}"));
        Tile {
            name,
            elem,
            shape: shape.to_vec(),
            fact,
        }
    }

    /// As [`Gen::op`], and later statements may use it.
    fn value(
        &mut self,
        text: &str,
        types: Option<&str>,
        elem: Elem,
        shape: &[u64],
        fact: Fact,
    ) -> Tile {
        let tile = self.op(text, types, elem, shape, fact);
        self.env.push(tile.clone());
        tile
    }

    fn buffer(&mut self, elem: Elem, count: usize, fill: Fill, within: f64) -> String {
        let name = format!("%a{}", self.params.len());
        let seed = self.c.below(1000) as u64;
        self.params.push(Param::Buffer {
            elem,
            count,
            fill,
            seed,
            within,
        });
        self.names
            .push(format!("{name}: tile<ptr<{}>>", elem.name()));
        name
    }

    fn scalar_param(&mut self, value: i64) -> String {
        let name = format!("%a{}", self.params.len());
        self.params.push(Param::Scalar {
            elem: Elem::I32,
            bits: value as u32 as u64,
        });
        self.names.push(format!("{name}: tile<i32>"));
        name
    }

    /// An element type, as often as kernels use it.
    fn any_elem(&mut self) -> Elem {
        self.c.weighted(&[
            (Elem::F32, 10),
            (Elem::I32, 8),
            (Elem::F16, 7),
            (Elem::BF16, 5),
            (Elem::I(8), 3),
            (Elem::I(64), 3),
            (Elem::I(16), 2),
            (Elem::F64, 2),
            (Elem::I1, 1),
        ])
    }

    fn float_elem(&mut self) -> Elem {
        self.c.weighted(&[
            (Elem::F32, 10),
            (Elem::F16, 7),
            (Elem::BF16, 5),
            (Elem::F64, 2),
        ])
    }

    fn int_elem(&mut self) -> Elem {
        self.c.weighted(&[
            (Elem::I32, 10),
            (Elem::I(64), 4),
            (Elem::I(8), 3),
            (Elem::I(16), 3),
            (Elem::I1, 1),
        ])
    }
}
