//! Block-scaled `tcgen05.mma`: its thread copies the scales to tensor memory first.

use super::Lower;
use crate::dialect::enums;
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::facts::tensor::tensor_matrix;
use crate::ir::{Attr, Diagnostic, Op, OpId, ValueId};
use crate::layout::tcgen05;
use crate::layout::tensor_scales::{COPY_COLUMNS, TensorScales};
use crate::lower::build::case;
use crate::lower::tileas::tcgen05::Scaled;
use crate::lower::unsupported;

/// Numbers of `count` steps, each as long as the first.
fn steps(count: u64, each: u64) -> Vec<u64> {
    (0..count).map(|i| i * each).collect()
}

fn list(values: impl IntoIterator<Item = u64>) -> Option<Attr> {
    Some(Attr::I64s(values.into_iter().map(|x| x as i64).collect()))
}

impl Lower<'_> {
    pub(super) fn scaled_tensor_dot(
        &mut self,
        op: OpId,
        v: &view::TensorDot<Op>,
        sources: [ValueId; 2],
        place: ValueId,
    ) -> Result<(), Diagnostic> {
        let (Some(matrix), Some(scaled)) = (
            tensor_matrix(self.m, v.acc()),
            Scaled::of(self.m, v.lhs(), v.rhs(), sources),
        ) else {
            return Err(unsupported(
                self.m,
                op,
                "no block-scaled tcgen05.mma for this matmul",
            ));
        };
        let (m, n) = (matrix.lanes, matrix.columns.min(256));
        let accumulate = v.accumulate().map(|v| self.get(op, v)).transpose()?;
        let [a, b] = scaled.sides;
        let iterations = [v.lhs_scale_iteration(), v.rhs_scale_iteration()];
        self.by_first_thread(|l| {
            let base = l.tensor_address(op, place, None)?;
            l.copy_scales(op, sources[0], iterations[0], &a, (1, base, 0))?;
            l.copy_scales(op, sources[1], iterations[1], &b, (0, base, a.columns()))?;
            let lhs = l.shared_multiplicand(op, 0, v.lhs(), v.lhs_iteration(), m)?;
            let rhs = l.shared_multiplicand(op, 1, v.rhs(), v.rhs_iteration(), n)?;
            let d = l.tensor_address(op, v.acc(), v.acc_iteration())?;
            let count = lhs.k_steps.len() as u64;
            let per = a.along_k / count.max(1);
            let at = |side: &TensorScales, step: u64| side.select(step * per);
            let transposed = [lhs.transposed, rhs.transposed];
            let descriptor = |step: u64| {
                let ids = [at(&a, step).1, at(&b, step).1];
                scaled.format.descriptor([m, n], transposed, ids).into()
            };
            let attrs = [
                case(&enums::TENSOR_KIND, scaled.format.kind),
                l.emit().i32_attr(scaled.format.block as i64),
                list((0..count).map(descriptor)),
                list(steps(matrix.blocks(), matrix.block_columns())),
                list(steps(matrix.columns / n, n)),
                Some(Attr::I64s(lhs.mn_steps)),
                Some(Attr::I64s(lhs.k_steps)),
                Some(Attr::I64s(rhs.mn_steps)),
                Some(Attr::I64s(rhs.k_steps)),
                list(steps(a.blocks, a.block_columns())),
                list((0..count).map(|step| at(&a, step).0)),
                list(
                    steps(b.blocks, b.block_columns())
                        .into_iter()
                        .map(|x| x + a.columns()),
                ),
                list((0..count).map(|step| at(&b, step).0)),
            ];
            let groups: [&[ValueId]; 5] = [
                &[d],
                &[lhs.value],
                &[rhs.value],
                &[base],
                accumulate.as_slice(),
            ];
            l.emit().op(N::TensorMmaScaled, &groups, attrs, &[]);
            Ok(())
        })
    }

    /// Copies scales to the columns from `first` on; `to`: the dimension of K, the address, and that column.
    fn copy_scales(
        &mut self,
        op: OpId,
        source: ValueId,
        iteration: Option<ValueId>,
        side: &TensorScales,
        (k_dim, address, first): (usize, ValueId, u64),
    ) -> Result<(), Diagnostic> {
        let buffer = self.buffer(op, source)?;
        let Some(copies) = side.copies(&buffer.layout, k_dim) else {
            return Err(unsupported(
                self.m,
                op,
                "no tcgen05.cp brings these scales from where they lie",
            ));
        };
        let start = self.emit().smem(buffer.offset);
        let low = self.emit().low_word(start, tcgen05::COPY);
        let from = self.matrix_descriptor(op, iteration, &buffer, low, tcgen05::COPY)?;
        let columns = (0..copies.len() as u64).map(|i| first + i * COPY_COLUMNS);
        let attrs = [list(columns), list(copies.iter().map(|c| c >> 4))];
        self.emit().effect(N::TensorCopy, &[address, from], attrs);
        Ok(())
    }
}
