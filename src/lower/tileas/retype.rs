//! Tiles that are loaded as one type and used as another of the same bits are loaded as the other.
//!
//! Programs whose arrays know no bf16 and no 8-bit floats (NumPy's do not) pass integers and reinterpret the tiles. What
//! looks for a load behind a matmul's operand then meets the load, and stores find what computed their tile.

use crate::dialect::cuda_tile::Op as C;
use crate::dialect::enums::Padding;
use crate::dialect::nv_tileas::{Op as S, view::View};
use crate::facts::access::pointee;
use crate::ir::{BlockId, Module, OpId, Type, TypeId, ValueId};
use crate::lower::tileas::look::{behind, place};
use rustc_hash::FxHashMap;

/// Rewrites every such load and store under `body`.
pub fn absorb(m: &mut Module, body: BlockId) {
    let mut bases = Bases::default();
    let all = |m: &Module, kinds: [S; 2]| {
        let is = |&o: &OpId| S::of(m.op(o).kind).is_some_and(|kind| kinds.contains(&kind));
        m.ops_under(body).into_iter().filter(is).collect::<Vec<_>>()
    };
    for op in all(m, [S::TiledLoad, S::Load]) {
        load(m, op, &mut bases);
    }
    for op in all(m, [S::TiledStore, S::Store]) {
        store(m, op, &mut bases);
    }
}

/// A load all of whose uses reinterpret the tile as the same type.
fn load(m: &mut Module, op: OpId, bases: &mut Bases) {
    let (tile, pointers, padding) = match View::of(m.op(op)) {
        // No other padding has the same bits in every type.
        Some(View::TiledLoad(v)) if matches!(v.padding(), None | Some(Padding::Zero)) => {
            (v.tile(), v.base(), None)
        }
        Some(View::Load(v)) => (v.tile(), v.pointers(), v.padding()),
        _ => return,
    };
    let mut uses = Uses::of(is_bitcast);
    let Some(elem) = uses.follow(m, tile) else {
        return;
    };
    if let Some(padding) = padding {
        let other = recast(m, op, padding, elem);
        replace(m, op, padding, other);
    }
    uses.load_as(m, op, pointers, elem, bases);
}

/// A store of a tile that was reinterpreted for it.
fn store(m: &mut Module, op: OpId, bases: &mut Bases) {
    let (tile, pointers) = match View::of(m.op(op)) {
        Some(View::TiledStore(v)) => (v.tile(), v.base()),
        Some(View::Store(v)) => (v.value(), v.pointers()),
        _ => return,
    };
    let bitcast = m.def_op(tile).filter(|&o| is_bitcast(m, o));
    let Some(bitcast) = bitcast else {
        return;
    };
    let from = m.source(bitcast);
    let other = bases.of(m, pointers, m.types.elem(m.ty(from)));
    replace(m, op, pointers, other);
    replace(m, op, tile, from);
    if m.users(tile).is_empty() {
        m.erase(bitcast);
    }
}

/// What becomes of a loaded tile before it is converted.
pub(super) struct Uses {
    /// Which operations convert it.
    converts: fn(&Module, OpId) -> bool,
    /// the tile, and what only shows it otherwise
    shown: Vec<ValueId>,
    conversions: Vec<OpId>,
}

impl Uses {
    pub fn of(converts: fn(&Module, OpId) -> bool) -> Uses {
        Uses {
            converts,
            shown: Vec::new(),
            conversions: Vec::new(),
        }
    }

    /// The type as which all uses see a tile; `None` where they see several, or numbers of its own type.
    pub fn follow(&mut self, m: &Module, tile: ValueId) -> Option<TypeId> {
        self.shown.push(tile);
        let mut seen = None;
        for user in m.users(tile) {
            let elem = match C::of(m.op(user).kind) {
                _ if (self.converts)(m, user) => {
                    self.conversions.push(user);
                    m.types.elem(m.ty(m.result(user)))
                }
                Some(C::Reshape | C::Permute | C::Broadcast) => self.follow(m, m.result(user))?,
                _ => return None,
            };
            if *seen.get_or_insert(elem) != elem {
                return None;
            }
        }
        seen
    }

    /// Loads the tile that `load` loads as one of `elem`, and takes the conversions away.
    pub fn load_as(
        self,
        m: &mut Module,
        load: OpId,
        pointers: ValueId,
        elem: TypeId,
        bases: &mut Bases,
    ) {
        let other = bases.of(m, pointers, elem);
        replace(m, load, pointers, other);
        for value in self.shown {
            m.value_mut(value).ty = with_elem(m, value, elem);
        }
        for conversion in self.conversions {
            let (from, to) = (m.source(conversion), m.result(conversion));
            m.replace_all_uses(to, from);
            m.erase(conversion);
        }
    }
}

/// Addresses under the type that is loaded from them: each made once, where the addresses are.
#[derive(Default)]
pub(super) struct Bases(FxHashMap<(ValueId, TypeId), ValueId>);

impl Bases {
    fn of(&mut self, m: &mut Module, pointers: ValueId, elem: TypeId) -> ValueId {
        if pointee(m, pointers) == elem {
            return pointers;
        }
        if let Some(&found) = self.0.get(&(pointers, elem)) {
            return found;
        }
        let (block, at) = behind(m, pointers);
        let attr = match m.types.get(m.types.elem(m.ty(pointers))) {
            Type::Ptr { attr, .. } => *attr,
            _ => 0,
        };
        let pointer = m.types.intern(Type::Ptr {
            pointee: elem,
            attr,
        });
        let ty = with_elem(m, pointers, pointer);
        let made = m.at(block, at).value(C::PtrToPtr, &[pointers], [], ty);
        self.0.insert((pointers, elem), made);
        made
    }
}

/// A tile's bits as another type, made in front of `op`.
fn recast(m: &mut Module, op: OpId, tile: ValueId, elem: TypeId) -> ValueId {
    let ty = with_elem(m, tile, elem);
    let (block, at) = place(m, op);
    m.at(block, at).value(C::Bitcast, &[tile], [], ty)
}

/// The type of a tile of other elements.
fn with_elem(m: &mut Module, tile: ValueId, elem: TypeId) -> TypeId {
    let shape = m.types.as_tile(m.ty(tile)).map(|(_, shape)| shape.to_vec());
    m.types.tile(elem, &shape.unwrap_or_default())
}

fn is_bitcast(m: &Module, op: OpId) -> bool {
    C::of(m.op(op).kind) == Some(C::Bitcast)
}

fn replace(m: &mut Module, op: OpId, old: ValueId, new: ValueId) {
    m.replace_operands(op, &[(old, new)].into_iter().collect());
}
