//! Operands of matmuls that are unpacked from words of four-bit numbers, with a scale for each group.

use super::Gen;
use crate::program::Fill;
use crate::types::{Elem, Fact, Tile};

impl Gen {
    /// A tile from -8 to 7, perhaps scaled; `None` where a word holds more numbers than the tile.
    pub(super) fn quantized(
        &mut self,
        elem: Elem,
        shape: &[u64],
        at: Option<&[(String, u64)]>,
    ) -> Option<Tile> {
        let word = self.c.pick(&[Elem::I32, Elem::I(8)]);
        let count = u64::from(word.bits() / 4);
        let dim = self.c.below(2);
        if !shape[dim].is_multiple_of(count) {
            return None;
        }
        let mut packed = shape.to_vec();
        packed[dim] /= count;
        let words = self.load_perhaps_at(word, &packed, Fill::Any, at);
        let numbers = if word == Elem::I(8) && self.c.chance(40) {
            self.halves(&words, dim, shape)
        } else {
            self.nibbles(&words, dim, count, shape)
        };
        let eight = self.int_constant(word, shape, 8);
        let signed = self.int_op("subi", &numbers, &eight);
        let operand = match elem {
            Elem::I(_) => self.convert_to(&signed, elem)?,
            _ => {
                let types = format!(
                    "{} -> {}",
                    signed.ty(),
                    crate::types::tile_type(elem, shape)
                );
                let fact = Fill::Whole(-8, 7).fact(elem);
                let text = format!("itof {} signed", signed.name);
                self.op(&text, Some(&types), elem, shape, fact)
            }
        };
        if !elem.has_arithmetic() || !self.c.chance(60) {
            return Some(operand);
        }
        Some(self.scaled_groups(&operand, dim, at))
    }

    /// The numbers of a word one after the other.
    fn nibbles(&mut self, words: &Tile, dim: usize, count: u64, shape: &[u64]) -> Tile {
        let words = self.repeated(words, dim, count);
        let numbers = self.iota(words.elem, count);
        let four = self.int_constant(words.elem, &[count], 4);
        let by = self.int_op("muli", &numbers, &four);
        let wide = &words.shape;
        let mut along = vec![1; wide.len()];
        along[dim + 1] = count;
        let by = self.reshape(&by, &along);
        let by = self.broadcast(&by, wide);
        let shifted = self.shifted(&words, &by);
        let low = self.low_nibble(&shifted);
        self.reshape(&low, shape)
    }

    /// Each element so many times, along a new dimension behind `dim`.
    fn repeated(&mut self, a: &Tile, dim: usize, times: u64) -> Tile {
        let (mut thin, mut wide) = (a.shape.clone(), a.shape.clone());
        thin.insert(dim + 1, 1);
        wide.insert(dim + 1, times);
        let a = self.reshape(a, &thin);
        self.broadcast(&a, &wide)
    }

    /// First the lower numbers of all words, then the upper ones.
    fn halves(&mut self, words: &Tile, dim: usize, shape: &[u64]) -> Tile {
        let four = self.int_constant(words.elem, &words.shape, 4);
        let shifted = self.shifted(words, &four);
        let (low, high) = (self.low_nibble(words), self.low_nibble(&shifted));
        let to = crate::types::tile_type(low.elem, shape);
        let types = format!("{}, {} -> {to}", low.ty(), high.ty());
        let text = format!("cat {}, {} dim = {dim}", low.name, high.name);
        self.op(&text, Some(&types), low.elem, shape, low.fact)
    }

    fn shifted(&mut self, words: &Tile, by: &Tile) -> Tile {
        let sign = self.c.pick(&["unsigned", "signed"]);
        let text = format!("shri {}, {} {sign}", words.name, by.name);
        let fact = crate::types::anything(words.elem);
        self.op(&text, None, words.elem, &words.shape, fact)
    }

    fn low_nibble(&mut self, words: &Tile) -> Tile {
        let mask = self.int_constant(words.elem, &words.shape, 15);
        let text = format!("andi {}, {}", words.name, mask.name);
        let fact = Fact::Int { lo: 0, hi: 15 };
        self.op(&text, None, words.elem, &words.shape, fact)
    }

    /// Each group of elements along a dimension times a number of its own.
    fn scaled_groups(&mut self, a: &Tile, dim: usize, at: Option<&[(String, u64)]>) -> Tile {
        let group = self.c.pick(&[8, 16, 32, 128]).min(a.shape[dim]);
        let mut few = a.shape.clone();
        few[dim] /= group;
        let scales = self.load_perhaps_at(a.elem, &few, Fill::Whole(0, 2), at);
        let scales = self.clamp(&scales, (0.0, 2.0));
        let scales = self.repeated(&scales, dim, group);
        let scales = self.reshape(&scales, &a.shape);
        let fact = a.float().product(scales.float()).rounded(a.elem);
        let text = format!("mulf {}, {}", a.name, scales.name);
        self.op(&text, None, a.elem, &a.shape, Fact::Float(fact))
    }

    /// The tile at an index, or at any.
    pub(super) fn load_perhaps_at(
        &mut self,
        elem: Elem,
        shape: &[u64],
        fill: Fill,
        at: Option<&[(String, u64)]>,
    ) -> Tile {
        match at {
            Some(at) => {
                let at: Vec<(&str, u64)> = at.iter().map(|(n, b)| (n.as_str(), *b)).collect();
                self.load_at(elem, shape, fill, &at)
            }
            None => self.load_filled(elem, shape, fill),
        }
    }
}
