//! Slices of tensors: rows from one that the kernel computes to another, the address and the extent with them; and single
//! matrices of a batch.

use super::super::Gen;
use super::{Place, Tensor};
use crate::program::Fill;
use crate::types::{Elem, anything};

/// What of a larger tensor a tensor is.
#[derive(Clone, Copy)]
enum Kind {
    Whole,
    Rows,
    OfBatch,
}

const KINDS: &[(Kind, usize)] = &[(Kind::Whole, 80), (Kind::Rows, 12), (Kind::OfBatch, 8)];

impl Gen {
    /// A view of a new tensor of these extents, now and then as a slice of a larger one or as one of a batch.
    pub(super) fn new_tensor(
        &mut self,
        elem: Elem,
        dims: &[u64],
        fill: Fill,
        within: f64,
    ) -> Tensor {
        let kind = match dims.len() < 2 || elem.bits() < 8 {
            true => Kind::Whole,
            false => self.c.weighted(KINDS),
        };
        match kind {
            Kind::Whole => {
                let place = self.place(dims);
                let base = self.buffer(elem, place.count, fill, within);
                self.tensor(&base, elem, &place)
            }
            Kind::Rows => self.some_rows(elem, dims, fill, within),
            Kind::OfBatch => self.one_of_batch(elem, dims, fill, within),
        }
    }

    /// Rows from one parameter to another.
    fn some_rows(&mut self, elem: Elem, dims: &[u64], fill: Fill, within: f64) -> Tensor {
        let dim = self.c.below(dims.len());
        let before = self.c.weighted(&[(0, 2), (1, 2), (16, 2), (40, 1)]);
        let behind = self.c.weighted(&[(1, 2), (0, 1), (7, 2), (64, 1)]);
        let mut whole = dims.to_vec();
        whole[dim] += before + behind;
        let place = self.place(&whole);
        let base = self.buffer(elem, place.count, fill, within);
        let first = self.scalar_param(before as i64);
        let end = self.scalar_param((before + dims[dim]) as i64);
        let rows = self.op(
            &format!("subi {end}, {first}"),
            None,
            Elem::I32,
            &[],
            anything(Elem::I32),
        );
        let base = self.behind(base, elem, (&first, before), place.strides[dim]);
        let slice = Place {
            dims: dims.to_vec(),
            ..place
        };
        self.tensor_with(&base, elem, &slice, Some((dim, rows.name)))
    }

    /// One of tensors that lie behind each other along a dimension, and beside each other in the rows of memory. A number says
    /// which, as the block's does in kernels with batches and heads.
    fn one_of_batch(&mut self, elem: Elem, dims: &[u64], fill: Fill, within: f64) -> Tensor {
        let dim = self.c.below(dims.len());
        let (batch, heads) = (
            self.c.below(3) as u64,
            self.c.weighted(&[(1, 1), (2, 2), (3, 1)]),
        );
        let head = self.c.below(heads as usize) as u64;
        let mut whole = dims.to_vec();
        whole[dim] *= batch + 1;
        let row = whole.len() - 1;
        let beside = dim != row;
        if beside {
            whole[row] *= heads;
        }
        let place = self.place(&whole);
        let base = self.buffer(elem, place.count, fill, within);
        let base = self.perhaps_aligned(base, elem);
        let wide = Elem::I(64);
        let number = self.scalar_param((batch * heads + head) as i64);
        let int = anything(Elem::I32);
        let number = self.op(
            &format!("assume bounded<0, ?>, {number}"),
            None,
            Elem::I32,
            &[],
            int,
        );
        let extend = "tile<i32> -> tile<i64>";
        let number = self.op(
            &format!("exti {} signed", number.name),
            Some(extend),
            wide,
            &[],
            anything(wide),
        );
        let of = |g: &mut Gen, op: &str, a: &str, b: &str| {
            let sign = if matches!(op, "divi" | "remi") {
                " signed"
            } else {
                ""
            };
            g.op(
                &format!("{op} {a}, {b}{sign}"),
                None,
                wide,
                &[],
                anything(wide),
            )
            .name
        };
        let by = |g: &mut Gen, n: u64| g.int_constant(wide, &[], n as i64).name;
        let all = by(self, heads);
        let which = of(self, "divi", &number.name, &all);
        let (length, stride) = (by(self, dims[dim]), by(self, place.strides[dim]));
        let rows = of(self, "muli", &which, &length);
        let mut elements = of(self, "muli", &rows, &stride);
        if beside {
            let left = of(self, "remi", &number.name, &all);
            let width = by(self, dims[row] * place.strides[row]);
            let column = of(self, "muli", &left, &width);
            elements = of(self, "addi", &elements, &column);
        }
        let moved = self.fresh();
        let pointer = format!("tile<ptr<{}>>", elem.name());
        self.line(&format!(
            "{moved} = offset {base}, {elements} : {pointer}, tile<i64> -> {pointer}"
        ));
        let columns = if beside {
            head * dims[row] * place.strides[row]
        } else {
            0
        };
        let first = batch * dims[dim] * place.strides[dim] + columns;
        let moved = match (first * u64::from(elem.bits()) / 8).is_multiple_of(16) {
            true => self.perhaps_aligned(moved, elem),
            false => moved,
        };
        let slice = Place {
            dims: dims.to_vec(),
            ..place
        };
        self.tensor_with(&moved, elem, &slice, None)
    }

    /// The address of row `first` of those that begin every `stride` elements, in one of the ways in which kernels say it.
    fn behind(&mut self, base: String, elem: Elem, first: (&str, u64), stride: u64) -> String {
        let (first, number) = first;
        let base = self.perhaps_aligned(base, elem);
        let any = anything(Elem::I32);
        let by = match self.c.chance(50) {
            true => self.scalar_param(stride as i64),
            false => self.int_constant(Elem::I32, &[], stride as i64).name,
        };
        let wide = Elem::I(64);
        let extend = "tile<i32> -> tile<i64>";
        let elements = if self.c.chance(50) {
            let by = self.op(&format!("exti {by} signed"), Some(extend), wide, &[], any);
            let first = self.op(
                &format!("exti {first} signed"),
                Some(extend),
                wide,
                &[],
                any,
            );
            let text = format!("muli {}, {}", first.name, by.name);
            self.op(&text, None, wide, &[], any)
        } else {
            self.op(&format!("muli {first}, {by}"), None, Elem::I32, &[], any)
        };
        let pointer = format!("tile<ptr<{}>>", elem.name());
        let moved = self.fresh();
        self.line(&format!(
            "{moved} = offset {base}, {} : {pointer}, {} -> {pointer}",
            elements.name,
            elements.ty()
        ));
        let bytes = number * stride * u64::from(elem.bits()) / 8;
        match bytes.is_multiple_of(16) {
            true => self.perhaps_aligned(moved, elem),
            false => moved,
        }
    }
}
