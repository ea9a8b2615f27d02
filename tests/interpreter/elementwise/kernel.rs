//! Kernels that load the operands of a case, compute and store.

use tilec::dialect::cuda_tile::Op;
use tilec::facts::Leaf;
use tilec::facts::semantics::Scalar;
use tilec::ir::{Attr, BlockId, EnumAttr, Module, Type, TypeId, ValueId};

use super::cases::Case;

/// Elements of each tile: several per thread, so that packed forms occur.
pub const ELEMENTS: usize = 512;

/// Bytes of an element in memory: one below 8 bits.
pub fn bytes(scalar: Scalar) -> usize {
    scalar.bits().div_ceil(8) as usize
}

struct Body<'m> {
    module: &'m mut Module,
    block: BlockId,
}

/// Adds the entry `name`, whose parameters are the operands' arrays and the result's.
pub fn add(module: &mut Module, name: &str, case: &Case) {
    let scalars: Vec<Scalar> = case.operands.iter().copied().chain([case.result]).collect();
    let params: Vec<TypeId> = scalars
        .iter()
        .map(|&s| {
            let pointee = element(module, in_memory(s));
            let pointer = module.types.intern(Type::Ptr { pointee, attr: 0 });
            module.types.tile(pointer, &[])
        })
        .collect();
    let region = module.new_region();
    let block = module.new_block(region, &params);
    let name = Attr::Str(module.intern(name));
    let ty = Attr::Type(module.types.intern(Type::Function {
        params,
        results: vec![],
    }));
    let top = module.body;
    let attrs = [Some(name), Some(ty)];
    module.at_end(top).op(Op::Entry, &[], attrs, &[], &[region]);
    let pointers = module.block(block).args.to_vec();
    let mut body = Body { module, block };
    let operands: Vec<ValueId> = case
        .operands
        .iter()
        .zip(&pointers)
        .map(|(&s, &p)| body.load(p, s))
        .collect();
    let attrs: Vec<Option<Attr>> = case.attrs.iter().map(attribute).collect();
    let result = body.tile(case.result);
    let value = body.value(case.op, &operands, attrs, result);
    body.store(pointers[case.operands.len()], value, case.result);
    module.at_end(block).op(Op::Return, &[&[]], [], &[], &[]);
}

fn attribute(leaf: &Leaf) -> Option<Attr> {
    match leaf {
        Leaf::Enum(case) => Some(Attr::Enum(EnumAttr(*case))),
        Leaf::Unit => Some(Attr::Unit),
        _ => None,
    }
}

/// What holds an element in memory: bytes where it is smaller.
fn in_memory(scalar: Scalar) -> Scalar {
    if scalar.bits() < 8 {
        Scalar::Int(8)
    } else {
        scalar
    }
}

fn element(module: &mut Module, scalar: Scalar) -> TypeId {
    match scalar {
        Scalar::Int(bits) => module.types.int(bits),
        Scalar::Float(float) => module.types.float(float),
        other => panic!("{other:?} is no number"),
    }
}

impl Body<'_> {
    fn tile(&mut self, scalar: Scalar) -> TypeId {
        let elem = element(self.module, scalar);
        self.module.types.tile(elem, &[ELEMENTS as u64])
    }

    fn value(&mut self, op: Op, args: &[ValueId], attrs: Vec<Option<Attr>>, ty: TypeId) -> ValueId {
        self.module.at_end(self.block).value(op, args, attrs, ty)
    }

    /// Addresses of all elements.
    fn addresses(&mut self, pointer: ValueId) -> ValueId {
        let scalar = self.module.ty(pointer);
        let elem = self.module.types.elem(scalar);
        let [one, all] = [1, ELEMENTS as u64].map(|n| self.module.types.tile(elem, &[n]));
        let index = self.tile(Scalar::Int(32));
        let index = self.value(Op::Iota, &[], vec![], index);
        let base = self.value(Op::Reshape, &[pointer], vec![], one);
        let base = self.value(Op::Broadcast, &[base], vec![], all);
        self.value(Op::Offset, &[base, index], vec![], all)
    }

    fn load(&mut self, pointer: ValueId, scalar: Scalar) -> ValueId {
        let addresses = self.addresses(pointer);
        let tile = self.tile(in_memory(scalar));
        let token = self.module.types.intern(Type::Token);
        let groups: [&[ValueId]; 4] = [&[addresses], &[], &[], &[]];
        let weak = [Some(Attr::Enum(EnumAttr(0)))];
        let mut at = self.module.at_end(self.block);
        let load = at.op(Op::LoadPtr, &groups, weak, &[tile, token], &[]);
        let loaded = self.module.op(load).results[0];
        if scalar.bits() >= 8 {
            return loaded;
        }
        let bits = self.tile(Scalar::Int(scalar.bits()));
        let small = self.value(Op::TruncI, &[loaded], vec![attribute(&Leaf::Enum(0))], bits);
        match scalar {
            Scalar::Float(_) => {
                let ty = self.tile(scalar);
                self.value(Op::Bitcast, &[small], vec![], ty)
            }
            _ => small,
        }
    }

    fn store(&mut self, pointer: ValueId, mut value: ValueId, scalar: Scalar) {
        if scalar.bits() < 8 {
            let bits = self.tile(Scalar::Int(scalar.bits()));
            if let Scalar::Float(_) = scalar {
                value = self.value(Op::Bitcast, &[value], vec![], bits);
            }
            let byte = self.tile(Scalar::Int(8));
            value = self.value(Op::ExtI, &[value], vec![attribute(&Leaf::Enum(0))], byte);
        }
        let addresses = self.addresses(pointer);
        let token = self.module.types.intern(Type::Token);
        let groups: [&[ValueId]; 4] = [&[addresses], &[value], &[], &[]];
        let weak = [Some(Attr::Enum(EnumAttr(0)))];
        let mut at = self.module.at_end(self.block);
        at.op(Op::StorePtr, &groups, weak, &[token], &[]);
    }
}
