//! `cuda_tile` → `nv_tileaa`: every view becomes the base, extents and strides it stands for.

use rustc_hash::FxHashMap;

use super::build::{ceil_div, constant, int_cast};
use super::{rebuild, unsupported};
use crate::dialect::OpKind;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view;
use crate::dialect::nv_tileaa::Op as A;
use crate::facts::access::group;
use crate::ir::{
    Attr, BlockId, DYNAMIC, Diagnostic, Diagnostics, EnumAttr, Module, OpId, Padding, Type, TypeId,
    ValueId,
};

/// What took the place of a value.
type Replaced = FxHashMap<ValueId, ValueId>;

/// Lowers every entry of the module in place.
pub fn run(m: &mut Module) -> Result<(), Diagnostics> {
    for op in m.block(m.body).ops.clone() {
        if C::of(m.op(op).kind) == Some(C::Entry) {
            entry(m, op)?;
        }
    }
    Ok(())
}

fn entry(m: &mut Module, op: OpId) -> Result<(), Diagnostic> {
    let data = m.op(op);
    let attrs = [
        data.attr_named("sym_name").cloned(),
        data.attr_named("optimization_hints").cloned(),
    ];
    let Some(body) = m.body_of(op, 0) else {
        return Err(unsupported(
            m,
            op,
            "an entry without a body cannot be compiled",
        ));
    };
    // A definition is visited before its uses: these are replaced as they come.
    let mut replaced = Replaced::default();
    rebuild(m, body, &mut |m, block, op| {
        m.replace_operands(op, &replaced);
        lower(m, block, op, &mut replaced)
    })?;
    m.become_op(op, A::Func, attrs);
    for view in dead_views(m, body) {
        m.erase(view);
    }
    Ok(())
}

/// View-making operations, users first.
fn dead_views(m: &Module, body: BlockId) -> Vec<OpId> {
    let is_view = |op: &OpId| {
        matches!(
            C::of(m.op(*op).kind),
            Some(
                C::MakeTensorView
                    | C::MakePartitionView
                    | C::MakeStridedView
                    | C::MakeGatherScatterView
            )
        )
    };
    m.ops_under(body)
        .into_iter()
        .filter(is_view)
        .rev()
        .collect()
}

/// One row per operation that changes; all others pass through.
fn lower(
    m: &mut Module,
    block: BlockId,
    op: OpId,
    replaced: &mut Replaced,
) -> Result<(), Diagnostic> {
    match C::of(m.op(op).kind) {
        Some(C::LoadView) => tiled(m, block, op, A::TiledLoad, replaced),
        Some(C::StoreView) => tiled(m, block, op, A::TiledStore, replaced),
        Some(C::AtomicRedView) => tiled(m, block, op, A::TiledAtomic, replaced),
        Some(C::MultimemLoadReduceView) => tiled(m, block, op, A::MultimemLoad, replaced),
        Some(C::MultimemReduceView) => tiled(m, block, op, A::MultimemReduce, replaced),
        Some(C::MultimemStoreView) => tiled(m, block, op, A::MultimemStore, replaced),
        Some(C::GetTensorShape) => tensor_shape(m, block, op, replaced),
        Some(C::GetIndexSpaceShape) => index_space(m, block, op, replaced),
        Some(C::LoadPtr) => renamed(m, block, op, A::Load),
        Some(C::StorePtr) => renamed(m, block, op, A::Store),
        Some(C::AtomicRmw) => renamed(m, block, op, A::AtomicRmw),
        Some(C::AtomicCas) => renamed(m, block, op, A::AtomicCas),
        Some(C::Return) => {
            if !m.op(op).operands.is_empty() {
                return Err(unsupported(
                    m,
                    op,
                    "Kernel functions do not support return with operands",
                ));
            }
            renamed(m, block, op, A::Return)
        }
        _ => {
            m.block_mut(block).ops.push(op);
            Ok(())
        }
    }
}

/// An operation of the same operands and attributes under its `nv_tileaa` name.
fn renamed(m: &mut Module, block: BlockId, op: OpId, to: A) -> Result<(), Diagnostic> {
    m.op_mut(op).kind = to.into();
    m.block_mut(block).ops.push(op);
    Ok(())
}

/// A tensor: what `make_tensor_view` was given, with constants for static extents and strides.
struct Tensor {
    base: ValueId,
    extents: Vec<ValueId>,
    strides: Vec<ValueId>,
}

/// How a view walks its tensor.
struct Walk {
    tensor_view: ValueId,
    dim_map: Vec<i32>,
    traversal: Vec<i32>,
    padding: Option<Padding>,
    sparse: Option<i32>,
}

fn tensor(m: &mut Module, block: BlockId, user: OpId, view: ValueId) -> Result<Tensor, Diagnostic> {
    let def = m
        .def_op(view)
        .filter(|&d| C::of(m.op(d).kind) == Some(C::MakeTensorView));
    let Some(def) = def else {
        return Err(unsupported(
            m,
            user,
            "the tensor view is not made in this kernel by make_tensor_view",
        ));
    };
    let Type::TensorView { shape, strides, .. } = m.types.get(m.ty(view)).clone() else {
        return Err(unsupported(m, user, "operand is not a tensor view"));
    };
    let data = m.op(def).clone();
    let Some(v) = view::MakeTensorView::of(&data) else {
        return Err(unsupported(m, user, "operand is not a tensor view"));
    };
    let dynamic = v
        .dynamicShape()
        .iter()
        .chain(v.dynamicStrides())
        .next()
        .copied();
    let i32_ty = m.types.int(32);
    let scalar = dynamic
        .map(|v| m.ty(v))
        .unwrap_or_else(|| m.types.tile(i32_ty, &[]));
    Ok(Tensor {
        base: v.base(),
        extents: materialize(m, block, user, &shape, v.dynamicShape(), scalar)?,
        strides: materialize(m, block, user, &strides, v.dynamicStrides(), scalar)?,
    })
}

/// Values for a list of static and dynamic numbers.
fn materialize(
    m: &mut Module,
    block: BlockId,
    user: OpId,
    dims: &[i64],
    dynamic: &[ValueId],
    ty: TypeId,
) -> Result<Vec<ValueId>, Diagnostic> {
    let mut dynamic = dynamic.iter();
    let i64_ty = m.types.int(64);
    let wide = m.types.tile(i64_ty, &[]);
    let mut out = Vec::with_capacity(dims.len());
    for &dim in dims {
        out.push(if dim == DYNAMIC {
            let Some(&value) = dynamic.next() else {
                return Err(unsupported(
                    m,
                    user,
                    "fewer dynamic extents or strides than the view's type has",
                ));
            };
            value
        } else {
            let ty = if i32::try_from(dim).is_ok() { ty } else { wide };
            constant(&mut m.at_end(block), dim, ty)
        });
    }
    Ok(out)
}

fn walk(m: &Module, user: OpId, view: ValueId) -> Result<Walk, Diagnostic> {
    let Some(def) = m.def_op(view) else {
        return Err(unsupported(m, user, "the view is not made in this kernel"));
    };
    let Some(&tensor_view) = m.op(def).operands.first() else {
        return Err(unsupported(m, user, "view without a tensor view"));
    };
    Ok(match m.types.get(m.ty(view)).clone() {
        Type::PartitionView {
            tile,
            dim_map,
            padding,
            ..
        } => Walk {
            tensor_view,
            dim_map: dim_map.to_vec(),
            traversal: tile.to_vec(),
            padding,
            sparse: None,
        },
        Type::StridedView {
            traversal,
            dim_map,
            padding,
            ..
        } => Walk {
            tensor_view,
            dim_map: dim_map.to_vec(),
            traversal: traversal.to_vec(),
            padding,
            sparse: None,
        },
        Type::GatherScatterView {
            tile,
            sparse_dim,
            padding,
            ..
        } => Walk {
            tensor_view,
            dim_map: (0..tile.len() as i32).collect(),
            // Indices of such a view count elements.
            traversal: vec![1; tile.len()],
            padding,
            sparse: Some(sparse_dim),
        },
        _ => return Err(unsupported(m, user, "operand is not a view of tiles")),
    })
}

/// An access through a view as the operation `to`: the operands and attributes that its row names.
fn tiled(
    m: &mut Module,
    block: BlockId,
    op: OpId,
    to: A,
    replaced: &mut Replaced,
) -> Result<(), Diagnostic> {
    let data = m.op(op).clone();
    let &[view] = group(&data, "view") else {
        return Err(unsupported(m, op, "an access without a view"));
    };
    let walk = walk(m, op, view)?;
    let t = tensor(m, block, op, walk.tensor_view)?;
    let def = OpKind::from(to).def();
    let i32_ty = m.types.int(32);
    let attribute = |name: &str| match name {
        "dim_map" => Some(Attr::I32s(walk.dim_map.clone())),
        "traversal" => Some(Attr::I32s(walk.traversal.clone())),
        "padding" => walk.padding.map(|p| Attr::Enum(EnumAttr(p as u8))),
        "sparse" => walk.sparse.map(|d| Attr::Int {
            value: i64::from(d),
            ty: i32_ty,
        }),
        "order" => data.attr_named("memory_ordering_semantics").cloned(),
        "scope" => data.attr_named("memory_scope").cloned(),
        "hints" => data.attr_named("optimization_hints").cloned(),
        same => data.attr_named(same).cloned(),
    };
    let attrs: Vec<Option<Attr>> = def.attrs.iter().map(|a| attribute(a.name)).collect();
    let operands = |name: &str| match name {
        "base" => std::slice::from_ref(&t.base),
        "extents" => &t.extents,
        "strides" => &t.strides,
        // A reduction calls its tile so.
        "tile" if group(&data, "tile").is_empty() => group(&data, "value"),
        same => group(&data, same),
    };
    let groups: Vec<&[ValueId]> = def.operands.iter().map(|o| operands(o.name)).collect();
    let results: Vec<TypeId> = data.results.iter().map(|&r| m.ty(r)).collect();
    let mut b = m.at_end(block);
    b.loc = data.loc;
    let new = b.op(to, &groups, attrs, &results, &[]);
    replace(m, op, new, replaced);
    Ok(())
}

fn tensor_shape(
    m: &mut Module,
    block: BlockId,
    op: OpId,
    replaced: &mut Replaced,
) -> Result<(), Diagnostic> {
    let data = m.op(op).clone();
    let t = tensor(m, block, op, m.source(op))?;
    for (&result, &extent) in data.results.iter().zip(&t.extents) {
        let ty = m.ty(result);
        let value = int_cast(&mut m.at_end(block), extent, ty);
        replaced.insert(result, value);
    }
    m.erase(op);
    Ok(())
}

/// Tiles along each dimension: the extent of the dimension it walks over the traversal stride.
fn index_space(
    m: &mut Module,
    block: BlockId,
    op: OpId,
    replaced: &mut Replaced,
) -> Result<(), Diagnostic> {
    let data = m.op(op).clone();
    let walk = walk(m, op, m.source(op))?;
    let t = tensor(m, block, op, walk.tensor_view)?;
    for (i, &result) in data.results.iter().enumerate() {
        let dim = walk.dim_map.get(i).map(|&d| d as usize);
        let (Some(&extent), Some(&step)) =
            (dim.and_then(|d| t.extents.get(d)), walk.traversal.get(i))
        else {
            return Err(unsupported(
                m,
                op,
                "more results than the view has dimensions",
            ));
        };
        let ty = m.ty(result);
        let mut b = m.at_end(block);
        let extent = int_cast(&mut b, extent, ty);
        let step = constant(&mut b, i64::from(step), ty);
        let tiles = ceil_div(&mut b, extent, step);
        replaced.insert(result, tiles);
    }
    m.erase(op);
    Ok(())
}

/// The results of `new` take the place of those of `old`.
fn replace(m: &mut Module, old: OpId, new: OpId, replaced: &mut Replaced) {
    for (from, to) in m
        .op(old)
        .results
        .clone()
        .into_iter()
        .zip(m.op(new).results.clone())
    {
        replaced.insert(from, to);
    }
    m.erase(old);
}
