//! Operations that rename registers, and the coordinates of a thread's elements.

use super::Lower;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Diagnostic, Op, OpId, ValueId};
use crate::layout::{Layout, LayoutError, addr};
use crate::lower::tileas::Relation;
use crate::lower::unsupported;
use rustc_hash::FxHashMap;

/// The coordinates of a thread's elements along one dimension:
/// `(thread ^ xor[r]) + add[r]` for register r.
#[derive(Clone)]
pub struct Coords {
    /// i32, the same for all registers.
    pub thread: ValueId,
    pub registers: Vec<(u64, u64)>,
}

impl Coords {
    /// Whether some register's coordinate differs by an xor.
    pub fn has_xor(&self) -> bool {
        self.registers.iter().any(|r| r.0 != 0)
    }
}

impl Lower<'_> {
    pub fn layout_error<T>(&self, op: OpId, r: Result<T, LayoutError>) -> Result<T, Diagnostic> {
        r.map_err(|e| unsupported(self.m, op, format!("no layout: {e}")))
    }

    /// Coordinates along `dim` under `layout`.
    pub fn coords(&mut self, op: OpId, layout: &Layout, dim: usize) -> Result<Coords, Diagnostic> {
        let plan = self.layout_error(op, addr::coordinates(layout, dim))?;
        let thread = self.emit().linear(&plan.thread_base);
        Ok(Coords {
            thread,
            registers: plan.registers,
        })
    }

    /// The coordinates of the given registers as an array of i32.
    pub fn coord_array(&mut self, coords: &Coords, registers: &[u32]) -> ValueId {
        let pick = |f: fn(&(u64, u64)) -> u64| -> Vec<i64> {
            registers
                .iter()
                .map(|&r| f(&coords.registers[r as usize]) as i64)
                .collect()
        };
        let (xors, adds) = (pick(|r| r.0), pick(|r| r.1));
        let mut e = self.emit();
        let i32_ty = e.int(32);
        let mut value = coords.thread;
        if xors.iter().any(|&x| x != 0) {
            let xors = e.array(&xors, i32_ty);
            value = e.xor(value, xors);
        }
        let adds = e.array(&adds, i32_ty);
        e.add(value, adds)
    }

    pub(super) fn iota(&mut self, op: OpId, v: &view::Iota<Op>) -> Result<(), Diagnostic> {
        let result = v.result();
        let elem = self.m.types.elem(self.m.ty(result));
        let bits = self.m.types.width(elem);
        let value = match self.layout(result) {
            Some(layout) => {
                let coords = self.coords(op, &layout, 0)?;
                let all: Vec<u32> = (0..layout.registers() as u32).collect();
                let array = self.coord_array(&coords, &all);
                self.emit().int_cast(array, bits)
            }
            None => self.emit().constant(0, elem),
        };
        self.set(result, value);
        Ok(())
    }

    /// Reshape, broadcast, permute: the operand's layout is such that registers are only renamed.
    pub(super) fn renamed(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let (source, result) = (self.m.source(op), self.m.result(op));
        let value = self.get(op, source)?;
        let new = match (self.layout(source), self.layout(result)) {
            (Some(from), Some(to)) => {
                let map = self.register_map(op, &from, &to)?;
                let new = self.emit().take(value, &map);
                self.follow_bytes(value, new, &map);
                new
            }
            (None, Some(to)) => self.emit().widen(value, to.registers() as u32),
            // A tile of one element becomes a scalar.
            (_, None) => self.emit().take(value, &[0]),
        };
        self.set(result, new);
        Ok(())
    }

    /// Elements taken from bytes remain those of bytes where `map` takes both of a byte.
    fn follow_bytes(&mut self, value: ValueId, new: ValueId, map: &[u32]) {
        let pair = |p: &[u32]| match *p {
            [low, high] if low % 2 == 0 && high == low + 1 => Some(low / 2),
            _ => None,
        };
        if let Some(bytes) = self.values.bytes_of(value)
            && let Some(map) = map.chunks(2).map(pair).collect::<Option<Vec<u32>>>()
        {
            let bytes = self.emit().take(bytes, &map);
            self.values.set_bytes_of(new, bytes);
        }
    }

    /// For each register of the result, the register of the source that holds its element.
    pub(super) fn register_map(
        &self,
        op: OpId,
        from: &Layout,
        to: &Layout,
    ) -> Result<Vec<u32>, Diagnostic> {
        let shape = from.shape();
        let relation = Relation::of(self.m, op).unwrap_or(Relation::Reshape);
        let Some(seen) = self.layout_error(op, relation.seen(shape, to))? else {
            return Err(unsupported(self.m, op, "a reduction renames no registers"));
        };
        let mut holders = FxHashMap::default();
        for register in 0..from.registers() {
            let element = from.flat(register, 0, 0);
            holders.entry(element).or_insert(register as u32);
        }
        (0..to.registers())
            .map(|r| holders.get(&seen.flat(r, 0, 0)).copied())
            .collect::<Option<_>>()
            .ok_or_else(|| {
                unsupported(
                    self.m,
                    op,
                    "the layouts differ by more than a renaming of registers",
                )
            })
    }

    /// Pointer plus a number of pointees.
    pub(super) fn offset(&mut self, op: OpId, v: &view::Offset<Op>) -> Result<(), Diagnostic> {
        let (pointer, offset) = (self.get(op, v.ptr())?, self.get(op, v.offset())?);
        let pointee = crate::facts::access::pointee(self.m, v.ptr());
        let bytes = i64::from(self.m.types.width(pointee).div_ceil(8));
        let mut e = self.emit();
        let wide = e.int_cast(offset, 64);
        let scaled = e.with(N::Mul, wide, bytes);
        let value = e.ptr_add(pointer, scaled);
        self.set(v.result(), value);
        Ok(())
    }

    pub(super) fn reinterpret(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let (source, result) = (self.m.source(op), self.m.result(op));
        let value = self.get(op, source)?;
        let elem = self.m.types.elem(self.m.ty(result));
        let same_kind = C::of(self.m.op(op).kind) == Some(C::PtrToPtr);
        debug_assert!(!same_kind || self.m.types.bits(elem) == Some(64));
        let value = self.emit().bitcast(value, elem);
        self.set(result, value);
        Ok(())
    }
}
