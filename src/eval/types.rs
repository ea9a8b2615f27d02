//! What the interpreter needs to know of a type.

use smallvec::SmallVec;

use crate::ir::{Module, Padding, Type, TypeId};
use crate::scalar::FloatFormat;

/// The most elements a tile may have.
pub const MAX_ELEMENTS: usize = 1 << 24;

pub type Dims = SmallVec<[usize; 4]>;

/// An element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elem {
    /// An integer of this width.
    Int(u32),
    Float(FloatFormat),
    /// A pointer to elements of this many bits.
    Ptr {
        pointee: u32,
    },
}

impl Elem {
    /// Bits of a stored pattern.
    pub fn bits(self) -> u32 {
        match self {
            Elem::Int(width) => width,
            Elem::Float(format) => format.bits(),
            Elem::Ptr { .. } => 64,
        }
    }

    /// Bits that an element takes in memory: i1 a whole byte.
    pub fn memory_bits(self) -> u32 {
        self.bits().max(if self == Elem::Int(1) { 8 } else { 0 })
    }

    pub fn of(module: &Module, id: TypeId) -> Result<Elem, String> {
        match module.types.get(id) {
            &Type::Int(width @ (1 | 4 | 8 | 16 | 32 | 64)) => Ok(Elem::Int(width)),
            &Type::Float(float) => Ok(Elem::Float(float)),
            &Type::Ptr { pointee, .. } => match Elem::of(module, pointee)? {
                Elem::Ptr { .. } => Err("a pointer to a pointer has no meaning here".into()),
                elem => Ok(Elem::Ptr {
                    pointee: elem.memory_bits(),
                }),
            },
            other => Err(format!("{other:?} is not an element type")),
        }
    }
}

impl std::fmt::Display for Elem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Elem::Int(width) => write!(f, "i{width}"),
            Elem::Float(format) => write!(f, "{format:?}"),
            Elem::Ptr { .. } => f.write_str("ptr"),
        }
    }
}

/// A tile's element type and shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileType {
    pub elem: Elem,
    pub shape: Dims,
}

impl TileType {
    pub fn of(module: &Module, id: TypeId) -> Result<TileType, String> {
        let Type::Tile { elem, shape } = module.types.get(id) else {
            return Err("expected a tile".into());
        };
        let count = shape
            .iter()
            .try_fold(1_u64, |n, &extent| n.checked_mul(extent))
            .filter(|&n| n <= MAX_ELEMENTS as u64);
        if count.is_none() {
            return Err(format!("a tile of more than {MAX_ELEMENTS} elements"));
        }
        Ok(TileType {
            elem: Elem::of(module, *elem)?,
            shape: shape.iter().map(|&n| n as usize).collect(),
        })
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn int_width(&self) -> Result<u32, String> {
        match self.elem {
            Elem::Int(width) => Ok(width),
            other => Err(format!("expected integers, not {other}")),
        }
    }

    pub fn float(&self) -> Result<FloatFormat, String> {
        match self.elem {
            Elem::Float(format) => Ok(format),
            other => Err(format!("expected floats, not {other}")),
        }
    }
}

/// Which tiles of a tensor a view selects.
#[derive(Clone, Debug)]
pub struct ViewType {
    pub elem: Elem,
    pub tile: Dims,
    /// Elements from one index to the next, by tile dimension.
    pub step: SmallVec<[u64; 4]>,
    /// The tensor dimension of each tile dimension.
    pub dim_map: Dims,
    /// The tile dimension whose index is a tile of positions.
    pub sparse: Option<usize>,
    pub padding: Option<Padding>,
}

impl ViewType {
    pub fn of(module: &Module, id: TypeId) -> Result<ViewType, String> {
        let (tile, view, dim_map, padding, step, sparse) = match module.types.get(id) {
            Type::PartitionView {
                tile,
                view,
                dim_map,
                padding,
            } => (tile, view, Some(dim_map), padding, Some(tile), None),
            Type::StridedView {
                tile,
                traversal,
                view,
                dim_map,
                padding,
            } => (tile, view, Some(dim_map), padding, Some(traversal), None),
            Type::GatherScatterView {
                tile,
                view,
                sparse_dim,
                padding,
            } => (tile, view, None, padding, None, Some(*sparse_dim as usize)),
            _ => return Err("expected a tile view".into()),
        };
        let tensor = TensorType::of(module, *view)?;
        let rank = tensor.shape.len();
        // An empty map is the identity.
        let dim_map: Dims = match dim_map {
            Some(map) if !map.is_empty() => map.iter().map(|&d| d as usize).collect(),
            _ => (0..rank).collect(),
        };
        let step: SmallVec<[u64; 4]> = match step {
            Some(step) => step.iter().map(|&s| s as u64).collect(),
            // Indices of a gather or scatter count elements.
            None => SmallVec::from_elem(1, rank),
        };
        let consistent = tile.len() == rank
            && step.len() == rank
            && dim_map.len() == rank
            && dim_map.iter().all(|&d| d < rank)
            && sparse.is_none_or(|d| d < rank)
            && tile.iter().all(|&n| n > 0);
        if !consistent {
            return Err("a view whose tile does not fit its tensor's rank".into());
        }
        Ok(ViewType {
            elem: tensor.elem,
            tile: tile.iter().map(|&n| n as usize).collect(),
            step,
            dim_map,
            sparse,
            padding: *padding,
        })
    }
}

/// A tensor view's type; `None` is a dynamic extent or stride.
#[derive(Clone, Debug)]
pub struct TensorType {
    pub elem: Elem,
    pub shape: SmallVec<[Option<u64>; 4]>,
    pub strides: SmallVec<[Option<u64>; 4]>,
}

impl TensorType {
    pub fn of(module: &Module, id: TypeId) -> Result<TensorType, String> {
        let Type::TensorView {
            elem,
            shape,
            strides,
            ..
        } = module.types.get(id)
        else {
            return Err("expected a tensor view".into());
        };
        if shape.len() != strides.len() {
            return Err("a tensor view needs a stride for every extent".into());
        }
        let dims = |dims: &[i64]| dims.iter().map(|&d| u64::try_from(d).ok()).collect();
        Ok(TensorType {
            elem: Elem::of(module, *elem)?,
            shape: dims(shape),
            strides: dims(strides),
        })
    }
}
