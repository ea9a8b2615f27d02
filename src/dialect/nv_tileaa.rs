//! `nv_tileaa`: architecture-agnostic. Views are gone: a tiled access names its base pointer,
//! extents, strides and index, all of them values that facts are known about. Elementwise
//! arithmetic, control flow, reductions and matmuls stay the `cuda_tile` operations they were.

use super::ResultType::{Explicit, Operand, Token};
use super::declare::dialect_table;
use super::enums::{Ordering, Padding, Reduction, RmwMode, Scope};
use super::parts::{Bools, Group, Hints, I32s, Int, One, Opt, Str, Var};
use super::{Traits, op, region};

const MEMORY: Traits = Traits::MEMORY.or(Traits::SEGMENTED);
const ATOMIC: Traits = MEMORY.or(Traits::ATOMIC);

dialect_table! { TileAa {
    Func() { sym_name: Str, hints: Option<Hints> }
        = op("func").regions(&[region("body")])
        .traits(Traits::ISOLATED.or(Traits::SYMBOL)).doc("A kernel.");
    Return(operands: Var)
        = op("return").traits(Traits::TERMINATOR).doc("Ends the kernel.");
    TiledLoad(base: One, extents: Var, strides: Var, index: Var, token: Opt)
        { dim_map: I32s, traversal: I32s, padding: Option<Padding>, order: Ordering, scope: Option<Scope>,
          hints: Option<Hints>, inbounds: Bools, sparse: Option<Int<32>> }
        -> (tile: One(Explicit), result_token: One(Token))
        = op("tiled_load").traits(MEMORY).doc("Loads the tile at an index of a strided tensor; elements outside take the padding.");
    TiledStore(base: One, extents: Var, strides: Var, index: Var, tile: One, token: Opt)
        { dim_map: I32s, traversal: I32s, order: Ordering, scope: Option<Scope>, hints: Option<Hints>,
          inbounds: Bools, sparse: Option<Int<32>> }
        -> (result_token: One(Token))
        = op("tiled_store").traits(MEMORY).doc("Stores a tile at an index of a strided tensor; elements outside are dropped.");
    TiledAtomic(base: One, extents: Var, strides: Var, index: Var, tile: One, token: Opt)
        { dim_map: I32s, traversal: I32s, order: Ordering, scope: Option<Scope>, mode: RmwMode, inbounds: Bools,
          sparse: Option<Int<32>> }
        -> (result_token: One(Token))
        = op("tiled_atomic").traits(ATOMIC).doc("Updates the tile at an index atomically.");
    MultimemLoad(base: One, extents: Var, strides: Var, index: Var, token: Opt)
        { dim_map: I32s, traversal: I32s, padding: Option<Padding>, order: Ordering, scope: Option<Scope>,
          reduction: Reduction, inbounds: Bools }
        -> (tile: One(Explicit), result_token: One(Token))
        = op("multimem_load").traits(MEMORY).doc("Loads a tile from every device of a multicast address, combined element by element.");
    MultimemReduce(base: One, extents: Var, strides: Var, index: Var, tile: One, token: Opt)
        { dim_map: I32s, traversal: I32s, order: Ordering, scope: Option<Scope>, reduction: Reduction, inbounds: Bools }
        -> (result_token: One(Token))
        = op("multimem_reduce").traits(MEMORY).doc("Combines a tile into the memory of every device of a multicast address.");
    MultimemStore(base: One, extents: Var, strides: Var, index: Var, tile: One, token: Opt)
        { dim_map: I32s, traversal: I32s, order: Ordering, scope: Option<Scope>, inbounds: Bools }
        -> (result_token: One(Token))
        = op("multimem_store").traits(MEMORY).doc("Stores a tile to the memory of every device of a multicast address.");
    Load(pointers: One, mask: Opt, padding: Opt, token: Opt)
        { order: Ordering, scope: Option<Scope>, hints: Option<Hints> }
        -> (tile: One(Explicit), result_token: One(Token))
        = op("load").traits(MEMORY).doc("Gathers from pointers.");
    Store(pointers: One, value: One, mask: Opt, token: Opt)
        { order: Ordering, scope: Option<Scope>, hints: Option<Hints> }
        -> (result_token: One(Token))
        = op("store").traits(MEMORY).doc("Scatters to pointers.");
    AtomicRmw(pointers: One, value: One, mask: Opt, token: Opt)
        { order: Ordering, scope: Option<Scope>, mode: RmwMode }
        -> (old: One(Operand(1)), result_token: One(Token))
        = op("atomic_rmw")
        .traits(ATOMIC).doc("Atomic read-modify-write through pointers.");
    AtomicCas(pointers: One, compare: One, value: One, mask: Opt, token: Opt)
        { order: Ordering, scope: Option<Scope> }
        -> (old: One(Operand(2)), result_token: One(Token))
        = op("atomic_cas")
        .traits(ATOMIC).doc("Atomic compare-and-swap through pointers.");
}}
