//! Slices of tensors: rows from one that the kernel computes to another, the address and the extent with them.

use super::super::Gen;
use super::{Place, Tensor};
use crate::program::Fill;
use crate::types::{Elem, anything};

impl Gen {
    /// A view of a new tensor of these extents, now and then as a slice of a larger one.
    pub(super) fn new_tensor(
        &mut self,
        elem: Elem,
        dims: &[u64],
        fill: Fill,
        within: f64,
    ) -> Tensor {
        if dims.len() < 2 || elem.bits() < 8 || !self.c.chance(12) {
            let place = self.place(dims);
            let base = self.buffer(elem, place.count, fill, within);
            return self.tensor(&base, elem, &place);
        }
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
