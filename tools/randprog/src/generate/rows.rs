//! What kernels do with rows: softmax, and normalisation.

use super::Gen;
use super::fold::With;
use crate::types::{Elem, Fact, Float, Tile};

impl Gen {
    pub(super) fn rows(&mut self) {
        let shape = self.shape();
        if shape.is_empty() {
            return self.float_binary();
        }
        let elem = self.c.pick(&[Elem::F32, Elem::F32, Elem::F16, Elem::F64]);
        let a = self.operand_where(elem, &shape, &|_| true);
        let a = self.clamp(&a, (-3.0, 3.0));
        // Sums are made in f32.
        let a = if elem == Elem::F16 {
            self.convert_to(&a, Elem::F32).unwrap_or(a)
        } else {
            a
        };
        let dim = shape.len() - 1;
        if self.c.chance(50) {
            self.softmax(&a, dim);
        } else {
            self.normalised(&a, dim);
        }
    }

    /// One value per row along `dim`, again in every element of it.
    pub(super) fn along(&mut self, row: &Tile, shape: &[u64], dim: usize) -> Tile {
        let mut one = shape.to_vec();
        one[dim] = 1;
        let row = self.reshape(row, &one);
        self.broadcast(&row, shape)
    }

    pub(super) fn softmax(&mut self, a: &Tile, dim: usize) -> Option<Tile> {
        let most = self.fold_with(a, dim, With::Max, false)?;
        let most = self.along(&most, &a.shape, dim);
        let x = a.float();
        // No element is above the largest.
        let error = if x.is_exact() {
            0.0
        } else {
            2.0 * x.error + a.elem.epsilon() * 8.0
        };
        let fact = Float {
            lo: -6.0 - error,
            hi: error,
            nan: false,
            quantum: None,
            error,
        };
        let below = self.op(
            &format!("subf {}, {}", a.name, most.name),
            None,
            a.elem,
            &a.shape,
            Fact::Float(fact),
        );
        let e = self.exponential(&below, error);
        let mut sum = self.fold_with(&e, dim, With::Add, false)?;
        // The largest element's is one.
        if let Fact::Float(x) = &mut sum.fact {
            x.lo = 1.0 - x.error;
        }
        let sum = self.along(&sum, &a.shape, dim);
        self.quotient(&e, &sum)
    }

    fn normalised(&mut self, a: &Tile, dim: usize) -> Option<Tile> {
        let n = a.shape[dim] as f64;
        let sum = self.fold_with(a, dim, With::Add, false)?;
        let by = self.float_constant(a.elem, &sum.shape, 1.0 / n);
        let fact = sum.float().product(by.float()).rounded(a.elem);
        let mean = self.op(
            &format!("mulf {}, {}", sum.name, by.name),
            None,
            a.elem,
            &sum.shape,
            Fact::Float(fact),
        );
        let mean = self.along(&mean, &a.shape, dim);
        let fact = a.float().sum(mean.float().negated()).rounded(a.elem);
        let centred = self.value(
            &format!("subf {}, {}", a.name, mean.name),
            None,
            a.elem,
            &a.shape,
            Fact::Float(fact),
        );
        let fact = centred.float().product(centred.float()).rounded(a.elem);
        let square = self.op(
            &format!("mulf {0}, {0}", centred.name),
            None,
            a.elem,
            &a.shape,
            Fact::Float(fact),
        );
        let sum = self.fold_with(&square, dim, With::Add, false)?;
        let fact = sum.float().product(by.float()).rounded(a.elem);
        let variance = self.value(
            &format!("mulf {}, {}", sum.name, by.name),
            None,
            a.elem,
            &sum.shape,
            Fact::Float(fact),
        );
        let root = self.clamp(&variance, (0.25, 16.0));
        let error = 4.0 * root.float().error + 8.0 * a.elem.epsilon();
        let fact = Float {
            error,
            ..Float::range(0.24, 2.01)
        };
        let root = self.op(
            &format!("rsqrt {}", root.name),
            None,
            a.elem,
            &sum.shape,
            Fact::Float(fact),
        );
        let root = self.along(&root, &a.shape, dim);
        let fact = centred.float().product(root.float()).rounded(a.elem);
        Some(self.value(
            &format!("mulf {}, {}", centred.name, root.name),
            None,
            a.elem,
            &a.shape,
            Fact::Float(fact),
        ))
    }
}
