//! Operations that move elements.

use super::Gen;
use super::arith::join;
use crate::types::{Tile, tile_type};

impl Gen {
    pub(super) fn reform(&mut self) {
        let shape = self.shape();
        let elem = self.any_elem();
        let a = self.operand_where(elem, &shape, &|_| true);
        match self.c.below(7) {
            0 => {
                self.permute_any(&a);
            }
            1 => {
                let to = self.other_shape(&a.shape);
                let b = self.reshape(&a, &to);
                self.env.push(b);
            }
            2 => self.concatenate(&a),
            3 => self.extract(&a),
            4 => self.insert(&a),
            5 => {
                let b = self.broadcast_to(elem, &shape);
                self.env.push(b);
            }
            // Transposed and back: a way across threads.
            _ => {
                let b = self.permute_any(&a);
                let c = self.operand(elem, &b.shape);
                if !elem.is_float() {
                    self.int_op("addi", &b, &c);
                }
            }
        }
    }

    fn permute_any(&mut self, a: &Tile) -> Tile {
        let rank = a.shape.len();
        if rank < 2 {
            return a.clone();
        }
        let mut order: Vec<usize> = (0..rank).rev().collect();
        if rank > 2 {
            let by = self.c.below(rank);
            order.rotate_left(by);
        }
        self.permute(a, &order)
    }

    pub(super) fn permute(&mut self, a: &Tile, order: &[usize]) -> Tile {
        let shape: Vec<u64> = order.iter().map(|&d| a.shape[d]).collect();
        let list: Vec<String> = order.iter().map(usize::to_string).collect();
        let types = format!("{} -> {}", a.ty(), tile_type(a.elem, &shape));
        let text = format!("permute {} [{}]", a.name, list.join(", "));
        self.value(&text, Some(&types), a.elem, &shape, a.fact)
    }

    /// As many elements in other extents.
    fn other_shape(&mut self, shape: &[u64]) -> Vec<u64> {
        let mut room = shape.iter().product::<u64>().ilog2() as usize;
        let rank = 1 + self.c.below(3);
        let mut to = Vec::new();
        for _ in 1..rank {
            let n = self.c.below(room + 1);
            to.push(1 << n);
            room -= n;
        }
        to.push(1 << room);
        to
    }

    fn concatenate(&mut self, a: &Tile) {
        if a.shape.is_empty() || a.shape.iter().product::<u64>() * 2 > self.largest {
            return;
        }
        let b = self.operand_where(a.elem, &a.shape, &|_| true);
        let dim = self.c.below(a.shape.len());
        let mut shape = a.shape.clone();
        shape[dim] *= 2;
        let types = format!("{}, {} -> {}", a.ty(), b.ty(), tile_type(a.elem, &shape));
        let text = format!("cat {}, {} dim = {dim}", a.name, b.name);
        self.value(&text, Some(&types), a.elem, &shape, join(a, &b));
    }

    /// A shape that divides another, and an index of one of its slices.
    fn slice(&mut self, shape: &[u64]) -> (Vec<u64>, Vec<String>) {
        let mut part = shape.to_vec();
        let mut index = Vec::new();
        for d in &mut part {
            let by = 1 << self.c.below(d.ilog2().min(3) as usize + 1);
            *d /= by;
            index.push(self.index_below(by));
        }
        (part, index)
    }

    fn extract(&mut self, a: &Tile) {
        let (part, index) = self.slice(&a.shape);
        let types = format!("{} -> {}", a.ty(), tile_type(a.elem, &part));
        let text = format!("extract {}[{}]", a.name, index.join(", "));
        self.value(&text, Some(&types), a.elem, &part, a.fact);
    }

    fn insert(&mut self, a: &Tile) {
        let (part, index) = self.slice(&a.shape);
        let b = self.operand_where(a.elem, &part, &|_| true);
        let types = format!("{}, {}", b.ty(), a.ty());
        let text = format!("insert {}, {}[{}]", b.name, a.name, index.join(", "));
        self.value(&text, Some(&types), a.elem, &a.shape, join(a, &b));
    }
}
