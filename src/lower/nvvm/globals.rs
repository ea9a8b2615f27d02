//! Data of the module: globals, and constants that differ from thread to thread.

use super::Lower;
use super::emit::AccessAttrs;
use crate::dialect::cuda_tile::view;
use crate::dialect::enums::{Cache, Ordering, Scope, Space};
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Dense, Diagnostic, Module, Name, Op, OpId, Type, TypeId, ValueId};
use crate::layout::shared::SharedLayout;
use crate::layout::{Layout, addr};
use crate::lower::unsupported;

/// Least alignment of module data: vectors of 16 bytes.
const ALIGNMENT: i64 = 16;

/// `cuda_tile.global` as `nvvm.global`.
pub fn lower(m: &mut Module, op: OpId) -> Result<(), Diagnostic> {
    let data = m.op(op).clone();
    let Some(v) = view::Global::of(&data) else {
        return Ok(());
    };
    let Attr::Dense {
        data: Dense::Bytes(bytes),
        ty,
    } = v.value()
    else {
        return Err(unsupported(m, op, "a global whose value is not numbers"));
    };
    let (name, ty) = (v.sym_name(), *ty);
    let elements = m.types.as_tile(ty).map_or(1, |t| t.1.iter().product());
    let bits = m.types.width(ty);
    let bytes = packed(bytes, bits, elements);
    let alignment = v.alignment().max(ALIGNMENT);
    let attrs = global_attrs(m, name, bytes, alignment);
    m.become_op(op, N::Global, attrs);
    Ok(())
}

/// Elements as memory holds them: splats written out, four-bit elements two to a byte.
fn packed(bytes: &[u8], bits: u32, elements: u64) -> Vec<u8> {
    let element = bits.div_ceil(8) as usize;
    let whole: Vec<u8> = if bytes.len() == element {
        bytes.repeat(elements as usize)
    } else {
        bytes.to_vec()
    };
    if bits != 4 {
        return whole;
    }
    let join = |pair: &[u8]| pair.iter().rev().fold(0, |byte, &v| byte << 4 | v & 15);
    whole.chunks(2).map(join).collect()
}

fn global_attrs(m: &mut Module, name: Name, bytes: Vec<u8>, alignment: i64) -> [Option<Attr>; 3] {
    let size = bytes.len() as u32;
    splat_attrs(m, name, bytes, size, alignment)
}

/// Of a global of `size` bytes: these, or one that is repeated.
fn splat_attrs(
    m: &mut Module,
    name: Name,
    bytes: Vec<u8>,
    size: u32,
    alignment: i64,
) -> [Option<Attr>; 3] {
    let (i8_ty, i64_ty) = (m.types.int(8), m.types.int(64));
    let ty = m.types.regs(i8_ty, size);
    [
        Some(Attr::Str(name)),
        Some(Attr::Dense {
            data: Dense::Bytes(bytes),
            ty,
        }),
        Some(Attr::Int {
            value: alignment,
            ty: i64_ty,
        }),
    ]
}

impl Lower<'_> {
    pub(super) fn get_global(&mut self, v: &view::GetGlobal<Op>) -> Result<(), Diagnostic> {
        let ty = self.m.types.elem(self.m.ty(v.result()));
        let name = Some(Attr::Str(v.name()));
        let value = self.emit().get(N::AddressOf, &[], [name], ty);
        self.set(v.result(), value);
        Ok(())
    }

    /// A global of `bytes` zeros; its address.
    pub(super) fn zeroed_data(&mut self, name: &str, bytes: u64, alignment: i64) -> ValueId {
        let (name, byte) = (self.m.intern(name), self.m.types.int(8));
        let attrs = splat_attrs(self.m, name, vec![0], bytes as u32, alignment);
        self.global(name, attrs, byte)
    }

    pub(super) fn pointer_to(&mut self, pointee: TypeId) -> TypeId {
        self.m.types.intern(Type::Ptr { pointee, attr: 0 })
    }

    fn global(&mut self, name: Name, attrs: [Option<Attr>; 3], elem: TypeId) -> ValueId {
        let body = self.m.body;
        let loc = self.loc();
        let mut b = self.m.at(body, 0);
        b.loc = loc;
        b.op(N::Global, &[], attrs, &[], &[]);
        let pointer = self.pointer_to(elem);
        self.emit()
            .get(N::AddressOf, &[], [Some(Attr::Str(name))], pointer)
    }

    /// A new global of `bytes`, read-only; a pointer to its elements.
    pub fn constant_data(&mut self, bytes: Vec<u8>, elem: TypeId) -> ValueId {
        let body = self.m.body;
        let number = self.m.block(body).ops.len();
        let name = self.m.intern(&format!("__tilec_constant_{number}"));
        let attrs = global_attrs(self.m, name, bytes, ALIGNMENT);
        self.global(name, attrs, elem)
    }

    /// A constant of different elements, `bytes` in row-major order, each in whole bytes.
    pub(super) fn dense_constant(
        &mut self,
        op: OpId,
        bytes: Vec<u8>,
        elem: TypeId,
        layout: &Layout,
    ) -> Result<ValueId, Diagnostic> {
        let shape = layout.shape();
        let element = self.m.types.width(elem).div_ceil(8) as usize;
        if bytes.len() as u64 != shape.elements() * element as u64 {
            return Err(unsupported(
                self.m,
                op,
                "a constant of fewer bytes than its type has",
            ));
        }
        let stored = self.stored(elem);
        let order = shape.row_major_order();
        let memory = SharedLayout::row_major(shape, &order, 8 * element as u32);
        let memory = self.layout_error(op, memory)?;
        let plan = addr::plan(layout, &memory, 128);
        let plan = self.layout_error(op, plan)?;
        let n = layout.registers() as u32;
        let ty = self.m.types.regs(stored, n);
        let value = if plan.thread_base.is_empty() {
            let at = |r: u64| memory.byte_offset(&layout.coords(r, 0, 0)) as usize;
            let own = (0..layout.registers())
                .flat_map(|r| bytes[at(r)..at(r) + element].to_vec())
                .collect();
            self.emit().bytes(own, ty)
        } else {
            let base = self.constant_data(bytes, stored);
            self.load_constant(base, &plan, ty)
        };
        Ok(self.from_bytes(value, elem))
    }

    fn load_constant(&mut self, base: ValueId, plan: &addr::AccessPlan, ty: TypeId) -> ValueId {
        let (places, offsets) = self.access_places(&plan.thread_base, &plan.groups);
        let mut e = self.emit();
        let places = e.int_cast(places, 64);
        let address = e.ptr_add(base, places);
        let attrs = AccessAttrs {
            space: Space::Global,
            vec: plan.vector_elems,
            offsets,
            cache: Cache::Default,
            order: Ordering::Weak,
            scope: Scope::Device,
        };
        let order = super::shared::order(&plan.groups);
        let elem = e.m.types.elem(ty);
        let loaded = e.m.types.regs(elem, order.len() as u32);
        let attrs = attrs.list(&mut e);
        let value = e.get(N::Ld, &[&[address], &[], &[]], attrs, loaded);
        let back = super::shared::back(&order, &plan.copies);
        self.emit().take(value, &back)
    }
}
