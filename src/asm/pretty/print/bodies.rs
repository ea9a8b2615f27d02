//! Operations with regions: kernels, loops, branches, reductions.

use super::Printer;
use crate::asm::attrs;
use crate::asm::quote::symbol;
use crate::asm::types::{bare_type, join};
use crate::dialect::cuda_tile::Op as CudaTile;
use crate::ir::{Attr, BlockId, LocId, Op, RegionId, Type, TypeId, ValueId};

impl<'m> Printer<'m> {
    pub(super) fn entry(&mut self, op: &Op) {
        let module = self.module();
        if let Some(Attr::Str(name)) = op.attr_named("sym_name") {
            let text = symbol(module.str(*name));
            self.text(&text);
        }
        let body = op
            .regions
            .first()
            .and_then(|&r| module.region(r).blocks.first());
        let args = body.map_or(&[][..], |&b| &module.block(b).args);
        self.parameters(args, op.attr_named("arg_attrs"));
        if let Some(Attr::Type(ty)) = op.attr_named("function_type") {
            self.function_results(*ty);
        }
        if let Some(Attr::Hints(hints)) = op.attr_named("optimization_hints")
            && !hints.is_empty()
        {
            let text = format!(" optimization_hints={}", attrs::hints(module, hints));
            self.text(&text);
        }
        self.w.str(" ");
        self.region(op, 0, None);
    }

    fn function_results(&mut self, ty: TypeId) {
        let module = self.module();
        if let Type::Function { results, .. } = module.types.get(ty)
            && !results.is_empty()
        {
            let list = join(results.iter().map(|&t| bare_type(&module.types, t)), ", ");
            self.text(&format!(" -> ({list})"));
        }
    }

    /// `(%a: type, …)`, defining the values.
    fn arguments(&mut self, args: &[ValueId]) {
        let module = self.module();
        args.iter().for_each(|&a| self.w.define(a));
        self.w.str("(");
        self.w.list(args, |w, &a| {
            w.value(a);
            w.str(&format!(": {}", bare_type(&module.types, module.ty(a))));
        });
        self.w.str(")");
    }

    /// `(%a: type {x.y = 1 : i32}, …)`, defining the values.
    fn parameters(&mut self, args: &[ValueId], attrs: Option<&Attr>) {
        let module = self.module();
        let mut dictionaries = match attrs {
            Some(Attr::Array(items)) => items.iter(),
            _ => [].iter(),
        };
        args.iter().for_each(|&a| self.w.define(a));
        self.w.str("(");
        self.w.list(args, |w, &a| {
            w.value(a);
            w.str(&format!(": {}", bare_type(&module.types, module.ty(a))));
            if let Some(Attr::Dict(entries)) = dictionaries.next()
                && !entries.is_empty()
            {
                w.str(&format!(" {}", attrs::discardable(module, entries)));
            }
        });
        self.w.str(")");
    }

    fn body_args(&self, op: &Op) -> &'m [ValueId] {
        let module = self.module();
        let block = op
            .regions
            .first()
            .and_then(|&r| module.region(r).blocks.first());
        block.map_or(&[], |&b| &module.block(b).args)
    }

    /// `iter_values(%inner = %outer, …)`.
    fn iter_values(&mut self, inner: &[ValueId], outer: &[ValueId]) {
        inner.iter().for_each(|&a| self.w.define(a));
        self.text("iter_values(");
        self.w.list(inner.iter().zip(outer), |w, (&a, &b)| {
            w.value(a);
            w.str(" = ");
            w.value(b);
        });
        self.w.str(")");
    }

    pub(super) fn for_loop(&mut self, op: &Op) {
        let args = self.body_args(op);
        let (induction, carried) = args.split_at(args.len().min(1));
        induction.iter().for_each(|&a| self.w.define(a));
        self.values(induction);
        self.text(" in (");
        self.values(op.group(0));
        self.text(" to ");
        self.values(op.group(1));
        self.text(", step ");
        self.values(op.group(2));
        let ty = self.types(induction);
        self.text(&format!(") : {ty} "));
        if !op.group(3).is_empty() {
            self.iter_values(carried, op.group(3));
            let types = self.types(op.group(3));
            self.text(&format!(" -> ({types}) "));
        }
        self.region(op, 0, Some(CudaTile::Continue));
    }

    pub(super) fn loop_op(&mut self, op: &Op) {
        let initial = op.group(0);
        if !initial.is_empty() {
            self.iter_values(self.body_args(op), initial);
            self.space = true;
        }
        if !initial.is_empty() || !op.results.is_empty() {
            self.text(":");
            self.space = true;
        }
        let (given, yielded) = (self.types(initial), self.types(&op.results));
        self.text(&given);
        if !initial.is_empty() && !op.results.is_empty() {
            self.text(" ->");
        }
        self.space = true;
        self.text(&yielded);
        self.space = true;
        self.text("");
        self.w.str(" ");
        self.space = false;
        self.region(op, 0, Some(CudaTile::Continue));
    }

    pub(super) fn branches(&mut self, op: &Op) {
        self.w.str(" ");
        self.space = false;
        self.region(op, 0, Some(CudaTile::Yield));
        let module = self.module();
        if op
            .regions
            .get(1)
            .is_some_and(|&r| !module.region(r).blocks.is_empty())
        {
            self.w.str(" else ");
            self.region(op, 1, Some(CudaTile::Yield));
        }
    }

    pub(super) fn combination(&mut self, op: &Op) {
        self.w.blank();
        self.w.str("\n");
        self.w.line();
        self.space = false;
        self.arguments(self.body_args(op));
        self.w.str(" ");
        self.region(op, 0, None);
    }

    /// A region; a terminator of kind `implicit` without operands is left out.
    fn region(&mut self, op: &Op, i: usize, implicit: Option<CudaTile>) {
        self.space = false;
        self.w.str("{\n");
        self.w.indent += 1;
        let blocks = op
            .regions
            .get(i)
            .map(|&r: &RegionId| self.module().region(r).blocks.clone());
        for block in blocks.unwrap_or_default() {
            self.block(block, implicit, op.loc);
        }
        self.w.indent -= 1;
        self.w.line();
        self.w.str("}");
    }

    /// `parent`: the location that the parser gives an implicit terminator.
    pub(super) fn block(&mut self, block: BlockId, implicit: Option<CudaTile>, parent: LocId) {
        let module = self.module();
        let ops = &module.block(block).ops;
        let elided = ops.last().is_some_and(|&last| {
            let last = module.op(last);
            let located = self.w.aliases.is_some() && last.loc != parent;
            implicit.is_some()
                && CudaTile::of(last.kind) == implicit
                && last.operands.is_empty()
                && !located
        });
        let shown = if elided { &ops[..ops.len() - 1] } else { ops };
        shown.iter().for_each(|&op| self.operation(op));
    }
}
