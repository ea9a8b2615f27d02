//! Types of every stage, interned.

use super::Padding;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Floating-point formats of Tile IR (13.5).
pub use crate::scalar::FloatFormat as Float;

/// An interned [`Type`]: equal types have equal ids within one module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeId(pub(crate) u32);

/// A dynamic extent or stride, printed `?`. The bytecode stores it as `i64::MIN`.
pub const DYNAMIC: i64 = i64::MIN;

/// An extent or stride: a number or [`DYNAMIC`].
pub type Dim = i64;

/// A type. `cuda_tile` uses the first group; the lower stages add the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// Integer of 1, 4, 8, 16, 32 or 64 bits; signedness belongs to operations.
    Int(u32),
    Float(Float),
    /// Pointer to a scalar element in global memory. `attr` is the 13.4 pointer attribute's case
    /// plus one (0 = none).
    Ptr {
        pointee: TypeId,
        attr: u8,
    },
    /// `shape` empty means a scalar (0-d) tile.
    Tile {
        elem: TypeId,
        shape: SmallVec<[u64; 4]>,
    },
    TensorView {
        elem: TypeId,
        shape: SmallVec<[Dim; 4]>,
        strides: SmallVec<[Dim; 4]>,
        attr: u8,
    },
    PartitionView {
        tile: SmallVec<[i32; 4]>,
        view: TypeId,
        dim_map: SmallVec<[i32; 4]>,
        padding: Option<Padding>,
    },
    StridedView {
        tile: SmallVec<[i32; 4]>,
        traversal: SmallVec<[i32; 4]>,
        view: TypeId,
        dim_map: SmallVec<[i32; 4]>,
        padding: Option<Padding>,
    },
    GatherScatterView {
        tile: SmallVec<[i32; 4]>,
        view: TypeId,
        sparse_dim: i32,
        padding: Option<Padding>,
    },
    Token,
    Function {
        params: Vec<TypeId>,
        results: Vec<TypeId>,
    },
    /// Debug-info-free marker of string attributes in dense constants and the notes' container.
    String,

    // ---- nv_tileas -------------------------------------------------------------------------
    /// A tile with a distribution: `layout` indexes the module's layout table.
    Distributed {
        elem: TypeId,
        shape: SmallVec<[u64; 4]>,
        layout: u32,
    },
    /// A shared-memory buffer of `stages` tiles; `layout` indexes the module's layout table.
    SharedTile {
        elem: TypeId,
        shape: SmallVec<[u64; 4]>,
        layout: u32,
        stages: u32,
    },
    /// A buffer of `stages` matrices in tensor memory, `cell` bits for an element, a lane for each of `lanes` rows (64 or
    /// 128) and further columns for the next ones.
    TensorTile {
        elem: TypeId,
        shape: SmallVec<[u64; 4]>,
        lanes: u32,
        cell: u32,
        stages: u32,
    },
    /// An asynchronous pipeline of `stages` stages (full and empty mbarriers, or cp.async groups).
    Pipeline {
        stages: u32,
    },

    // ---- nvvm and machine ------------------------------------------------------------------
    /// One thread's registers holding `n` elements. A scalar is the element type itself, never `Regs` of 1.
    Regs {
        elem: TypeId,
        n: u32,
    },
    /// A 32-bit address in shared memory.
    SharedPtr,
    /// Address of a tensor map (a grid-constant kernel parameter).
    TensorMap,
}

/// The interner.
#[derive(Default, Clone, Debug)]
pub struct Types {
    list: Vec<Type>,
    ids: FxHashMap<Type, TypeId>,
}

impl Types {
    /// The id of `ty`, the same for equal types.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.ids.get(&ty) {
            return id;
        }
        let id = TypeId(self.list.len() as u32);
        self.list.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    /// The type behind an id of this interner.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.list[id.0 as usize]
    }

    /// Every type, in the order of interning.
    pub fn iter(&self) -> impl Iterator<Item = &Type> {
        self.list.iter()
    }

    /// How many distinct types exist.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether no type was interned yet.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn int(&mut self, bits: u32) -> TypeId {
        self.intern(Type::Int(bits))
    }

    pub fn float(&mut self, f: Float) -> TypeId {
        self.intern(Type::Float(f))
    }

    pub fn tile(&mut self, elem: TypeId, shape: &[u64]) -> TypeId {
        self.intern(Type::Tile {
            elem,
            shape: shape.into(),
        })
    }

    /// `n` registers of `elem`, or `elem` itself when `n` is 1.
    pub fn regs(&mut self, elem: TypeId, n: u32) -> TypeId {
        if n == 1 {
            elem
        } else {
            self.intern(Type::Regs { elem, n })
        }
    }

    /// Element type and shape of a tile-like type (`Tile`, `Distributed`, `SharedTile`, `TensorTile`).
    pub fn as_tile(&self, id: TypeId) -> Option<(TypeId, &[u64])> {
        match self.get(id) {
            Type::Tile { elem, shape }
            | Type::Distributed { elem, shape, .. }
            | Type::SharedTile { elem, shape, .. }
            | Type::TensorTile { elem, shape, .. } => Some((*elem, shape)),
            _ => None,
        }
    }

    /// Element type and extents of constant data: those of a tile, the registers of an array, none of a number.
    pub fn as_constant(&self, id: TypeId) -> Option<(TypeId, SmallVec<[u64; 4]>)> {
        match self.get(id) {
            Type::Regs { elem, n } => Some((*elem, SmallVec::from_slice(&[u64::from(*n)]))),
            Type::Int(_) | Type::Float(_) => Some((id, SmallVec::new())),
            _ => {
                let (elem, shape) = self.as_tile(id)?;
                Some((elem, SmallVec::from_slice(shape)))
            }
        }
    }

    /// The element of a tile or register array; a scalar is its own element.
    pub fn elem(&self, id: TypeId) -> TypeId {
        match self.get(id) {
            Type::Tile { elem, .. }
            | Type::Distributed { elem, .. }
            | Type::SharedTile { elem, .. }
            | Type::TensorTile { elem, .. }
            | Type::Regs { elem, .. } => *elem,
            _ => id,
        }
    }

    /// Bits of one element: integers and floats as stored, pointers 64, shared addresses 32.
    pub fn bits(&self, id: TypeId) -> Option<u32> {
        match self.get(self.elem(id)) {
            Type::Int(n) => Some(*n),
            Type::Float(f) => Some(f.bits()),
            Type::Ptr { .. } | Type::TensorMap => Some(64),
            Type::SharedPtr => Some(32),
            _ => None,
        }
    }

    /// Bits of one element of a type whose elements have bits: what a tile, an array, a pointer's memory is made of, as
    /// the verifier has checked. Anything else is an error in the pass that asks.
    pub fn width(&self, id: TypeId) -> u32 {
        match self.bits(id) {
            Some(bits) => bits,
            None => panic!(
                "internal error: an element of {:?} has no width",
                self.get(id)
            ),
        }
    }

    /// Number of registers of an nvvm value: `n` of a register array, 1 of a scalar.
    pub fn reg_count(&self, id: TypeId) -> u32 {
        match self.get(id) {
            Type::Regs { n, .. } => *n,
            _ => 1,
        }
    }
}
