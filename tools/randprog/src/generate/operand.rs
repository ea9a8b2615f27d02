//! Operands: what is there already, or something new of the type that is wanted.

use super::Gen;
use crate::program::Fill;
use crate::types::{Elem, Fact, Float, Tile};

impl Gen {
    /// A value of this type, exact unless `bound` allows others.
    pub(super) fn operand(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        self.operand_where(elem, shape, &Tile::is_exact)
    }

    pub(super) fn operand_where(
        &mut self,
        elem: Elem,
        shape: &[u64],
        fits: &dyn Fn(&Tile) -> bool,
    ) -> Tile {
        let there: Vec<Tile> = self
            .env
            .iter()
            .rev()
            .filter(|t| t.elem == elem && t.shape == shape && fits(t))
            .take(8)
            .cloned()
            .collect();
        if !there.is_empty() && !self.c.chance(25) {
            let at = self.c.below(there.len());
            return there[at].clone();
        }
        let made = self.make(elem, shape);
        if fits(&made) {
            made
        } else {
            self.constant_near(elem, shape)
        }
    }

    /// Something of this type that was not there.
    fn make(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        if !elem.is_float()
            && elem.bits() >= 8
            && elem != Elem::I1
            && shape.len() == 1
            && self.c.chance(15)
        {
            return self.iota(elem, shape[0]);
        }
        if self.c.chance(20)
            && let Some(tile) = self.converted(elem, shape)
        {
            return tile;
        }
        if !shape.is_empty() && self.c.chance(15) {
            return self.broadcast_to(elem, shape);
        }
        match self.c.below(4) {
            0 => self.constant(elem, shape),
            _ if shape.is_empty() => self.constant(elem, shape),
            3 => self.load_pointers(elem, shape),
            _ => self.load(elem, shape),
        }
    }

    pub(super) fn iota(&mut self, elem: Elem, n: u64) -> Tile {
        // What does not fit is refused.
        if elem.bits() < 64 && n > 1 << elem.bits() {
            return self.constant(elem, &[n]);
        }
        let half = 1i128 << (elem.bits() - 1);
        let fact = if i128::from(n) <= half {
            Fact::Int {
                lo: 0,
                hi: i128::from(n) - 1,
            }
        } else {
            crate::types::anything(elem)
        };
        self.value("iota", None, elem, &[n], fact)
    }

    /// A splat of a number that matters.
    pub(super) fn constant(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        if elem.is_float() {
            let x = self
                .c
                .pick(&[0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -0.0, -4.0, 0.25]);
            return self.float_constant(elem, shape, x);
        }
        let width = if elem == Elem::I1 { 1 } else { elem.bits() };
        let n: i64 = match self.c.below(3) {
            0 => self.c.below(5) as i64 - 1,
            1 => 1 << self.c.below(width as usize - 1 + usize::from(width == 1)),
            _ => self.c.pick(&[3, 7, 10, 100, -3, 127, -128, 5]),
        };
        let low = if width == 1 { 1 } else { width - 1 };
        let n = n.clamp(-(1 << low.min(62)), (1 << low.min(62)) - 1);
        self.int_constant(elem, shape, n)
    }

    pub(super) fn int_constant(&mut self, elem: Elem, shape: &[u64], n: i64) -> Tile {
        let (text, n) = if elem == Elem::I1 {
            ((n & 1 == 1).to_string(), -(n & 1))
        } else {
            (n.to_string(), n)
        };
        let fact = Fact::Int {
            lo: n.into(),
            hi: n.into(),
        };
        self.op(
            &format!("constant <{}: {text}>", elem.name()),
            None,
            elem,
            shape,
            fact,
        )
    }

    pub(super) fn float_constant(&mut self, elem: Elem, shape: &[u64], x: f64) -> Tile {
        let fact = Fact::Float(Float {
            quantum: Some(-2),
            ..Float::range(x, x)
        });
        self.op(
            &format!("constant <{}: {x:?}>", elem.name()),
            None,
            elem,
            shape,
            fact,
        )
    }

    /// A constant that is harmless everywhere.
    fn constant_near(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        if elem.is_float() {
            self.float_constant(elem, shape, 1.0)
        } else {
            self.int_constant(elem, shape, 1)
        }
    }

    /// A smaller tile, reshaped to rank and repeated.
    pub(super) fn broadcast_to(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        let mut small = shape.to_vec();
        for d in &mut small {
            if self.c.chance(60) {
                *d = 1;
            }
        }
        let flat: Vec<u64> = small.iter().copied().filter(|&d| d > 1).collect();
        let from = self.operand(elem, &flat);
        let from = self.reshape(&from, &small);
        self.broadcast(&from, shape)
    }

    pub(super) fn reshape(&mut self, from: &Tile, shape: &[u64]) -> Tile {
        self.reshaped("reshape", from, shape)
    }

    pub(super) fn broadcast(&mut self, from: &Tile, shape: &[u64]) -> Tile {
        self.reshaped("broadcast", from, shape)
    }

    /// The same elements in another shape, by the operation called `name`.
    fn reshaped(&mut self, name: &str, from: &Tile, shape: &[u64]) -> Tile {
        if from.shape == shape {
            return from.clone();
        }
        let to = crate::types::tile_type(from.elem, shape);
        let types = format!("{} -> {to}", from.ty());
        let text = format!("{name} {}", from.name);
        self.op(&text, Some(&types), from.elem, shape, from.fact)
    }

    /// A value of another element type in the same shape, converted.
    fn converted(&mut self, elem: Elem, shape: &[u64]) -> Option<Tile> {
        let there: Vec<Tile> = self
            .env
            .iter()
            .rev()
            .filter(|t| t.shape == shape && t.elem != elem && t.is_exact())
            .take(5)
            .cloned()
            .collect();
        if there.is_empty() {
            return None;
        }
        let at = self.c.below(there.len());
        self.convert_to(&there[at].clone(), elem)
    }

    /// What a new input buffer of `elem` holds.
    pub(super) fn fill(&mut self, elem: Elem) -> Fill {
        if !elem.is_float() {
            if elem == Elem::I1 {
                return Fill::Any;
            }
            return match self.c.below(3) {
                0 => Fill::Whole(0, 15),
                1 => Fill::Whole(-100, 100),
                _ => Fill::Any,
            };
        }
        match self.c.below(4) {
            0 => Fill::Whole(-4, 4),
            1 => Fill::Uniform(-2.0, 2.0),
            2 => Fill::Uniform(-50.0, 50.0),
            _ => Fill::Any,
        }
    }
}
