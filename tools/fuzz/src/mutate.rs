//! Changes to a module that leave it readable: what a change of bytes seldom does. Used by the
//! fuzzers and by `tests/frontend/mutations.rs`.

use tilec::bytecode;
use tilec::dialect::{AttrKind, Dialect, OpKind, Version};
use tilec::ir::{Attr, Dense, EnumAttr, Module, OpId, Type, TypeId, ValueId};
use tilec::rules::Random;

/// What is drawn besides numbers.
struct Draws(Random);

impl Draws {
    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.below(from.len())).copied()
    }

    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    /// An integer that something depends on.
    fn integer(&mut self) -> i64 {
        const SOME: [i64; 18] = [
            0,
            1,
            -1,
            2,
            3,
            4,
            7,
            8,
            16,
            32,
            127,
            -128,
            255,
            1 << 31,
            i32::MIN as i64,
            i64::MAX,
            i64::MIN,
            1 << 40,
        ];
        match self.below(3) {
            0 => 1 << self.below(63),
            1 => self.0.bits() as i64 >> self.below(64),
            _ => SOME[self.below(SOME.len())],
        }
    }
}

/// The bytes of a module like that of `data`, with up to three changes that `seed` chooses.
pub fn module(data: &[u8], seed: u64) -> Option<Vec<u8>> {
    let mut random = Draws(Random::seeded(seed));
    let contents = bytecode::read_full(data).ok()?;
    let mut module = contents.module;
    for _ in 0..=random.below(3) {
        module_change(&mut module, &mut random);
    }
    let newest = random.below(4) == 0;
    let version = if newest {
        Version::V13_5
    } else {
        contents.version
    };
    bytecode::write(&module, version).ok()
}

fn module_change(m: &mut Module, random: &mut Draws) {
    let ops = m.ops_under(m.body);
    let Some(op) = random.pick(&ops) else { return };
    match random.below(8) {
        0 => operand(m, op, random),
        1 | 2 => attribute(m, op, random),
        3 => kind(m, op, random),
        4 => element_type(m, &ops, random),
        5 => extent(m, &ops, random),
        6 => duplicate(m, op, random),
        _ => {
            let used = |v: &ValueId| ops.iter().any(|&o| m.op(o).operands.contains(v));
            if !m.op(op).results.iter().any(used) && ops.len() > 1 {
                m.erase(op);
            }
        }
    }
}

/// Another value of the same type, of those defined before in the same block or its arguments.
fn operand(m: &mut Module, op: OpId, random: &mut Draws) {
    let at = random.below(m.op(op).operands.len());
    let Some(&old) = m.op(op).operands.get(at) else {
        return;
    };
    let block = m.block(m.op(op).block);
    let before = block.ops.iter().take_while(|&&o| o != op);
    let results = before.flat_map(|&o| m.op(o).results.iter());
    let anything = random.below(10) == 0;
    let same: Vec<ValueId> = block
        .args
        .iter()
        .chain(results)
        .copied()
        .filter(|&v| anything || m.ty(v) == m.ty(old))
        .collect();
    if let Some(new) = random.pick(&same) {
        m.op_mut(op).operands[at] = new;
    }
}

fn attribute(m: &mut Module, op: OpId, random: &mut Draws) {
    let def = m.op(op).def();
    let at = random.below(def.attrs.len());
    let Some(attr) = def.attrs.get(at) else {
        return;
    };
    let mut value = m.op(op).attrs.get(at).cloned().flatten();
    if let (Some(_), true) = (&value, attr.optional && random.below(2) == 0) {
        m.op_mut(op).attrs[at] = None;
        return;
    }
    match (&mut value, attr.kind) {
        (None, AttrKind::Unit) => value = Some(Attr::Unit),
        (None, AttrKind::Int(width)) => {
            let ty = m.types.int(width);
            value = Some(Attr::Int {
                value: random.integer(),
                ty,
            });
        }
        (_, AttrKind::Enum(cases)) => {
            value = Some(Attr::Enum(EnumAttr(random.below(cases.cases.len()) as u8)));
        }
        (Some(value), _) => inside(value, random),
        (None, _) => return,
    }
    if let Some(place) = m.op_mut(op).attrs.get_mut(at) {
        *place = value;
    }
}

fn inside(value: &mut Attr, random: &mut Draws) {
    use tilec::ir::AssumePredicate as P;
    match value {
        Attr::Bool(b) => *b = !*b,
        Attr::Int { value, .. } => *value = random.integer(),
        Attr::Float { bits, .. } => *bits = float(random),
        Attr::I32s(list) => change(list, random, |r| r.integer() as i32),
        Attr::I64s(list) => change(list, random, Draws::integer),
        Attr::Bools(list) => change(list, random, |r| r.below(2) == 1),
        Attr::Dense {
            data: Dense::Bytes(bytes),
            ..
        } => {
            let at = random.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = [0, 1, 0x7f, 0x80, 0xff, random.0.bits() as u8][random.below(6)];
            }
        }
        Attr::Assume(P::DivBy {
            divisor,
            every,
            along,
        }) => match random.below(3) {
            0 => *divisor = random.integer() as u64,
            1 => *every = Some(random.integer()),
            _ => *along = Some(random.integer()),
        },
        Attr::Assume(P::SameElements(list)) => change(list, random, Draws::integer),
        Attr::Assume(P::Bounded { lower, upper }) => match random.below(2) {
            0 => *lower = Some(random.integer()),
            _ => *upper = Some(random.integer()),
        },
        Attr::Array(list) => {
            let at = random.below(list.len());
            if let Some(value) = list.get_mut(at) {
                inside(value, random);
            }
        }
        _ => (),
    }
}

fn float(random: &mut Draws) -> u64 {
    const SOME: [u64; 8] = [
        0,
        1 << 63,
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x7f80_0000,
        0x7c00,
        0x3c00,
        1,
    ];
    if random.below(2) == 0 {
        SOME[random.below(SOME.len())]
    } else {
        random.0.bits()
    }
}

fn change<T>(list: &mut Vec<T>, random: &mut Draws, new: impl Fn(&mut Draws) -> T) {
    let at = random.below(list.len() + 1);
    match list.get_mut(at) {
        Some(place) => *place = new(random),
        None => list.push(new(random)),
    }
}

/// Another operation with as many operand groups, results and regions; attributes by name.
fn kind(m: &mut Module, op: OpId, random: &mut Draws) {
    let old = m.op(op).def();
    let table = Dialect::CudaTile.table();
    let like: Vec<usize> = (0..table.len())
        .filter(|&i| {
            let new = &table[i];
            new.operands.len() == old.operands.len()
                && new.results.len() == old.results.len()
                && new.regions.len() == old.regions.len()
        })
        .collect();
    let Some(index) = random.pick(&like) else {
        return;
    };
    let kind = OpKind {
        dialect: Dialect::CudaTile,
        index: index as u8,
    };
    let attrs = kind
        .def()
        .attrs
        .iter()
        .map(|attr| m.op(op).attr_named(attr.name).cloned());
    let attrs = attrs.collect();
    let mut new = m.op(op).clone();
    new.kind = kind;
    new.attrs = attrs;
    for (i, attr) in kind.def().attrs.iter().enumerate() {
        if let (None, AttrKind::Enum(_)) = (&new.attrs[i], attr.kind) {
            new.attrs[i] = Some(Attr::Enum(EnumAttr(0)));
        }
    }
    new.fill_defaults(&mut m.types);
    *m.op_mut(op) = new;
}

/// One element type instead of another, everywhere.
fn element_type(m: &mut Module, ops: &[OpId], random: &mut Draws) {
    let mut scalars: Vec<Type> = [1, 4, 8, 16, 32, 64].map(Type::Int).into();
    scalars.extend(tilec::ir::Float::NAMES.iter().map(|&(f, _)| Type::Float(f)));
    // Of those that stand somewhere: an operand's or result's.
    let values = ops.iter().flat_map(|&op| m.op(op).results.iter());
    let used: Vec<TypeId> = values.map(|&v| m.types.elem(m.ty(v))).collect();
    let Some(from) = random.pick(&used) else {
        return;
    };
    let to = scalars[random.below(scalars.len())].clone();
    let to = m.types.intern(to);
    retype(m, ops, &|m, id| {
        if id == from {
            to
        } else {
            through(m, id, from, to)
        }
    });
}

/// A type in which another element type stands.
fn through(m: &mut Module, id: TypeId, from: TypeId, to: TypeId) -> TypeId {
    let new = |m: &mut Module, t: TypeId| {
        if t == from {
            to
        } else {
            through(m, t, from, to)
        }
    };
    let mut ty = m.types.get(id).clone();
    match &mut ty {
        Type::Ptr { pointee: inner, .. }
        | Type::Tile { elem: inner, .. }
        | Type::TensorView { elem: inner, .. }
        | Type::PartitionView { view: inner, .. }
        | Type::StridedView { view: inner, .. }
        | Type::GatherScatterView { view: inner, .. } => *inner = new(m, *inner),
        Type::Function { params, results } => {
            for ty in params.iter_mut().chain(results) {
                *ty = new(m, *ty);
            }
        }
        _ => return id,
    }
    m.types.intern(ty)
}

/// One extent instead of another, everywhere.
fn extent(m: &mut Module, ops: &[OpId], random: &mut Draws) {
    let from = 1_u64 << random.below(9);
    let to = if random.below(8) == 0 {
        random.integer() as u64
    } else {
        1 << random.below(9)
    };
    retype(m, ops, &|m, id| extents(m, id, from, to));
}

fn extents(m: &mut Module, id: TypeId, from: u64, to: u64) -> TypeId {
    let mut ty = m.types.get(id).clone();
    let replace64 = |list: &mut [i64]| {
        list.iter_mut()
            .filter(|n| **n == from as i64)
            .for_each(|n| *n = to as i64)
    };
    let replace32 = |list: &mut [i32]| {
        list.iter_mut()
            .filter(|n| **n == from as i32)
            .for_each(|n| *n = to as i32)
    };
    match &mut ty {
        Type::Tile { shape, .. } => {
            shape
                .iter_mut()
                .filter(|n| **n == from)
                .for_each(|n| *n = to);
        }
        Type::TensorView { shape, strides, .. } => {
            replace64(shape);
            replace64(strides);
        }
        Type::PartitionView { tile, view, .. } | Type::GatherScatterView { tile, view, .. } => {
            replace32(tile);
            *view = extents(m, *view, from, to);
        }
        Type::StridedView {
            tile,
            traversal,
            view,
            ..
        } => {
            replace32(tile);
            replace32(traversal);
            *view = extents(m, *view, from, to);
        }
        _ => return id,
    }
    m.types.intern(ty)
}

fn retype(m: &mut Module, ops: &[OpId], new: &dyn Fn(&mut Module, TypeId) -> TypeId) {
    for &op in ops {
        let mut values: Vec<ValueId> = m.op(op).results.to_vec();
        for region in m.op(op).regions.clone() {
            for &block in &m.region(region).blocks {
                values.extend(m.block(block).args.iter().copied());
            }
        }
        for value in values {
            let ty = new(m, m.ty(value));
            m.value_mut(value).ty = ty;
        }
        let mut attrs = m.op(op).attrs.clone();
        for attr in attrs.iter_mut().flatten() {
            match attr {
                Attr::Type(ty)
                | Attr::Int { ty, .. }
                | Attr::Float { ty, .. }
                | Attr::Dense { ty, .. } => {
                    *ty = new(m, *ty);
                }
                _ => (),
            }
        }
        m.op_mut(op).attrs = attrs;
    }
}

/// A copy of an operation without regions, beside it.
fn duplicate(m: &mut Module, op: OpId, random: &mut Draws) {
    if !m.op(op).regions.is_empty()
        || m.op(op)
            .def()
            .traits
            .has(tilec::dialect::Traits::TERMINATOR)
    {
        return;
    }
    let block = m.op(op).block;
    let at = m
        .block(block)
        .ops
        .iter()
        .position(|&o| o == op)
        .unwrap_or(0);
    let copy = m.op(op).clone();
    let results: Vec<TypeId> = copy.results.iter().map(|&v| m.ty(v)).collect();
    let mut start = 0;
    let groups: Vec<&[ValueId]> = copy
        .groups
        .iter()
        .map(|&end| {
            let group = &copy.operands[start..end as usize];
            start = end as usize;
            group
        })
        .collect();
    let new = m.at(block, at + 1).op(
        copy.kind,
        &groups,
        copy.attrs.iter().cloned(),
        &results,
        &[],
    );
    // Now and then it takes the place of the first.
    if random.below(2) == 0 {
        let pairs: Vec<_> = copy
            .results
            .iter()
            .copied()
            .zip(m.op(new).results.clone())
            .collect();
        let users = m.ops_under(m.body);
        for (old, new_value) in pairs {
            for &user in &users {
                if user != new && m.op(user).block == block {
                    for v in m.op_mut(user).operands.iter_mut().filter(|v| **v == old) {
                        *v = new_value;
                    }
                }
            }
        }
    }
}
