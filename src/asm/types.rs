//! Types as text.

use std::fmt::{self, Display};

use crate::dialect::enums;
use crate::ir::{DYNAMIC, Module, Padding, Type, TypeId, Types};

/// How a type is written: `bare` without the dialect's prefix, as inside a cuda_tile operation.
#[derive(Clone, Copy)]
pub struct TypeText<'a> {
    types: &'a Types,
    ty: TypeId,
    bare: bool,
}

/// `ty` with its dialect's prefix (`!cuda_tile.tile<4xf32>`).
pub fn type_text(module: &Module, ty: TypeId) -> TypeText<'_> {
    TypeText {
        types: &module.types,
        ty,
        bare: false,
    }
}

/// `ty` without the prefix (`tile<4xf32>`).
pub fn bare_type(types: &Types, ty: TypeId) -> TypeText<'_> {
    TypeText {
        types,
        ty,
        bare: true,
    }
}

/// Items with a separator between.
pub fn join<T: Display>(items: impl IntoIterator<Item = T>, separator: &str) -> String {
    let mut out = String::new();
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push_str(separator);
        }
        out.push_str(&item.to_string());
    }
    out
}

/// A number, or `?`.
struct Extent(i64);

impl Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            DYNAMIC => f.write_str("?"),
            n => write!(f, "{n}"),
        }
    }
}

fn padding(p: Option<Padding>) -> String {
    p.map_or(String::new(), |p| {
        format!("padding_value = {}, ", enums::PADDING.cases[p as usize])
    })
}

/// Nothing for the identity.
fn dim_map(map: &[i32]) -> String {
    if map.iter().copied().eq(0..map.len() as i32) {
        return String::new();
    }
    format!(", dim_map=[{}]", join(map, ", "))
}

/// The case of a 13.4 pointer attribute, if there is one.
fn pointer_attr(attr: u8) -> Option<&'static str> {
    let case = usize::from(attr).checked_sub(1)?;
    enums::PTR_ATTR.cases.get(case).copied()
}

/// The name of a type that refers to no other.
pub fn simple_type_name(ty: &Type) -> String {
    match ty {
        Type::Int(n) => format!("i{n}"),
        Type::Float(f) => f.name().into(),
        Type::Token => "token".into(),
        other => format!("{other:?}"),
    }
}

impl TypeText<'_> {
    fn inner(&self, ty: TypeId) -> Self {
        Self {
            ty,
            bare: true,
            ..*self
        }
    }

    fn outer(&self, ty: TypeId) -> Self {
        Self { ty, ..*self }
    }

    /// The part after the dialect's prefix, and the prefix.
    fn body(&self) -> (&'static str, String) {
        match self.types.get(self.ty) {
            Type::Int(n) => ("", format!("i{n}")),
            Type::Float(x) => ("", x.name().into()),
            Type::String => ("", "string".into()),
            Type::Function { params, results } => {
                let list = |l: &[TypeId]| join(l.iter().map(|&t| self.outer(t)), ", ");
                ("", format!("({}) -> ({})", list(params), list(results)))
            }
            Type::Distributed { .. }
            | Type::SharedTile { .. }
            | Type::TensorTile { .. }
            | Type::Pipeline { .. } => ("!nv_tileas.", self.tileas()),
            Type::Regs { elem, n } => ("!nvvm.", format!("regs<{n}x{}>", self.inner(*elem))),
            Type::SharedPtr => ("!nvvm.", "shared_ptr".into()),
            Type::TensorMap => ("!nvvm.", "tensor_map".into()),
            _ => ("!cuda_tile.", self.cuda_tile()),
        }
    }

    fn shaped(&self, shape: &[u64], elem: TypeId) -> String {
        let dims: String = shape.iter().map(|d| format!("{d}x")).collect();
        format!("{dims}{}", self.inner(elem))
    }

    fn cuda_tile(&self) -> String {
        match self.types.get(self.ty) {
            Type::Ptr { pointee, attr } => {
                let attr = pointer_attr(*attr).map_or(String::new(), |a| format!(", <{a}>"));
                format!("ptr<{}{attr}>", self.inner(*pointee))
            }
            Type::Tile { elem, shape } => format!("tile<{}>", self.shaped(shape, *elem)),
            Type::TensorView {
                elem,
                shape,
                strides,
                attr,
            } => {
                let dims: String = shape.iter().map(|&d| format!("{}x", Extent(d))).collect();
                let strides = match strides.as_slice() {
                    [] => String::new(),
                    list => format!(", strides=[{}]", join(list.iter().map(|&s| Extent(s)), ",")),
                };
                let attr = pointer_attr(*attr)
                    .map_or(String::new(), |a| format!(", #cuda_tile.ptr_attr<{a}>"));
                format!("tensor_view<{dims}{}{strides}{attr}>", self.inner(*elem))
            }
            Type::PartitionView {
                tile,
                view,
                dim_map: map,
                padding: p,
            } => format!(
                "partition_view<tile=({}), {}{}{}>",
                join(tile, "x"),
                padding(*p),
                self.inner(*view),
                dim_map(map)
            ),
            Type::StridedView {
                tile,
                traversal,
                view,
                dim_map: map,
                padding: p,
            } => format!(
                "strided_view<tile=({}), traversal_strides=[{}], {}{}{}>",
                join(tile, "x"),
                join(traversal, ","),
                padding(*p),
                self.inner(*view),
                dim_map(map)
            ),
            Type::GatherScatterView {
                tile,
                view,
                sparse_dim,
                padding: p,
            } => format!(
                "gather_scatter_view<tile=({}), {}{}, sparse_dim={sparse_dim}>",
                join(tile, "x"),
                padding(*p),
                self.inner(*view)
            ),
            Type::Token => "token".into(),
            other => unreachable!("{other:?} is not of cuda_tile"),
        }
    }

    fn tileas(&self) -> String {
        match self.types.get(self.ty) {
            Type::Distributed {
                elem,
                shape,
                layout,
            } => format!("tile<{}, layout={layout}>", self.shaped(shape, *elem)),
            Type::SharedTile {
                elem,
                shape,
                layout,
                stages,
            } => format!(
                "shared<{}, layout={layout}, stages={stages}>",
                self.shaped(shape, *elem)
            ),
            Type::TensorTile {
                elem,
                shape,
                lanes,
                cell,
                stages,
            } => format!(
                "tensor<{}, lanes={lanes}, cell={cell}, stages={stages}>",
                self.shaped(shape, *elem)
            ),
            Type::Pipeline { stages } => format!("pipeline<{stages}>"),
            other => unreachable!("{other:?} is not of nv_tileas"),
        }
    }
}

impl Display for TypeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, body) = self.body();
        // Only cuda_tile's prefix is left out inside its own types.
        if !self.bare || prefix != "!cuda_tile." {
            f.write_str(prefix)?;
        }
        f.write_str(&body)
    }
}
