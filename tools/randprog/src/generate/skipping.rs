//! Loops that leave out matmuls: those of blocks that a mask or a table says are empty.

use super::Gen;
use super::product::{Sizes, product_fact, result_shape};
use crate::types::{Elem, Tile, anything, tile_type};

impl Gen {
    /// `acc = c ? acc + a · b : acc`, what is multiplied loaded in the branch or in front of it.
    pub(super) fn skipping_loop(&mut self, (input, output): (Elem, Elem), s: &Sizes, trips: u64) {
        let start = self.zero(output, &result_shape(s));
        let sums = self.begin_sums(std::slice::from_ref(&start), trips);
        let condition = self.is_needed(&sums.counter, trips);
        let inner = sums.inner[0].clone();
        let early = self.c.below(3);
        let mut operands: Vec<Tile> = (0..early)
            .map(|side| self.side(side, input, s, (&sums.counter, trips)))
            .collect();
        let here = self.env.len();
        let name = self.fresh();
        self.line(&format!("{name} = if {condition} -> ({}) {{", start.ty()));
        self.depth += 1;
        self.conditional += 1;
        for side in early..2 {
            operands.push(self.side(side, input, s, (&sums.counter, trips)));
        }
        let total = product_fact(&operands[0], &operands[1], &start, s.k * trips);
        let sum = self.multiply(&operands[0], &operands[1], &inner, total);
        if self.c.chance(15) {
            self.statement();
        }
        self.terminator("yield", &[sum]);
        self.depth -= 1;
        self.env.truncate(here);
        self.line("} else {");
        self.depth += 1;
        self.terminator("yield", &[inner]);
        self.depth -= 1;
        self.conditional -= 1;
        self.line("}");
        let next = Tile { name, ..start };
        let known = self.end_sums(sums, &[next], &[total]);
        self.env.extend(known);
    }

    /// The left (0) or the right (1) operand of a loop.
    fn side(&mut self, side: usize, elem: Elem, s: &Sizes, along: (&str, u64)) -> Tile {
        let [row, column] = self.blocks();
        match side {
            0 => self.factor(elem, (s.batch, s.m, s.k), Some([row, along])),
            _ => self.factor(elem, (s.batch, s.k, s.n), Some([along, column])),
        }
    }

    /// Whether an iteration's matmul is done: by its number, or a table of blocks.
    fn is_needed(&mut self, counter: &str, trips: u64) -> String {
        let scalar = tile_type(Elem::I32, &[]);
        let i1 = tile_type(Elem::I1, &[]);
        let (text, a, b) = if self.c.chance(50) {
            let a = self.loaded_number(2);
            let sum = self.int_op("addi", &a, &Tile::index(counter, trips));
            let one = self.int_constant(Elem::I32, &[], 1);
            let odd = self.int_op("andi", &sum, &one);
            ("cmpi equal", odd.name, one.name)
        } else {
            let most = self.c.below(trips as usize + 1) as i64;
            let most = self.int_constant(Elem::I32, &[], most);
            ("cmpi less_than", counter.to_owned(), most.name)
        };
        let text = format!("{text} {a}, {b}, signed");
        let types = format!("{scalar} -> {i1}");
        self.op(&text, Some(&types), Elem::I1, &[], anything(Elem::I1))
            .name
    }
}
