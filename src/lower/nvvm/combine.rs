//! The bodies of reductions and scans: elementwise ones on whole arrays, others register by register.

use super::Lower;
use crate::dialect::Traits;
use crate::dialect::cuda_tile::Op as C;
use crate::dialect::cuda_tile::view::View;
use crate::ir::{BlockId, Diagnostic, Op, OpId, ValueId};
use crate::lower::unsupported;

impl Lower<'_> {
    /// The region's combination of new elements with what there is so far, which it takes first, on whole arrays.
    pub(super) fn combine(
        &mut self,
        op: OpId,
        body: BlockId,
        new: Vec<ValueId>,
        so_far: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let n = new.first().map_or(1, |&v| self.emit().count(v));
        let pairs: Vec<ValueId> = new
            .into_iter()
            .zip(so_far)
            .flat_map(|(new, so_far)| [so_far, new])
            .collect();
        let ops = &self.m.block(body).ops;
        if n == 1 || ops.iter().all(|&o| self.m.op(o).regions.is_empty()) {
            return self.combine_arrays(op, body, &pairs, n);
        }
        // Control flow differs from element to element.
        let mut parts: Vec<Vec<ValueId>> = Vec::new();
        for register in 0..n {
            let scalars: Vec<ValueId> = pairs
                .iter()
                .map(|&v| self.emit().take(v, &[register]))
                .collect();
            parts.push(self.combine_arrays(op, body, &scalars, 1)?);
        }
        let results = parts.first().map_or(0, Vec::len);
        Ok((0..results)
            .map(|r| {
                let registers: Vec<ValueId> = parts.iter().map(|p| p[r]).collect();
                self.emit().concat(&registers)
            })
            .collect())
    }

    /// The body on arrays of `n` registers; with control flow, on scalars.
    fn combine_arrays(
        &mut self,
        op: OpId,
        body: BlockId,
        pairs: &[ValueId],
        n: u32,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        for (arg, &value) in self.m.block(body).args.clone().into_iter().zip(pairs) {
            self.set(arg, value);
        }
        for inner in self.m.block(body).ops.clone() {
            let data = self.m.op(inner).clone();
            if data.results.iter().any(|&r| self.layout(r).is_some()) {
                return Err(self.not_combined(inner));
            }
            match View::of(&data) {
                Some(View::Yield(v)) => {
                    let results: Result<Vec<_>, _> =
                        v.operands().iter().map(|&v| self.get(op, v)).collect();
                    return Ok(results?
                        .into_iter()
                        .map(|v| self.emit().widen(v, n))
                        .collect());
                }
                Some(View::Constant(v)) => {
                    self.constant(inner, &v)?;
                    let scalar = self.get(op, v.result())?;
                    let wide = self.emit().widen(scalar, n);
                    self.set(v.result(), wide);
                }
                Some(View::If(_)) => {
                    self.only_scalars(inner)?;
                    self.op(inner)?;
                }
                _ => self.body_op(inner, &data, n)?,
            }
        }
        Err(unsupported(
            self.m,
            op,
            "the reduction's body does not end with yield",
        ))
    }

    /// An elementwise operation of the body on arrays of `n` registers.
    fn body_op(&mut self, op: OpId, data: &Op, n: u32) -> Result<(), Diagnostic> {
        if !data.def().traits.has(Traits::ELEMENTWISE) {
            return Err(self.not_combined(op));
        }
        let mut operands = Vec::new();
        for &v in &data.operands {
            let value = self.get(op, v)?;
            operands.push(self.emit().widen(value, n));
        }
        let elem = self.m.types.elem(self.m.ty(data.results[0]));
        let ty = self.m.types.regs(elem, n);
        let new = self.emit().like(data, &operands, &[ty]);
        let result = self.m.result(new);
        self.set(data.results[0], result);
        Ok(())
    }

    fn not_combined(&self, op: OpId) -> Diagnostic {
        unsupported(self.m, op, "not yet compiled to PTX inside a reduction")
    }

    /// Refuses what threads can do only together, anywhere inside `op`: each goes its own way there.
    fn only_scalars(&self, op: OpId) -> Result<(), Diagnostic> {
        for &region in &self.m.op(op).regions {
            for &block in &self.m.region(region).blocks {
                for inner in self.m.ops_under(block) {
                    let kind = self.m.op(inner).kind;
                    let fits = kind.def().traits.has(Traits::ELEMENTWISE)
                        || matches!(C::of(kind), Some(C::If | C::Yield | C::Constant));
                    if !fits {
                        return Err(self.not_combined(inner));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether threads may take different ways through `op`: it is inside a reduction or scan, whose
    /// elements they share out.
    pub(super) fn is_divergent(&self, op: OpId) -> bool {
        let mut holder = self.m.parent_op(op);
        while let Some(outer) = holder {
            if matches!(C::of(self.m.op(outer).kind), Some(C::Reduce | C::Scan)) {
                return true;
            }
            holder = self.m.parent_op(outer);
        }
        false
    }
}
