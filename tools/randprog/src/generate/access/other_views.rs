//! Accesses through views of other kinds: gathered, strided, each tile for one block alone.

use super::super::Gen;
use crate::types::{Elem, Tile, extents, tile_type};

impl Gen {
    /// A tile whose rows an index tile chooses.
    pub(in crate::generate) fn gather(&mut self) {
        let shape = self.shape();
        if shape.len() != 2 {
            return self.load_any();
        }
        let elem = self.any_elem();
        let dim = self.c.below(2);
        let rows = 1 << self.c.below(8);
        let x = self.operand(Elem::I32, &[shape[dim]]);
        let mask = self.int_constant(Elem::I32, &[shape[dim]], rows - 1);
        let which = self.int_op("andi", &x, &mask);
        let other = self.any_index();
        let fill = self.fill(elem);
        let mut dims = [0; 2];
        dims[dim] = rows as u64;
        if rows > 2 && self.c.chance(30) {
            dims[dim] -= 1;
        }
        dims[1 - dim] = self.extent(other.1, shape[1 - dim]);
        let (padding, fact) = self.padding(elem, fill.fact(elem), true);
        let place = self.place(&dims);
        let base = self.buffer(elem, place.count, fill, 0.0);
        let tensor = self.tensor(&base, elem, &place);
        let ty = format!(
            "gather_scatter_view<tile=({}x{}){padding}, {}, sparse_dim={dim}>",
            shape[0], shape[1], tensor.ty
        );
        let view = self.fresh();
        self.line(&format!(
            "{view} = make_gather_scatter_view {} : {ty}",
            tensor.name
        ));
        let (index, types) = if dim == 0 {
            (
                format!("{}, {}", which.name, other.0),
                format!("{}, tile<i32>", which.ty()),
            )
        } else {
            (
                format!("{}, {}", other.0, which.name),
                format!("tile<i32>, {}", which.ty()),
            )
        };
        let (name, token) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{name}, {token} = load_view_tko weak {view}[{index}] : {ty}, {types} -> {}, token",
            tile_type(elem, &shape)
        ));
        self.env.push(Tile {
            name,
            elem,
            shape,
            fact,
        });
    }

    /// A tile of a view whose tiles overlap or leave gaps.
    pub(in crate::generate) fn strided(&mut self) {
        let shape = self.shape();
        if shape.is_empty() {
            return self.load_any();
        }
        let elem = self.any_elem();
        let index: Vec<(String, u64)> = shape.iter().map(|_| self.any_index()).collect();
        let steps: Vec<u64> = shape
            .iter()
            .map(|&t| 1 + self.c.below(2 * t as usize) as u64)
            .collect();
        let mut dims = Vec::new();
        for ((&t, &s), (_, below)) in shape.iter().zip(&steps).zip(&index) {
            // The index space has the tiles that begin inside.
            let whole = (below - 1) * s + t;
            dims.push(whole - self.c.below(t as usize) as u64);
        }
        let fill = self.fill(elem);
        let (padding, fact) = self.padding(elem, fill.fact(elem), true);
        let place = self.place(&dims);
        let base = self.buffer(elem, place.count, fill, 0.0);
        let tensor = self.tensor(&base, elem, &place);
        let list: Vec<String> = steps.iter().map(u64::to_string).collect();
        let ty = format!(
            "strided_view<tile=({}), traversal_strides=[{}]{padding}, {}>",
            extents(&shape).trim_end_matches('x'),
            list.join(","),
            tensor.ty
        );
        let index: Vec<(&str, u64)> = index.iter().map(|(n, b)| (n.as_str(), *b)).collect();
        self.load_view(
            elem,
            &shape,
            fact,
            ("make_strided_view", &tensor, &ty),
            &index,
        );
    }

    /// A number that no other block and no other iteration has, and how many there are; `None` where none is known.
    pub(in crate::generate) fn exclusive(&mut self) -> Option<(Tile, u64)> {
        let mut factors: Vec<(String, u64)> = Vec::new();
        for (name, extent) in ["%bz", "%by", "%bx"].iter().zip(self.grid.iter().rev()) {
            if *extent > 1 {
                factors.push(((*name).to_owned(), u64::from(*extent)));
            }
        }
        for around in self.around.clone() {
            let around = around?;
            factors.push((around.counter, around.below));
        }
        let mut number = self.int_constant(Elem::I32, &[], 0);
        let mut total = 1;
        for (i, (name, extent)) in factors.into_iter().enumerate() {
            let part = Tile::index(name, extent);
            if i == 0 {
                number = part;
            } else {
                let by = self.int_constant(Elem::I32, &[], extent as i64);
                let scaled = self.int_op("muli", &number, &by);
                number = self.int_op("addi", &scaled, &part);
            }
            total *= extent.max(1);
        }
        Some((number, total))
    }
}
