//! Loads and stores: through views of every kind, and through pointers.

use super::Gen;
use crate::program::Fill;
use crate::types::{Elem, Fact, Float, Tile, anything, extents, tile_type};

/// A tensor view in the text.
struct Tensor {
    name: String,
    ty: String,
}

/// Where a tensor's elements lie.
struct Place {
    dims: Vec<u64>,
    strides: Vec<u64>,
    /// elements from the first to the last
    count: usize,
}

impl Gen {
    /// A scalar i32 below `n`: a constant, or what happens to be in range.
    pub(super) fn index_below(&mut self, n: u64) -> String {
        let fits: Vec<String> = self
            .env
            .iter()
            .filter(|t| {
                let (lo, hi) = t.int();
                t.elem == Elem::I32 && t.shape.is_empty() && lo >= 0 && hi < i128::from(n)
            })
            .map(|t| t.name.clone())
            .collect();
        if !fits.is_empty() && self.c.chance(60) {
            let at = self.c.below(fits.len());
            return fits[at].clone();
        }
        let value = self.c.below(n as usize) as i64;
        self.int_constant(Elem::I32, &[], value).name
    }

    /// A scalar index for a load, and a number that it is below.
    fn any_index(&mut self) -> (String, u64) {
        let mut sources: Vec<(String, u64)> = ["%bx", "%by", "%bz"]
            .iter()
            .zip(self.grid)
            .map(|(n, g)| ((*n).to_owned(), g.into()))
            .collect();
        sources.extend(
            self.around
                .iter()
                .flatten()
                .map(|a| (a.counter.clone(), a.below)),
        );
        if self.c.chance(65) {
            let at = self.c.below(sources.len());
            let at = if self.c.chance(50) {
                sources.len() - 1
            } else {
                at
            };
            return sources[at].clone();
        }
        let value = self.c.below(3) as i64;
        (
            self.int_constant(Elem::I32, &[], value).name,
            value as u64 + 1,
        )
    }

    /// An extent that takes `tiles` tiles of `tile`, the last of them in part now and then.
    fn extent(&mut self, tiles: u64, tile: u64) -> u64 {
        let whole = tiles.max(1) * tile;
        if tile > 1 && self.c.chance(40) {
            whole - 1 - self.c.below(tile as usize - 1) as u64
        } else {
            whole
        }
    }

    /// Row-major mostly; rows with space behind them, or column-major, now and then.
    fn place(&mut self, dims: &[u64]) -> Place {
        let rank = dims.len();
        let mut order: Vec<usize> = (0..rank).collect();
        if rank > 1 && self.c.chance(15) {
            order.reverse();
        }
        let mut strides = vec![1; rank];
        let mut next = 1;
        for &d in order.iter().rev() {
            strides[d] = next;
            next *= dims[d];
            next = match self.c.below(6) {
                3 | 4 => next.next_multiple_of(16),
                5 => next + 3,
                _ => next,
            };
        }
        let last: u64 = dims.iter().zip(&strides).map(|(d, s)| (d - 1) * s).sum();
        Place {
            dims: dims.to_vec(),
            strides,
            count: last as usize + 1,
        }
    }

    /// A tensor view of a buffer; extents and strides in its type or from parameters.
    fn tensor(&mut self, base: &str, elem: Elem, place: &Place) -> Tensor {
        let mut operands = [Vec::new(), Vec::new()];
        let mut types = [Vec::new(), Vec::new()];
        let mut any = false;
        let dynamic = self.c.chance(60);
        for (i, list) in [&place.dims, &place.strides].into_iter().enumerate() {
            for &n in list {
                // A stride of one is written, as kernels do.
                if dynamic && (i == 0 || n != 1) && self.c.chance(80) {
                    any = true;
                    let mut name = self.scalar_param(n as i64);
                    if self.c.chance(70) {
                        name = self
                            .op(
                                &format!("assume bounded<0, ?>, {name}"),
                                None,
                                Elem::I32,
                                &[],
                                anything(Elem::I32),
                            )
                            .name;
                    }
                    if i == 1 && n % 16 == 0 && self.c.chance(70) {
                        name = self
                            .op(
                                &format!("assume div_by<16>, {name}"),
                                None,
                                Elem::I32,
                                &[],
                                anything(Elem::I32),
                            )
                            .name;
                    }
                    operands[i].push(name);
                    types[i].push("?".to_owned());
                } else {
                    operands[i].push(n.to_string());
                    types[i].push(n.to_string());
                }
            }
        }
        let mut base = base.to_owned();
        if self.c.chance(60) {
            let name = self.fresh();
            self.line(&format!(
                "{name} = assume div_by<16>, {base} : tile<ptr<{}>>",
                elem.name()
            ));
            base = name;
        }
        let ty = format!(
            "tensor_view<{}x{}, strides=[{}]>",
            types[0].join("x"),
            elem.name(),
            types[1].join(",")
        );
        let name = self.fresh();
        let scalars = if any { "tile<i32> -> " } else { "" };
        self.line(&format!(
            "{name} = make_tensor_view {base}, shape = [{}], strides = [{}] : {scalars}{ty}",
            operands[0].join(", "),
            operands[1].join(", ")
        ));
        Tensor { name, ty }
    }

    fn hint(&mut self) -> &'static str {
        self.c.weighted(&[
            ("", 16),
            (" optimization_hints = <default = {latency = 2}>", 1),
            (" optimization_hints = <sm_90 = {allow_tma = false}, sm_100 = {allow_tma = false, latency = 3}>", 1),
            (" optimization_hints = <default = {latency = 8}>", 1),
        ])
    }

    /// Any tile of the program's shapes.
    pub(super) fn load_any(&mut self) {
        let shape = self.shape();
        let elem = self.any_elem();
        if shape.is_empty() {
            self.load_pointers(elem, &shape);
        } else {
            self.load(elem, &shape);
        }
    }

    /// A tile of a partition view of a new buffer.
    pub(super) fn load(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        let fill = self.fill(elem);
        self.load_filled(elem, shape, fill)
    }

    pub(super) fn load_filled(&mut self, elem: Elem, shape: &[u64], fill: Fill) -> Tile {
        let index: Vec<(String, u64)> = shape.iter().map(|_| self.any_index()).collect();
        let index: Vec<(&str, u64)> = index.iter().map(|(n, b)| (n.as_str(), *b)).collect();
        self.load_at(elem, shape, fill, &index)
    }

    /// The tile at an index, each part of which is below a number.
    pub(super) fn load_at(
        &mut self,
        elem: Elem,
        shape: &[u64],
        fill: Fill,
        index: &[(&str, u64)],
    ) -> Tile {
        let dims: Vec<u64> = shape
            .iter()
            .zip(index)
            .map(|(&t, i)| self.extent(i.1, t))
            .collect();
        let is_ragged = dims.iter().zip(shape).any(|(d, t)| d % t != 0);
        let (padding, fact) = self.padding(elem, fill.fact(elem), is_ragged);
        let mapped = shape.len() == 2 && self.c.chance(10);
        let (tensor_dims, map) = if mapped {
            (dims.iter().rev().copied().collect(), ", dim_map=[1, 0]")
        } else {
            (dims, "")
        };
        let place = self.place(&tensor_dims);
        let base = self.buffer(elem, place.count, fill, 0.0);
        let tensor = self.tensor(&base, elem, &place);
        let tile = extents(shape);
        let ty = format!(
            "partition_view<tile=({}){padding}, {}{map}>",
            tile.trim_end_matches('x'),
            tensor.ty
        );
        self.load_view(
            elem,
            shape,
            fact,
            ("make_partition_view", &tensor, &ty),
            index,
        )
    }

    fn load_view(
        &mut self,
        elem: Elem,
        shape: &[u64],
        fact: Fact,
        (make, tensor, ty): (&str, &Tensor, &str),
        index: &[(&str, u64)],
    ) -> Tile {
        let view = self.fresh();
        self.line(&format!("{view} = {make} {} : {ty}", tensor.name));
        let names: Vec<&str> = index.iter().map(|i| i.0).collect();
        let hint = self.hint();
        let (name, token) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{name}, {token} = load_view_tko weak {view}[{}]{hint} : {ty}, tile<i32> -> {}, token",
            names.join(", "),
            tile_type(elem, shape)
        ));
        let tile = Tile {
            name,
            elem,
            shape: shape.to_vec(),
            fact,
        };
        self.env.push(tile.clone());
        tile
    }

    /// What elements outside the tensor are, and what then is known of all.
    fn padding(&mut self, elem: Elem, fact: Fact, needed: bool) -> (String, Fact) {
        if !needed && self.c.chance(70) {
            return (String::new(), fact);
        }
        let (name, value) = match elem.has_arithmetic() {
            true => self.c.weighted(
                &[
                    ("zero", 0.0),
                    ("neg_zero", -0.0),
                    ("nan", f64::NAN),
                    ("pos_inf", f64::INFINITY),
                    ("neg_inf", f64::NEG_INFINITY),
                ]
                .map(|p| (p, if p.0 == "zero" { 8 } else { 1 })),
            ),
            false => ("zero", 0.0),
        };
        let fact = match fact {
            Fact::Int { lo, hi } => Fact::Int {
                lo: lo.min(0),
                hi: hi.max(0),
            },
            Fact::Float(x) if value.is_nan() => Fact::Float(Float { nan: true, ..x }),
            Fact::Float(x) => Fact::Float(Float {
                lo: x.lo.min(value),
                hi: x.hi.max(value),
                ..x
            }),
        };
        (format!(", padding_value = {name}"), fact)
    }

    /// A tile whose rows an index tile chooses.
    pub(super) fn gather(&mut self) {
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
    pub(super) fn strided(&mut self) {
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
    pub(super) fn exclusive(&mut self) -> Option<(Tile, u64)> {
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
            let fact = Fact::Int {
                lo: 0,
                hi: i128::from(extent) - 1,
            };
            let part = Tile {
                name,
                elem: Elem::I32,
                shape: Vec::new(),
                fact,
            };
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

    pub(super) fn store_some(&mut self) {
        let Some(tile) = self.env.iter().skip(3).next_back().cloned() else {
            return;
        };
        self.store(&tile);
    }

    /// Stores a tile into a buffer of its own.
    pub(super) fn store(&mut self, tile: &Tile) {
        let error = match tile.fact {
            Fact::Float(x) => x.error,
            Fact::Int { .. } => 0.0,
        };
        if !error.is_finite() {
            return;
        }
        let Some(number) = self.exclusive() else {
            return;
        };
        if self.around.is_empty() && self.conditional == 0 {
            self.stored += 1;
        }
        let fill = if tile.elem == Elem::I1 {
            Fill::Zero
        } else {
            Fill::Whole(7, 7)
        };
        if tile.shape.is_empty() || self.c.chance(30) {
            self.store_pointers(tile, number, fill, error);
        } else {
            self.store_view(tile, number, fill, error);
        }
    }

    fn store_view(&mut self, tile: &Tile, (number, total): (Tile, u64), fill: Fill, error: f64) {
        let rank = tile.shape.len();
        let along = self.c.below(rank);
        let mut index = Vec::new();
        let mut dims = Vec::new();
        for (d, &t) in tile.shape.iter().enumerate() {
            let (name, tiles) = if d == along {
                (number.name.clone(), total)
            } else {
                (self.int_constant(Elem::I32, &[], 0).name, 1)
            };
            index.push(name);
            dims.push(self.extent(tiles, t));
        }
        let place = self.place(&dims);
        let base = self.buffer(tile.elem, place.count, fill, error);
        let tensor = self.tensor(&base, tile.elem, &place);
        let shape = extents(&tile.shape);
        let ty = format!(
            "partition_view<tile=({}), {}>",
            shape.trim_end_matches('x'),
            tensor.ty
        );
        let (view, token) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{view} = make_partition_view {} : {ty}",
            tensor.name
        ));
        let hint = self.hint();
        self.line(&format!(
            "{token} = store_view_tko weak {}, {view}[{}]{hint} : {}, {ty}, tile<i32> -> token",
            tile.name,
            index.join(", "),
            tile.ty()
        ));
    }

    /// The number of each element of a tile in row-major order, plus a scalar.
    pub(super) fn linear(&mut self, shape: &[u64], first: Option<&Tile>) -> Tile {
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

    pub(super) fn splat(&mut self, scalar: &Tile, shape: &[u64]) -> Tile {
        let one = self.reshape(scalar, &vec![1; shape.len()]);
        self.broadcast(&one, shape)
    }

    /// Pointers to elements of a buffer.
    pub(super) fn pointers(&mut self, base: &str, elem: Elem, offsets: &Tile) -> (String, String) {
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

    fn store_pointers(
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

    pub(super) fn load_pointers_any(&mut self) {
        let shape = self.shape();
        let elem = self.any_elem();
        self.load_pointers(elem, &shape);
    }

    /// Elements of a new buffer: one after the other, or anywhere.
    pub(super) fn load_pointers(&mut self, elem: Elem, shape: &[u64]) -> Tile {
        let fill = self.fill(elem);
        let count: u64 = shape.iter().product();
        let first = self.any_index();
        let first = Tile {
            name: first.0,
            elem: Elem::I32,
            shape: Vec::new(),
            fact: Fact::Int {
                lo: 0,
                hi: i128::from(first.1) - 1,
            },
        };
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
                fact = super::arith::join(
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
    pub(super) fn through_memory(&mut self) {
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
