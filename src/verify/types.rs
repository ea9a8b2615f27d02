//! Rules of types.

use super::{Check, ensure, fail};
use crate::asm::type_text;
use crate::ir::{DYNAMIC, Dim, Float, Module, Padding, Type, TypeId};

/// Most elements of a tile.
pub const MAX_ELEMENTS: u64 = 1 << 24;

/// Types that break a rule, and which.
pub type Unsound = rustc_hash::FxHashMap<TypeId, String>;

/// Every unsound type of a module: each is checked once, however often it is used.
pub fn unsound(module: &Module) -> Unsound {
    let ids = (0..module.types.len() as u32).map(TypeId);
    ids.filter_map(|ty| Some((ty, check(module, ty).err()?)))
        .collect()
}

/// Checks a type and those inside it.
pub fn check(module: &Module, ty: TypeId) -> Check {
    match module.types.get(ty) {
        Type::Int(n) => ensure(matches!(n, 1 | 4 | 8 | 16 | 32 | 64), || {
            format!("integer type of {n} bits is not supported")
        }),
        Type::Ptr { pointee, .. } => memory_type(module, *pointee, "pointeeType"),
        Type::Tile { elem, shape } => {
            elem_type(module, *elem)?;
            tile(module, shape, *elem)
        }
        Type::TensorView {
            elem,
            shape,
            strides,
            ..
        } => {
            memory_type(module, *elem, "elementType")?;
            tensor_view(shape, strides)
        }
        Type::PartitionView {
            tile,
            view,
            dim_map,
            padding,
        } => grid(module, tile, *view, dim_map, *padding),
        Type::StridedView {
            tile,
            traversal,
            view,
            dim_map,
            padding,
        } => {
            grid(module, tile, *view, dim_map, *padding)?;
            traversal_strides(tile, traversal)
        }
        Type::GatherScatterView {
            tile,
            view,
            sparse_dim,
            padding,
        } => gather(module, tile, *view, *sparse_dim, *padding),
        Type::Function { params, results } => params
            .iter()
            .chain(results)
            .try_for_each(|&t| check(module, t)),
        _ => Ok(()),
    }
}

/// What memory holds.
const NUMBERS: &str = "f16 or bf16 or f32 or tf32 or f64 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU or i1 or i8 or i16 or i32 or i64";

/// The type of a number in memory, in the place called `parameter`.
fn memory_type(module: &Module, ty: TypeId, parameter: &str) -> Check {
    match module.types.get(ty) {
        Type::Int(4) => {}
        Type::Int(_) | Type::Float(_) => return check(module, ty),
        _ => {}
    }
    fail(format!("failed to verify '{parameter}': {NUMBERS}"))
}

/// The element type of a tile.
fn elem_type(module: &Module, ty: TypeId) -> Check {
    match module.types.get(ty) {
        Type::Int(_) | Type::Float(_) | Type::Ptr { .. } => check(module, ty),
        _ => fail(format!(
            "failed to verify 'elementType': {NUMBERS} or Pointer type or i4"
        )),
    }
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// `?` for dynamic numbers.
fn dims(items: &[Dim]) -> String {
    let text = |d: &Dim| {
        if *d == DYNAMIC {
            "?".into()
        } else {
            d.to_string()
        }
    };
    format!(
        "[{}]",
        items.iter().map(text).collect::<Vec<_>>().join(", ")
    )
}

/// Powers of two, not too many elements, whole bytes of packed elements.
fn tile(module: &Module, shape: &[u64], elem: TypeId) -> Check {
    if matches!(module.types.get(elem), Type::Float(Float::F4E2M1FN)) {
        ensure(shape.iter().any(|d| d % 2 == 0), || {
            "F4E2M1FN tiles must have an even number of elements".into()
        })?;
    }
    if let Type::Ptr { pointee, .. } = module.types.get(elem) {
        let packed = matches!(module.types.get(*pointee), Type::Float(Float::F4E2M1FN));
        ensure(!packed || shape.is_empty(), || {
            "tiles of ptr<f4E2M1FN> must have rank 0; use an f4 tile view for memory accesses"
                .into()
        })?;
    }
    let mut elements = 1u64;
    for &dim in shape {
        ensure(dim != 0, || {
            format!(
                "all dimensions must be positive constants, got {}",
                list(shape)
            )
        })?;
        ensure(dim.is_power_of_two(), || {
            format!("all dimensions must be powers of two, got {}", list(shape))
        })?;
        ensure(elements <= MAX_ELEMENTS / dim, || {
            format!("tile would exceed the maximum of {MAX_ELEMENTS} elements")
        })?;
        elements *= dim;
    }
    Ok(())
}

fn tensor_view(shape: &[Dim], strides: &[Dim]) -> Check {
    ensure(shape.len() == strides.len(), || {
        format!(
            "expected shape and stride to be of same rank but got shape of rank {} and stride of rank {}",
            shape.len(),
            strides.len()
        )
    })?;
    let positive = |d: &Dim| *d > 0 || *d == DYNAMIC;
    ensure(shape.iter().all(positive), || {
        format!(
            "dimensions must have strictly positive constant sizes but got {}",
            dims(shape)
        )
    })?;
    ensure(strides.iter().all(positive), || {
        format!(
            "dimensions must have strictly positive constant strides but got {}",
            dims(strides)
        )
    })
}

/// The tile of a view: rank and extents.
fn view_tile(module: &Module, tile_shape: &[i32], view: TypeId) -> Result<usize, String> {
    let Type::TensorView { elem, shape, .. } = module.types.get(view) else {
        return fail(format!(
            "expected 'tensor_view' type, but got '{}'",
            type_text(module, view)
        ));
    };
    check(module, view)?;
    ensure(!tile_shape.is_empty(), || {
        "0-dimension tile shape is not supported".into()
    })?;
    ensure(tile_shape.len() == shape.len(), || {
        format!(
            "expected tensor_view rank and tile rank to match, got tensor_view of rank {} and tiles of rank {}",
            shape.len(),
            tile_shape.len()
        )
    })?;
    ensure(tile_shape.iter().all(|d| *d > 0), || {
        format!(
            "tile shape dimensions must have positive length but got [{}]",
            list(tile_shape)
        )
    })?;
    ensure(tile_shape.iter().all(|d| d.count_ones() == 1), || {
        format!(
            "tile shape dimensions must have power of two length but got [{}]",
            list(tile_shape)
        )
    })?;
    let extents: Vec<u64> = tile_shape.iter().map(|&d| d as u64).collect();
    tile(module, &extents, *elem)?;
    Ok(shape.len())
}

fn padding_fits(module: &Module, view: TypeId, padding: Option<Padding>) -> Check {
    let Type::TensorView { elem, .. } = module.types.get(view) else {
        return Ok(());
    };
    let float = matches!(module.types.get(*elem), Type::Float(_));
    match padding {
        Some(p) if p != Padding::Zero && !float => fail(format!(
            "padding_value {} can only be used with floating point element types, got '{}'",
            crate::dialect::enums::PADDING.cases[p as usize],
            type_text(module, *elem)
        )),
        _ => Ok(()),
    }
}

fn grid(
    module: &Module,
    tile: &[i32],
    view: TypeId,
    map: &[i32],
    padding: Option<Padding>,
) -> Check {
    let rank = view_tile(module, tile, view)?;
    ensure(map.len() == tile.len(), || {
        format!(
            "expected dim_map to map exactly all {} dimensions of the tile, got {} mappings",
            tile.len(),
            map.len()
        )
    })?;
    let mut used = vec![None; rank];
    for (i, &target) in map.iter().enumerate() {
        ensure(target >= 0, || {
            format!("target dimension must not be negative, got {target}")
        })?;
        let Some(slot) = used.get_mut(target as usize) else {
            return fail(format!(
                "target dimension is outside of tensor view dimensions, expected strictly less than {rank}, got {target}"
            ));
        };
        if let Some(first) = slot.replace(i) {
            return fail(format!(
                "target dimension {target} mapped at least twice (for tile dimensions {first} and {i})"
            ));
        }
    }
    padding_fits(module, view, padding)
}

fn traversal_strides(tile: &[i32], traversal: &[i32]) -> Check {
    ensure(tile.len() == traversal.len(), || {
        format!(
            "expected {} traversal strides, got {}",
            tile.len(),
            traversal.len()
        )
    })?;
    ensure(traversal.iter().all(|d| *d > 0), || {
        format!(
            "traversal strides must be strictly positive but got [{}]",
            list(traversal)
        )
    })
}

fn gather(
    module: &Module,
    tile: &[i32],
    view: TypeId,
    dim: i32,
    padding: Option<Padding>,
) -> Check {
    let rank = view_tile(module, tile, view)?;
    ensure(usize::try_from(dim).is_ok_and(|d| d < rank), || {
        format!(
            "gather dimension is outside of tensor view dimensions, expected strictly less than {rank}, got {dim}"
        )
    })?;
    padding_fits(module, view, padding)
}
