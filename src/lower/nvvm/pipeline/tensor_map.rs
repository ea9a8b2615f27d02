//! Tensor maps: which boxes of a tensor a copy moves, and the hidden parameters that describe the tensors.

use super::Lower;
use crate::dialect::nvvm::Op as N;
use crate::facts::access::{Access, constant, pointee};
use crate::ir::{Diagnostic, Float, Op, OpId, Type, ValueId};
use crate::launch::{self, Expr};
use crate::layout::shared::Swizzle;
use crate::layout::tma::{TmaBoxes, boxes_for};
use crate::lower::nvvm::shared::Buffer;
use crate::lower::tileas::pipeline;
use crate::lower::unsupported;

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
        let all = Swizzle::ALL.into_iter();
        let found = all
            .filter_map(|s| boxes_for(&buffer.layout, &order, s, blocks).ok())
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

    /// Coordinates of a box's first element, innermost first.
    pub(super) fn tma_coords(
        &mut self,
        op: OpId,
        access: &Access,
        order: &[usize],
        start: &[u64],
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let mut coords = Vec::new();
        for &dim in order {
            let index = self.get(op, access.index[dim])?;
            let mut e = self.emit();
            let index = e.int_cast(index, 32);
            let origin = e.with(
                N::Mul,
                index,
                access.traversal.get(dim).copied().unwrap_or(1),
            );
            coords.push(e.with(N::Add, origin, start[dim] as i64));
        }
        Ok(coords)
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
        let number = |l: &Self, v: Option<ValueId>| v.and_then(|v| l.expr(v)).ok_or_else(|| no(l));
        let base = pipeline::tma::parameter(self.m, self.kernel.func, access.base)
            .ok_or_else(|| no(self))?;
        let mut map = launch::TensorMap {
            param: 0,
            base,
            base_offset: None,
            element: element_name(self.m.types.get(elem)),
            dims: Vec::new(),
            strides_bytes: Vec::new(),
            box_dims: order.iter().map(|&d| boxes.box_extents[d] as u32).collect(),
            element_strides: vec![1; order.len()],
            swizzle: match boxes.swizzle {
                Swizzle::None => launch::Swizzle::None,
                Swizzle::B32 => launch::Swizzle::B32,
                Swizzle::B64 => launch::Swizzle::B64,
                Swizzle::B128 => launch::Swizzle::B128,
            },
            interleave: launch::Interleave::None,
            oob_fill: launch::OobFill::Zero,
            l2_promotion: launch::L2Promotion::B128,
        };
        for (i, &dim) in order.iter().enumerate() {
            map.dims.push(number(self, access.extent(dim))?);
            if i > 0 {
                map.strides_bytes
                    .push(number(self, access.stride(dim))?.times(Expr::Number(bytes)));
            }
        }
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

    /// A launch-time number as an expression over parameters.
    fn expr(&self, value: ValueId) -> Option<Expr> {
        match constant(&self.facts, value) {
            Some(number) => u64::try_from(number).ok().map(Expr::Number),
            None => pipeline::tma::parameter(self.m, self.kernel.func, value).map(Expr::param),
        }
    }
}

fn element_name(ty: &Type) -> String {
    match ty {
        Type::Int(n) => format!("i{n}"),
        Type::Float(f) => Float::name(*f).to_owned(),
        _ => "i64".to_owned(),
    }
}
