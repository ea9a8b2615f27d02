//! Tensor maps: which boxes of a tensor a copy moves, and the hidden parameters that describe the tensors.

use super::Lower;
use crate::dialect::enums::Predicate;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::{Access, pointee};
use crate::ir::{Diagnostic, Float, Op, OpId, Type, ValueId};
use crate::launch::{self, Expr};
use crate::layout::shared::Swizzle;
use crate::layout::tma::{Cut, TmaBoxes, boxes_for};
use crate::lower::nvvm::shared::Buffer;
use crate::lower::tileas::pipeline::described::{self, Described, ROWS};
use crate::lower::tileas::pipeline::sum::Sum;
use crate::lower::unsupported;
use crate::scalar::Signedness;

impl Lower<'_> {
    /// The boxes of a tiled access, at least as many as `blocks`.
    pub(super) fn tma_boxes(
        &self,
        op: OpId,
        data: &Op,
        buffer: &Buffer,
        blocks: u64,
    ) -> Result<(Access, Vec<usize>, TmaBoxes), Diagnostic> {
        let Some(access) = Access::of(data) else {
            return Err(unsupported(self.m, op, "not a tiled access"));
        };
        let order = access.order(&self.facts);
        let cut = Cut {
            blocks,
            pages: access.sparse,
        };
        let all = Swizzle::ALL.into_iter();
        let found = all
            .filter_map(|s| boxes_for(&buffer.layout, &order, s, cut).ok())
            .next();
        match found {
            Some(boxes) => Ok((access, order, boxes)),
            None => Err(unsupported(
                self.m,
                op,
                "the buffer's layout is not one that TMA can fill",
            )),
        }
    }

    /// Coordinates of a tile's first element, innermost first, zero along a dimension that gathers; behind those of its own
    /// dimensions, what a slice adds ([`described`]).
    pub(super) fn tma_origin(
        &mut self,
        op: OpId,
        access: &Access,
        order: &[usize],
        buffer: &Buffer,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let mut origin = Vec::new();
        for &dim in order {
            if access.sparse == Some(dim) {
                origin.push(self.emit().i32(0));
                continue;
            }
            let index = self.get(op, access.index[dim])?;
            let mut e = self.emit();
            let index = e.int_cast(index, 32);
            let step = access.traversal.get(dim).copied().unwrap_or(1);
            origin.push(e.with(N::Mul, index, step));
        }
        let Ok(described) = self.tensor_described(op, access) else {
            return Ok(origin);
        };
        if let Some(column) = self.sum(op, &described.column)?
            && let Some(first) = origin.first_mut()
        {
            *first = self.emit().add(*first, column);
        }
        let Some(slice) = described.slice else {
            return Ok(origin);
        };
        let Some(at) = order.iter().position(|&d| d == slice.dim) else {
            return Ok(origin);
        };
        let row = origin[at];
        let rest = self.rows_left(op, access, slice.dim, row, buffer)?;
        let mut e = self.emit();
        let rows = e.i32(ROWS);
        origin[at] = e.binary(N::Sub, rows, rest);
        let mut behind = e.add(row, rest);
        if let Some(start) = self.sum(op, &slice.start)? {
            behind = self.emit().add(start, behind);
        }
        origin.extend([behind, rows]);
        Ok(origin)
    }

    /// A sum in 32 bits; `None`: zero.
    fn sum(&mut self, op: OpId, sum: &Sum) -> Result<Option<ValueId>, Diagnostic> {
        let mut all = match sum.plus {
            0 => None,
            plus => Some(self.emit().i32(plus)),
        };
        for &(value, times) in &sum.terms {
            let value = self.get(op, value)?;
            let mut e = self.emit();
            let value = e.int_cast(value, 32);
            let term = e.with(N::Mul, value, times);
            all = Some(match all {
                Some(all) => e.add(all, term),
                None => term,
            });
        }
        Ok(all)
    }

    /// Rows from `row` to the end of what `dim` walks, as many as the tile has at most; none where `row` is outside.
    fn rows_left(
        &mut self,
        op: OpId,
        access: &Access,
        dim: usize,
        row: ValueId,
        buffer: &Buffer,
    ) -> Result<ValueId, Diagnostic> {
        let tile = buffer.layout.shape().extent(dim) as i64;
        let no = || unsupported(self.m, op, "a tensor map of a tensor without extents");
        let extent = access.extent(dim).ok_or_else(no)?;
        let mut extent = self.get(op, extent)?;
        let mut e = self.emit();
        let all = e.i32(tile);
        if access.inbounds.get(dim) == Some(&true) {
            return Ok(all);
        }
        if e.m.types.width(e.m.ty(extent)) > 32 {
            extent = e.with(N::MinS, extent, i64::from(i32::MAX));
        }
        let extent = e.int_cast(extent, 32);
        let left = e.binary(N::Sub, extent, row);
        let left = e.binary(N::MinS, left, all);
        let inside = e.icmp(Predicate::LessThan, Signedness::Unsigned, row, extent);
        let (none, ty) = (e.i32(0), e.m.ty(left));
        Ok(e.get(N::Select, &[&[inside], &[left], &[none]], [], ty))
    }

    /// How a tensor map describes what `access` goes to.
    pub(super) fn tensor_described(
        &self,
        op: OpId,
        access: &Access,
    ) -> Result<Described, Diagnostic> {
        described::described(self.m, self.kernel.func, op, access, &self.facts)
            .map_err(|why| unsupported(self.m, op, why))
    }

    /// The hidden parameter of the tensor map that a tiled access needs, made on first use.
    pub(super) fn tensor_map(
        &mut self,
        op: OpId,
        access: &Access,
        order: &[usize],
        boxes: &TmaBoxes,
        buffer: &Buffer,
    ) -> Result<ValueId, Diagnostic> {
        let elem = pointee(self.m, access.base);
        let bytes = u64::from(buffer.layout.element_bits() / 8);
        let no = |l: &Self| {
            unsupported(
                l.m,
                op,
                "a tensor map needs the tensor's numbers to be parameters or constants",
            )
        };
        let known = |l: &Self, v| described::number(l.m, l.kernel.func, v, &l.facts);
        let number =
            |l: &Self, v: Option<ValueId>| v.and_then(|v| known(l, v)).ok_or_else(|| no(l));
        let Described {
            base,
            column,
            slice,
            ..
        } = self.tensor_described(op, access)?;
        let whole_row = match column.is_zero() {
            true => None,
            false => Some(described::row_in_memory(access, &self.facts).ok_or_else(|| no(self))?),
        };
        let mut map = launch::TensorMap {
            param: 0,
            base,
            base_offset: None,
            element: element_name(self.m.types.get(elem)),
            dims: Vec::new(),
            strides_bytes: Vec::new(),
            box_dims: order.iter().map(|&d| boxes.box_extents[d] as u32).collect(),
            element_strides: Vec::new(),
            swizzle: match boxes.swizzle {
                Swizzle::None => launch::Swizzle::None,
                Swizzle::B32 => launch::Swizzle::B32,
                Swizzle::B64 => launch::Swizzle::B64,
                Swizzle::B128 => launch::Swizzle::B128,
                Swizzle::B128Atom32 => launch::Swizzle::B128Atom32,
            },
            interleave: launch::Interleave::None,
            oob_fill: launch::OobFill::Zero,
            l2_promotion: launch::L2Promotion::B128,
        };
        for (i, &dim) in order.iter().enumerate() {
            let sliced = slice.as_ref().is_some_and(|s| s.dim == dim);
            map.dims.push(match whole_row {
                _ if sliced => Expr::Number(ROWS as u64),
                Some(row) if i == 0 => Expr::Number(row),
                _ => number(self, access.extent(dim))?,
            });
            if i > 0 {
                let stride = number(self, access.stride(dim))?.times(Expr::Number(bytes));
                map.strides_bytes.push(stride);
            }
        }
        if let Some(slice) = slice {
            let stride = number(self, access.stride(slice.dim))?.times(Expr::Number(bytes));
            let back = Expr::Number(described::WRAP).minus(stride.clone());
            map.dims
                .extend([described::BEHIND, described::BEHIND].map(Expr::Number));
            map.strides_bytes.extend([stride, back]);
            map.box_dims.extend([1, 1]);
        }
        map.element_strides = vec![1; map.dims.len()];
        let same = |old: &launch::TensorMap| {
            launch::TensorMap {
                param: 0,
                ..old.clone()
            } == map
        };
        if let Some((_, value)) = self.asynchronous.maps.iter().find(|(old, _)| same(old)) {
            return Ok(*value);
        }
        let ty = self.m.types.intern(Type::TensorMap);
        let value = self.m.add_arg(self.kernel.entry, ty);
        map.param = self.m.block(self.kernel.entry).args.len() as u32 - 1;
        self.asynchronous.maps.push((map, value));
        Ok(value)
    }
}

fn element_name(ty: &Type) -> String {
    match ty {
        Type::Int(n) => format!("i{n}"),
        Type::Float(f) => Float::name(*f).to_owned(),
        _ => "i64".to_owned(),
    }
}
