//! MLIR's generic form, for every dialect.

use super::attrs;
use super::layouts;
use super::quote::quoted;
use super::types::{join, type_text};
use super::writer::Writer;
use crate::dialect::{Arity, Dialect};
use crate::ir::{BlockId, Module, Op, OpId, RegionId, ValueId};

/// The whole module in the generic form.
pub fn print_generic(module: &Module) -> String {
    print(module, false)
}

/// The same, with locations and debug info if that is asked for.
pub(super) fn print(module: &Module, debug_info: bool) -> String {
    write(module, Writer::with_debug_info(module, debug_info)).finish()
}

/// What [`print_generic`] writes.
pub(super) fn write<'m>(module: &'m Module, mut w: Writer<'m>) -> Writer<'m> {
    let mut ops = module.block(module.body).ops.iter();
    let cuda_tile = ops.all(|&op| module.op(op).kind.dialect == Dialect::CudaTile);
    let name = if cuda_tile {
        "cuda_tile.module"
    } else {
        "builtin.module"
    };
    w.str(&layouts::definitions(module));
    w.str(&format!("\"{name}\"() <{{"));
    if let Some(producer) = module.producer {
        w.str(&format!("producer = {}, ", quoted(module.str(producer))));
    }
    w.str(&format!(
        "sym_name = {}}}> ({{\n",
        quoted(module.str(module.name))
    ));
    w.indent += 1;
    for &op in &module.block(module.body).ops {
        operation(&mut w, op);
    }
    w.indent -= 1;
    w.str("}) : () -> ()\n");
    w
}

/// One operation and what it holds; values from outside are numbered from 0 in order of use.
pub fn print_op_generic(module: &Module, op: OpId) -> String {
    let mut w = Writer::new(module);
    for &operand in &module.op(op).operands {
        w.define(operand);
    }
    operation(&mut w, op);
    w.out
}

pub(super) fn operation(w: &mut Writer, id: OpId) {
    let module = w.module;
    let op = module.op(id);
    w.begin_op(op.loc);
    w.line();
    for &result in &op.results {
        w.define(result);
    }
    if !op.results.is_empty() {
        w.values(&op.results);
        w.str(" = ");
    }
    w.str(&format!("\"{}\"(", op.kind));
    w.values(&op.operands);
    w.str(")");
    properties(w, op);
    if !op.regions.is_empty() {
        w.str(" (");
        w.list(&op.regions, |w, &r| region(w, r));
        w.str(")");
    }
    let types = |values: &[ValueId]| {
        join(
            values.iter().map(|&v| type_text(module, module.ty(v))),
            ", ",
        )
    };
    w.str(&format!(" : ({}) -> ", types(&op.operands)));
    w.str(&match op.results.as_slice() {
        [one] => type_text(module, module.ty(*one)).to_string(),
        several => format!("({})", types(several)),
    });
    w.end_op(op.loc);
}

fn properties(w: &mut Writer, op: &Op) {
    let dialect = op.kind.dialect;
    let mut entries: Vec<String> = (op.def().attrs.iter().zip(&op.attrs))
        .filter_map(|(def, attr)| Some((def, attr.as_ref()?)))
        .map(|(def, attr)| {
            format!(
                "{} = {}",
                def.name,
                attrs::generic(w.module, dialect, Some(def.kind), attr)
            )
        })
        .collect();
    let groups = &op.def().operands;
    if groups.iter().filter(|g| g.arity != Arity::One).count() > 1 {
        let sizes = (0..groups.len()).map(|i| op.group(i).len());
        entries.push(format!(
            "operandSegmentSizes = array<i32: {}>",
            join(sizes, ", ")
        ));
    }
    if !entries.is_empty() {
        w.str(&format!(" <{{{}}}>", entries.join(", ")));
    }
}

fn region(w: &mut Writer, region: RegionId) {
    w.str("{");
    let blocks = &w.module.region(region).blocks;
    if !blocks.is_empty() {
        w.str("\n");
    }
    for (i, &b) in blocks.iter().enumerate() {
        block(w, b, i, blocks.len() > 1);
    }
    if !blocks.is_empty() {
        w.line();
    }
    w.str("}");
}

fn block(w: &mut Writer, block: BlockId, index: usize, labelled: bool) {
    let module = w.module;
    let block = module.block(block);
    for &arg in &block.args {
        w.define(arg);
    }
    if labelled || !block.args.is_empty() {
        w.line();
        w.str(&format!("^bb{index}"));
        if !block.args.is_empty() {
            w.str("(");
            w.list(&block.args, |w, &arg| {
                w.value(arg);
                w.str(&format!(": {}", type_text(module, module.ty(arg))));
            });
            w.str(")");
        }
        w.str(":\n");
    }
    w.indent += 1;
    for &op in &block.ops {
        operation(w, op);
    }
    w.indent -= 1;
}
