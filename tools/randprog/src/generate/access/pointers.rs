//! Accesses through tiles of pointers.

use super::super::Gen;
use crate::generate::arith;
use crate::program::Fill;
use crate::types::{Elem, Tile, anything, extents, tile_type};

impl Gen {
    /// The number of each element of a tile in row-major order, plus a scalar.
    pub(in crate::generate) fn linear(&mut self, shape: &[u64], first: Option<&Tile>) -> Tile {
        let count: u64 = shape.iter().product();
        let flat = self.iota(Elem::I32, count);
        let mut tile = self.reshape(&flat, shape);
        if self.c.chance(15) && count > 1 {
            // In another order.
            let by = self.c.below(count as usize) as i64;
            let by = self.int_constant(Elem::I32, shape, by);
            let text = format!("xori {}, {}", tile.name, by.name);
            tile = self.op(&text, None, Elem::I32, shape, tile.fact);
        }
        if let Some(first) = first {
            let size = self.int_constant(Elem::I32, &[], count as i64);
            let first = self.int_op("muli", first, &size);
            let first = self.splat(&first, shape);
            tile = self.int_op("addi", &tile, &first);
        }
        tile
    }

    pub(in crate::generate) fn splat(&mut self, scalar: &Tile, shape: &[u64]) -> Tile {
        let one = self.reshape(scalar, &vec![1; shape.len()]);
        self.broadcast(&one, shape)
    }

    /// Pointers to elements of a buffer.
    pub(in crate::generate) fn pointers(
        &mut self,
        base: &str,
        elem: Elem,
        offsets: &Tile,
    ) -> (String, String) {
        let shape = &offsets.shape;
        let e = elem.name();
        let ty = format!("tile<{}ptr<{e}>>", extents(shape));
        let mut from = base.to_owned();
        if !shape.is_empty() {
            let ones = format!("tile<{}ptr<{e}>>", extents(&vec![1; shape.len()]));
            let (one, all) = (self.fresh(), self.fresh());
            self.line(&format!(
                "{one} = reshape {from} : tile<ptr<{e}>> -> {ones}"
            ));
            if ones == ty {
                from = one;
            } else {
                self.line(&format!("{all} = broadcast {one} : {ones} -> {ty}"));
                from = all;
            }
        }
        let name = self.fresh();
        self.line(&format!(
            "{name} = offset {from}, {} : {ty}, {} -> {ty}",
            offsets.name,
            offsets.ty()
        ));
        (name, ty)
    }

    pub(in crate::generate) fn store_pointers(
        &mut self,
        tile: &Tile,
        (number, total): (Tile, u64),
        fill: Fill,
        error: f64,
    ) {
        let count: u64 = tile.shape.iter().product();
        let offsets = self.linear(&tile.shape, Some(&number));
        // Half the time the buffer ends early, and a mask knows.
        let mut size = (total * count) as usize;
        let mask = match self.c.below(4) {
            2 if size > 1 => {
                size -= 1 + self.c.below((count as usize).min(size - 1));
                Some(self.below_mask(&offsets, size))
            }
            3 => Some(self.condition(&tile.shape)),
            _ => None,
        };
        let base = self.buffer(tile.elem, size, fill, error);
        let (pointers, ty) = self.pointers(&base, tile.elem, &offsets);
        let token = self.fresh();
        let (mask, mask_type) = match mask {
            Some(m) => (format!(", {}", m.name), format!(", {}", m.ty())),
            None => (String::new(), String::new()),
        };
        self.line(&format!(
            "{token} = store_ptr_tko weak {pointers}, {}{mask} : {ty}, {}{mask_type} -> token",
            tile.name,
            tile.ty()
        ));
    }

    /// Which offsets are below a number.
    fn below_mask(&mut self, offsets: &Tile, size: usize) -> Tile {
        let end = if self.c.chance(60) {
            let name = self.scalar_param(size as i64);
            let end = Tile {
                name,
                elem: Elem::I32,
                shape: Vec::new(),
                fact: anything(Elem::I32),
            };
            self.splat(&end, &offsets.shape)
        } else {
            self.int_constant(Elem::I32, &offsets.shape, size as i64)
        };
        let types = format!(
            "{} -> {}",
            offsets.ty(),
            tile_type(Elem::I1, &offsets.shape)
        );
        let text = format!("cmpi less_than {}, {}, signed", offsets.name, end.name);
        self.op(
            &text,
            Some(&types),
            Elem::I1,
            &offsets.shape,
            anything(Elem::I1),
        )
    }

    pub(in crate::generate) fn load_pointers_any(&mut self) {
        let shape = self.shape();
        let elem = self.any_elem();
        self.load_pointers(elem, &shape);
    }

    /// Elements of a new buffer: one after the other, or anywhere.
    pub(in crate::generate) fn load_pointers(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        let fill = self.fill(elem);
        let count: u64 = shape.iter().product();
        let first = self.any_index();
        let first = Tile::index(first.0, first.1);
        let (offsets, total) = if self.c.chance(25) {
            let total = 1 << self.c.below(10);
            let x = self.operand(Elem::I32, shape);
            let mask = self.int_constant(Elem::I32, shape, total - 1);
            (self.int_op("andi", &x, &mask), total as usize)
        } else {
            let below = (first.int().1 + 1) as usize;
            (self.linear(shape, Some(&first)), below * count as usize)
        };
        let mut size = total;
        let mask = match self.c.below(4) {
            2 if size > 1 => {
                size -= 1 + self.c.below((count as usize).min(size - 1));
                Some(self.below_mask(&offsets, size))
            }
            3 => Some(self.condition(shape)),
            _ => None,
        };
        let base = self.buffer(elem, size, fill, 0.0);
        let (pointers, ty) = self.pointers(&base, elem, &offsets);
        let (name, token) = (self.fresh(), self.fresh());
        let own = tile_type(elem, shape);
        let mut fact = fill.fact(elem);
        match mask {
            None => self.line(&format!(
                "{name}, {token} = load_ptr_tko weak {pointers} : {ty} -> {own}, token"
            )),
            Some(mask) => {
                let other = self.constant(elem, shape);
                fact = arith::join(
                    &Tile {
                        fact,
                        ..other.clone()
                    },
                    &other,
                );
                self.line(&format!(
                    "{name}, {token} = load_ptr_tko weak {pointers}, {}, {} : {ty}, {}, {own} -> {own}, token",
                    mask.name, other.name, mask.ty()
                ));
            }
        }
        let tile = Tile {
            name,
            elem,
            shape: shape.to_vec(),
            fact,
        };
        self.env.push(tile.clone());
        tile
    }

    /// A tile through memory: stored one way, loaded another, held together by a token.
    pub(in crate::generate) fn through_memory(&mut self) {
        let shape = self.shape();
        let elem = self.any_elem();
        let tile = self.operand_where(elem, &shape, &|t| {
            t.is_exact() || t.float().error.is_finite()
        });
        let Some((number, total)) = self.exclusive() else {
            return;
        };
        let count: u64 = shape.iter().product();
        let error = if elem.is_float() {
            tile.float().error
        } else {
            0.0
        };
        let fill = if elem == Elem::I1 {
            Fill::Zero
        } else {
            Fill::Whole(3, 3)
        };
        let base = self.buffer(elem, (total * count) as usize, fill, error);
        // Both ways name the same elements, in any order.
        let there = self.linear(&shape, Some(&number));
        let back = self.linear(&shape, Some(&number));
        let (to, ty) = self.pointers(&base, elem, &there);
        let (from, _) = self.pointers(&base, elem, &back);
        let own = tile.ty();
        let mut after = String::new();
        if self.c.chance(30) {
            // What was there before is read first.
            let (name, token) = (self.fresh(), self.fresh());
            self.line(&format!(
                "{name}, {token} = load_ptr_tko weak {from} : {ty} -> {own}, token"
            ));
            self.env.push(Tile {
                name,
                fact: fill.fact(elem),
                ..tile.clone()
            });
            after = format!(" token={token}");
        }
        let token = self.fresh();
        self.line(&format!(
            "{token} = store_ptr_tko weak {to}, {}{after} : {ty}, {own} -> token",
            tile.name
        ));
        let (name, last) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{name}, {last} = load_ptr_tko weak {from} token={token} : {ty} -> {own}, token"
        ));
        self.env.push(Tile { name, ..tile });
    }
}
