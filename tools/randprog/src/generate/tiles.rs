//! Blocks that make one tile of a result after the other, as kernels do whose grid has as many blocks as the GPU runs at once.

use super::Gen;
use super::product::Sizes;
use crate::types::{Elem, Tile, anything};

impl Gen {
    /// For each of a block's tiles, a loop over matmuls and a store.
    pub(super) fn tiles_loop(&mut self, kinds: (Elem, Elem), s: &Sizes, trips: u64) {
        if self.depth > 1 {
            return self.product();
        }
        let (rows, columns) = (1 + self.c.below(2) as u64, 1 + self.c.below(3) as u64);
        let tiles = rows * columns;
        let high = self.count(tiles);
        // Each block takes all tiles, or the ones that are its turn; it stores where no other does.
        let grid = i64::from(self.grid[0]);
        let (low, step) = match self.c.chance(60) {
            true => ("%bx".to_owned(), grid),
            false => (self.int_constant(Elem::I32, &[], 0).name, 1),
        };
        let by = self.int_constant(Elem::I32, &[], step);
        let counter = Tile::index(self.fresh(), tiles);
        let head = format!(
            "for {} in ({low} to {high}, step {}) : tile<i32>",
            counter.name, by.name
        );
        let here = self.open_loop(&head, &counter.name, tiles);
        self.env.push(counter.clone());
        let row = self.part("divi", &counter, columns);
        let column = self.part("remi", &counter, columns);
        let place = [(row.as_str(), rows), (column.as_str(), columns)];
        if let Some(sum) = self.plain_loop(kinds, s, trips, place) {
            self.env.push(sum.clone());
            let result = match self.c.below(3) {
                1 if sum.elem.is_float() => Some(self.clamp(&sum, (-4.0, 8.0))),
                0 | 1 => Some(sum),
                _ => self.convert_to(&sum, kinds.0),
            };
            if self.c.chance(20) {
                self.statement();
            }
            if let Some(result) = result {
                self.store(&result);
            }
        }
        self.line("continue");
        self.close_loop(here);
    }

    /// The row or the column of a tile's number.
    fn part(&mut self, op: &str, number: &Tile, columns: u64) -> String {
        let by = self.int_constant(Elem::I32, &[], columns as i64);
        let text = format!("{op} {}, {} signed", number.name, by.name);
        self.op(&text, None, Elem::I32, &[], anything(Elem::I32))
            .name
    }
}
