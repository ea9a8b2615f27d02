//! Matmuls of small floats with a scale for each block of elements along K.

use super::Gen;
use super::product::product_fact;
use crate::program::Fill;
use crate::types::{Elem, Fact, Float, Tile, tile_type};

/// Operands, their scales, and how many elements share one.
const KINDS: &[((Elem, Elem, u64), usize)] = &[
    ((Elem::E4M3, Elem::E8M0, 32), 4),
    ((Elem::F4, Elem::E4M3, 16), 4),
    ((Elem::F4, Elem::E8M0, 32), 2),
    ((Elem::E5M2, Elem::E8M0, 32), 1),
    ((Elem::F4, Elem::E8M0, 16), 1),
];

/// Multiplications of an iteration.
const WORK: u64 = 1 << 17;

/// The place of an operand's tile, and the dimension of K in it.
struct Place<'a> {
    shape: [u64; 2],
    k: usize,
    index: [(&'a str, u64); 2],
}

impl Gen {
    /// A loop over scaled matmuls.
    pub(super) fn scaled_loop(&mut self, trips: u64) {
        let (elem, scale, block) = self.c.weighted(KINDS);
        let sides = [(16, 3), (64, 3), (32, 3), (128, 3), (8, 1)];
        let (m, n) = (self.c.weighted(&sides), self.c.weighted(&sides));
        let k = self.c.pick(&[64, 32, 128, 256]).min(WORK / (m * n)).max(32);
        let start = self.zero(Elem::F32, &[m, n]);
        let sums = self.begin_sums(std::slice::from_ref(&start), trips);
        let along = (sums.counter.as_str(), trips);
        let [row, column] = self.blocks();
        let left = Place {
            shape: [m, k],
            k: 1,
            index: [row, along],
        };
        let right = Place {
            shape: [k, n],
            k: 0,
            index: [along, column],
        };
        let [(a, x), (b, y)] = [left, right]
            .map(|place| (self.small(elem, &place), self.scales(scale, block, &place)));
        let times = |a: &Tile, x: &Tile| Tile {
            fact: Fact::Float(a.float().product(x.float())),
            ..a.clone()
        };
        let total = product_fact(&times(&a, &x), &times(&b, &y), &start, k * trips);
        let inner = &sums.inner[0];
        let list = [&a, &b, inner, &x, &y];
        let names: Vec<&str> = list.iter().map(|t| t.name.as_str()).collect();
        let types: Vec<String> = list.iter().map(|t| t.ty()).collect();
        let text = format!("mmaf_scaled {}", names.join(", "));
        let fact = total.unwrap_or(Fact::Float(Float::UNKNOWN));
        let next = self.op(&text, Some(&types.join(", ")), Elem::F32, &[m, n], fact);
        let known = self.end_sums(sums, &[next], &[total]);
        self.env.extend(known);
    }

    /// An operand; pairs of four-bit floats come out of bytes.
    fn small(&mut self, elem: Elem, place: &Place) -> Tile {
        let [rows, columns] = place.shape;
        if elem != Elem::F4 {
            return self.factor(elem, (1, rows, columns), Some(place.index));
        }
        // Bytes lie along K mostly, which the instructions need.
        let turned = (place.k == 0) != self.c.chance(15);
        let (shape, index) = match turned {
            true => ([columns, rows], [place.index[1], place.index[0]]),
            false => (place.shape, place.index),
        };
        let bytes = [shape[0], shape[1] / 2];
        let loaded = self.load_at(Elem::I(8), &bytes, Fill::Any, &index);
        let count = shape[0] * shape[1];
        let flat = self.reshape(&loaded, &[count / 2]);
        let types = format!("{} -> {}", flat.ty(), tile_type(elem, &[count]));
        let fact = Fact::Float(Float {
            quantum: Some(-1),
            ..Float::range(-6.0, 6.0)
        });
        let text = format!("unpack {}", flat.name);
        let all = self.op(&text, Some(&types), elem, &[count], fact);
        let tile = self.reshape(&all, &shape);
        match turned {
            true => self.permute(&tile, &[1, 0]),
            false => tile,
        }
    }

    fn scales(&mut self, elem: Elem, block: u64, place: &Place) -> Tile {
        let mut shape = place.shape;
        shape[place.k] /= block;
        let turned = (place.k == 0) != self.c.chance(25);
        let mut index = place.index;
        if turned {
            shape.reverse();
            index.reverse();
        }
        // Not all formats have a zero for what lies outside.
        let dims = shape.iter().zip(&index).map(|(t, i)| t * i.1.max(1));
        let scales = self.load_of(elem, &shape, dims.collect(), Fill::Whole(1, 2), &index);
        match turned {
            true => self.permute(&scales, &[1, 0]),
            false => scales,
        }
    }
}
