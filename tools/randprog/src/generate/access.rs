//! Loads and stores: through views of every kind, and through pointers.

mod other_views;
mod pointers;
mod slices;

use super::Gen;
use crate::program::Fill;
use crate::types::{Elem, Fact, Float, Tile, anything, extents, tile_type};

/// Elements of a tensor that is read through a view.
const MOST_ELEMENTS: u64 = 1 << 21;

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

    /// Replaces the indices that reach farthest by zero, until a tensor that holds all the tiles is small enough: counters
    /// of long loops in every dimension would ask for gigabytes.
    fn within_reach(&mut self, tile: &[u64], index: &mut [(String, u64)]) {
        let elements = |index: &[(String, u64)]| -> u64 {
            tile.iter()
                .zip(index)
                .fold(1, |n, (t, i)| n.saturating_mul(t * i.1.max(1)))
        };
        while elements(index) > MOST_ELEMENTS
            && let Some(farthest) = index.iter_mut().filter(|i| i.1 > 1).max_by_key(|i| i.1)
        {
            *farthest = (self.int_constant(Elem::I32, &[], 0).name, 1);
        }
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

    /// A pointer that may be said to be aligned, as buffers are.
    pub(super) fn perhaps_aligned(&mut self, base: String, elem: Elem) -> String {
        if !self.c.chance(60) {
            return base;
        }
        let name = self.fresh();
        self.line(&format!(
            "{name} = assume div_by<16>, {base} : tile<ptr<{}>>",
            elem.name()
        ));
        name
    }

    /// A parameter that is `n`, which may be said to be a multiple of 16 if it is.
    pub(super) fn perhaps_divisible(&mut self, name: String, n: u64) -> String {
        if !n.is_multiple_of(16) || !self.c.chance(70) {
            return name;
        }
        let text = format!("assume div_by<16>, {name}");
        self.op(&text, None, Elem::I32, &[], anything(Elem::I32))
            .name
    }

    /// A tensor view of a buffer; extents and strides in its type or from parameters.
    fn tensor(&mut self, base: &str, elem: Elem, place: &Place) -> Tensor {
        let base = self.perhaps_aligned(base.to_owned(), elem);
        self.tensor_with(&base, elem, place, None)
    }

    /// As [`Gen::tensor`], of an address about which all is said, where the extent of one dimension may be a value.
    fn tensor_with(
        &mut self,
        base: &str,
        elem: Elem,
        place: &Place,
        computed: Option<(usize, String)>,
    ) -> Tensor {
        let mut operands = [Vec::new(), Vec::new()];
        let mut types = [Vec::new(), Vec::new()];
        let mut any = false;
        let dynamic = self.c.chance(60);
        for (i, list) in [&place.dims, &place.strides].into_iter().enumerate() {
            for (dim, &n) in list.iter().enumerate() {
                let value = computed.as_ref().filter(|c| i == 0 && c.0 == dim);
                if let Some((_, value)) = value {
                    any = true;
                    operands[i].push(value.clone());
                    types[i].push("?".to_owned());
                    continue;
                }
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
                    if i == 1 {
                        name = self.perhaps_divisible(name, n);
                    }
                    operands[i].push(name);
                    types[i].push("?".to_owned());
                } else {
                    operands[i].push(n.to_string());
                    types[i].push(n.to_string());
                }
            }
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
        let mut index: Vec<(String, u64)> = shape.iter().map(|_| self.any_index()).collect();
        self.within_reach(shape, &mut index);
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
        let dims = shape.iter().zip(index);
        let dims = dims.map(|(&t, i)| self.extent(i.1, t)).collect();
        self.load_of(elem, shape, dims, fill, index)
    }

    /// The tile at an index of a tensor of these extents.
    pub(super) fn load_of(
        &mut self,
        elem: Elem,
        shape: &[u64],
        dims: Vec<u64>,
        fill: Fill,
        index: &[(&str, u64)],
    ) -> Tile {
        let is_ragged = dims.iter().zip(shape).any(|(d, t)| d % t != 0);
        let (padding, fact) = self.padding(elem, fill.fact(elem), is_ragged);
        let (tensor_dims, map) = if shape.len() > 1 && self.c.chance(10) {
            self.mapped(dims)
        } else {
            (dims, String::new())
        };
        let tensor = self.new_tensor(elem, &tensor_dims, fill, 0.0);
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

    /// Dimensions of a tensor two of which are exchanged in its tiles, and how the view says so.
    fn mapped(&mut self, mut dims: Vec<u64>) -> (Vec<u64>, String) {
        let mut order: Vec<usize> = (0..dims.len()).collect();
        let a = self.c.below(dims.len() - 1);
        let b = a + 1 + self.c.below(dims.len() - 1 - a);
        order.swap(a, b);
        dims.swap(a, b);
        (dims, format!(", dim_map={order:?}"))
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
        let after = self.after.as_ref().map(|t| format!(" token = {t}"));
        let after = after.unwrap_or_default();
        let (name, token) = (self.fresh(), self.fresh());
        self.line(&format!(
            "{name}, {token} = load_view_tko weak {view}[{}]{after}{hint} : {ty}, tile<i32> -> {}, token",
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
        // E8M0 has no zero.
        if !needed && (elem == Elem::E8M0 || self.c.chance(70)) {
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
        let tensor = self.new_tensor(tile.elem, &dims, fill, error);
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
}
