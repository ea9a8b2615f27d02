//! `#layout3 = 16x16: reg [(0,1)] lane […] warp […]`: the layouts that types of `nv_tileas` name by number.

use std::collections::BTreeSet;

use crate::ir::{Module, Type, TypeId};

/// The definitions of the layouts that values of the module have, a line each.
pub fn definitions(module: &Module) -> String {
    // As in all modules of cuda_tile, which need not be walked.
    if module.layouts.iter().next().is_none() {
        return String::new();
    }
    let mut used = BTreeSet::new();
    for op in module.ops_under(module.body) {
        let op = module.op(op);
        let regions = op.regions.iter().map(|&r| module.region(r));
        let blocks = regions.flat_map(|r| &r.blocks).map(|&b| module.block(b));
        let values = blocks.flat_map(|b| &b.args).chain(&op.results);
        used.extend(values.filter_map(|&v| layout_of(module, module.ty(v))));
    }
    let line = |&n: &u32| format!("#layout{n} = {}\n", module.layouts.get(n));
    used.iter().map(line).collect()
}

fn layout_of(module: &Module, ty: TypeId) -> Option<u32> {
    match module.types.get(ty) {
        Type::Distributed { layout, .. } | Type::SharedTile { layout, .. } => Some(*layout),
        _ => None,
    }
}
