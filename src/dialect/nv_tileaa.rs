//! `nv_tileaa`: architecture-agnostic. Views are gone: a tiled access names its base pointer,
//! extents, strides and index, all of them values that facts are known about. Elementwise
//! arithmetic, control flow, reductions and products stay the `cuda_tile` operations they were.

use super::ResultType::{Explicit, Operand, Token};
use super::def::dialect_table;
use super::{
    AttrDef, AttrKind, OperandDef, ResultDef, Traits, attr, enums, one, op, opt, region, result,
    var,
};

const MEMORY: Traits = Traits::MEMORY.or(Traits::SEGMENTED);
const ORDER: AttrDef = attr("order", AttrKind::Enum(&enums::ORDERING));
const SCOPE: AttrDef = attr("scope", AttrKind::Enum(&enums::SCOPE)).optional();
const HINTS: AttrDef = attr("hints", AttrKind::Hints).optional();
const MODE: AttrDef = attr("mode", AttrKind::Enum(&enums::RMW_MODE));
/// Tensor dimension that each tile dimension walks.
const DIM_MAP: AttrDef = attr("dim_map", AttrKind::I32s);
/// Elements from one index to the next, for each tile dimension.
const TRAVERSAL: AttrDef = attr("traversal", AttrKind::I32s);
/// Tile dimensions whose index is known to lie inside the tensor.
const INBOUNDS: AttrDef = attr("inbounds", AttrKind::Bools);
/// Tile dimension whose index is a tile of element numbers (gather and scatter).
const SPARSE: AttrDef = attr("sparse", AttrKind::Int(32)).optional();
const TOKEN: &[ResultDef] = &[result("token", Token)];
const LOADED: &[ResultDef] = &[result("tile", Explicit), result("token", Token)];
/// Extents and strides have one value per tensor dimension, the index one per tile dimension.
const TILED_LOAD: &[OperandDef] = &[
    one("base"),
    var("extents"),
    var("strides"),
    var("index"),
    opt("token"),
];
const TILED_STORE: &[OperandDef] = &[
    one("base"),
    var("extents"),
    var("strides"),
    var("index"),
    one("tile"),
    opt("token"),
];

dialect_table! { TileAa {
    Func = op("func").attrs(&[attr("sym_name", AttrKind::Str), HINTS]).regions(&[region("body")])
        .traits(Traits::ISOLATED.or(Traits::SYMBOL)).doc("A kernel.");
    Return = op("return").operands(&[var("operands")]).traits(Traits::TERMINATOR).doc("Ends the kernel.");
    TiledLoad = op("tiled_load").operands(TILED_LOAD)
        .attrs(&[DIM_MAP, TRAVERSAL, attr("padding", AttrKind::Enum(&enums::PADDING)).optional(), ORDER, SCOPE, HINTS, INBOUNDS, SPARSE])
        .results(LOADED).traits(MEMORY).doc("Loads the tile at an index of a strided tensor; elements outside take the padding.");
    TiledStore = op("tiled_store").operands(TILED_STORE)
        .attrs(&[DIM_MAP, TRAVERSAL, ORDER, SCOPE, HINTS, INBOUNDS, SPARSE])
        .results(TOKEN).traits(MEMORY).doc("Stores a tile at an index of a strided tensor; elements outside are dropped.");
    TiledAtomic = op("tiled_atomic").operands(TILED_STORE)
        .attrs(&[DIM_MAP, TRAVERSAL, ORDER, SCOPE, MODE, INBOUNDS, SPARSE])
        .results(TOKEN).traits(MEMORY).doc("Updates the tile at an index atomically.");
    Load = op("load").operands(&[one("pointers"), opt("mask"), opt("padding"), opt("token")])
        .attrs(&[ORDER, SCOPE, HINTS]).results(LOADED).traits(MEMORY).doc("Gathers from pointers.");
    Store = op("store").operands(&[one("pointers"), one("value"), opt("mask"), opt("token")])
        .attrs(&[ORDER, SCOPE, HINTS]).results(TOKEN).traits(MEMORY).doc("Scatters to pointers.");
    AtomicRmw = op("atomic_rmw").operands(&[one("pointers"), one("value"), opt("mask"), opt("token")])
        .attrs(&[ORDER, SCOPE, MODE]).results(&[result("old", Operand(1)), result("token", Token)])
        .traits(MEMORY).doc("Atomic read-modify-write through pointers.");
    AtomicCas = op("atomic_cas").operands(&[one("pointers"), one("compare"), one("value"), opt("mask"), opt("token")])
        .attrs(&[ORDER, SCOPE]).results(&[result("old", Operand(2)), result("token", Token)])
        .traits(MEMORY).doc("Atomic compare-and-swap through pointers.");
}}
