//! `nv_tileas`: architecture-specific. Tiles have layouts, shared memory is explicit, matmuls have
//! chosen their atoms, and asynchronous work is a protocol of pipeline operations.
//!
//! A pipeline has stages; an iteration number selects the stage (`iteration % stages`) and the
//! phase (`iteration / stages`). The producer acquires a stage (waits until it is empty), starts
//! copies into it and commits; the consumer waits until it is full, reads it and releases it.
//!
//! A pipeline of kind `mma` is filled by matmuls: its stages are accumulators in tensor memory. Where one role both
//! issues the matmuls and reads what they compute, acquiring is a barrier of the role's warps.

use super::ResultType::{Explicit, Operand, Token};
use super::declare::dialect_table;
use super::enums::{DotAtom, Ordering, Padding, PipelineKind, Reduction, RmwMode, Scope};
use super::parts::{Bool, Bools, Flag, Group, Hints, I32s, Int, One, Opt, Str, Var};
use super::{RegionDef, Traits, op, region};

const PURE: Traits = Traits::PURE;
const MEMORY: Traits = Traits::MEMORY.or(Traits::SEGMENTED);
const ATOMIC: Traits = MEMORY.or(Traits::ATOMIC);
const ASYNC: Traits = Traits::ASYNC;
const STEP: Traits = Traits::ASYNC.or(Traits::STEP);

dialect_table! { TileAs {
    Func() { sym_name: Str, num_warps: Int<32>, hints: Option<Hints>, occupancy: Option<Int<32>>,
             cluster: Option<Int<32>> }
        = op("func")
        .regions(&[region("body")]).traits(Traits::ISOLATED.or(Traits::SYMBOL))
        .doc("A kernel of `num_warps` warps, the producers of its pipelines included. `occupancy`: blocks that should share a multiprocessor, as far as the kernel's registers admit. `cluster`: blocks that execute one tile block together; one where there is none.");
    Return(operands: Var)
        = op("return").traits(Traits::TERMINATOR).doc("Ends the kernel.");

    ClusterRank() -> (result: One(Explicit))
        = op("cluster_rank").traits(PURE).doc("The number of this block in its cluster.");

    Numbers(values: Var) -> (tile: One(Explicit))
        = op("numbers").traits(PURE)
        .doc("A tile of one dimension with these elements, for a copy that gathers: whoever starts it is one thread.");
    RoleInvariant(value: One, inputs: Var) { number: Int<32> } -> (result: One(Operand(0)))
        = op("role_invariant").traits(PURE)
        .doc("`value`, a single number that each warp role computes of `inputs` in its own way, as tiles or one by one. Those of one `number` and of equal `inputs` are equal.");
    TiledLoad(base: One, extents: Var, strides: Var, index: Var, token: Opt)
        { dim_map: I32s, traversal: I32s, padding: Option<Padding>, order: Ordering, scope: Option<Scope>,
          hints: Option<Hints>, inbounds: Bools, sparse: Option<Int<32>>, wide_atoms: Flag }
        -> (tile: One(Explicit), result_token: One(Token))
        = op("tiled_load").traits(MEMORY)
        .doc("nv_tileaa.tiled_load into a layout. `wide_atoms`: matmuls in tensor memory read the tile across its rows, which the swizzle of a buffer keeps together by 32 bytes.");
    TiledStore(base: One, extents: Var, strides: Var, index: Var, tile: One, token: Opt)
        { dim_map: I32s, traversal: I32s, order: Ordering, scope: Option<Scope>, hints: Option<Hints>,
          inbounds: Bools, sparse: Option<Int<32>> }
        -> (result_token: One(Token))
        = op("tiled_store").traits(MEMORY).doc("nv_tileaa.tiled_store from a layout.");
    TiledAtomic(base: One, extents: Var, strides: Var, index: Var, tile: One, token: Opt)
        { dim_map: I32s, traversal: I32s, order: Ordering, scope: Option<Scope>, mode: RmwMode, inbounds: Bools,
          sparse: Option<Int<32>> }
        -> (result_token: One(Token))
        = op("tiled_atomic").traits(ATOMIC).doc("nv_tileaa.tiled_atomic from a layout.");
    MultimemLoad(base: One, extents: Var, strides: Var, index: Var, token: Opt)
        { dim_map: I32s, traversal: I32s, padding: Option<Padding>, order: Ordering, scope: Option<Scope>,
          reduction: Reduction, inbounds: Bools }
        -> (tile: One(Explicit), result_token: One(Token))
        = op("multimem_load").traits(MEMORY).doc("nv_tileaa.multimem_load into a layout.");
    MultimemReduce(base: One, extents: Var, strides: Var, index: Var, tile: One, token: Opt)
        { dim_map: I32s, traversal: I32s, order: Ordering, scope: Option<Scope>, reduction: Reduction, inbounds: Bools }
        -> (result_token: One(Token))
        = op("multimem_reduce").traits(MEMORY).doc("nv_tileaa.multimem_reduce from a layout.");
    MultimemStore(base: One, extents: Var, strides: Var, index: Var, tile: One, token: Opt)
        { dim_map: I32s, traversal: I32s, order: Ordering, scope: Option<Scope>, inbounds: Bools }
        -> (result_token: One(Token))
        = op("multimem_store").traits(MEMORY).doc("nv_tileaa.multimem_store from a layout.");
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

    ConvertLayout(source: One) -> (result: One(Explicit))
        = op("convert_layout").traits(PURE)
        .doc("The same tile in another layout: register renaming, shuffles or a trip through shared memory.");
    AllocTensor() { byte: Option<Int<32>> } -> (result: One(Explicit))
        = op("alloc_tensor")
        .doc("A buffer in shared memory, of as many stages as its type says. `byte`: of the bytes that operands of matmuls share, the first that it has.");
    SharedView(source: One) -> (result: One(Explicit))
        = op("shared_view").traits(PURE)
        .doc("A shared buffer as one of other dimensions or elements: the same bytes.");
    LocalLoad(source: One, iteration: Opt) -> (result: One(Explicit))
        = op("local_load")
        .doc("Reads a stage of a shared buffer into a layout (vectors, or ldmatrix where the layout allows).");
    LocalStore(tile: One, destination: One, iteration: Opt, pipeline: Opt)
        = op("local_store")
        .doc("Writes a tile to a stage of a shared buffer (vectors, or stmatrix where the layout allows). `pipeline`: of kind `registers`, whose stage it fills.");

    Dot(lhs: One, rhs: One, acc: One)
        { atom: DotAtom, signed_lhs: Bool, signed_rhs: Bool, fast_acc: Flag, by_rows: Flag,
          promoted: Flag, parts: Option<Int<32>>, paired_rows: Flag, paired_columns: Option<Int<32>> }
        -> (result: One(Operand(2)))
        = op("dot").traits(PURE)
        .doc("Matmul by mma.sync of the atom's shape, on fragments. `fast_acc`: its sums may have as few bits as the instruction's. `by_rows`: warps share out rows before columns. `promoted`: the instruction's sums have fewer bits than f32; the product starts from zero and is added in f32. `parts`: into so many parts of the result one after the other, of which each is used up before the next. `paired_rows`: the instruction's rows r and r + 8 are rows 2r and 2r + 1 of `lhs` and of the result. `paired_columns`: columns c of so many neighbouring instructions are neighbours in `rhs` and in the result.");
    ScaledDot(lhs: One, rhs: One, acc: One, lhs_scale: One, rhs_scale: One)
        { atom: DotAtom, by_rows: Flag }
        -> (result: One(Operand(2)))
        = op("scaled_dot").traits(PURE)
        .doc("Matmul by block-scaled mma.sync of the atom's shape: acc + (lhs · lhs_scale) · (rhs · rhs_scale), each scale for a block of elements along K.");

    PipelineCreate()
        { kind: PipelineKind, stages: Int<32>, consumers: Int<32>, bytes: Int<32>, blocks: Option<Int<32>>, pair: Flag,
          copiers: Option<Int<32>>, unfollowed: Flag, handed_over: Flag }
        -> (result: One(Explicit))
        = op("async.pipeline.create").traits(STEP)
        .doc("A pipeline: `consumers` arrivals empty a stage; with TMA, `bytes` of transactions fill one. `blocks` of a cluster fill each other's stages: one is empty when it is in all of them. `pair`: a stage is one of the cluster's two blocks together. With TMA the first block's matmuls wait for the copies of both and hand the stage back in both; of kind `mma` its matmuls fill it in both, and wait for the consumers of both. `copiers`: with TMA, the producer's warps, which copy a part of each stage by themselves; a stage is full when their copies are done, too, and whoever has waited for it may read it through the asynchronous proxy. `unfollowed`: of kind `cp_async`, no access to global memory waits for what the copies have read, so that threads which read only their own copies wait for these alone. `handed_over`: of kind `mma`, the consumers release an iteration before its matmuls acquire it: what these read and write is theirs until they are waited for.");
    ProducerAcquire(pipeline: One, iteration: One) { behind_writes: Flag }
        = op("async.pipeline.producer_acquire").traits(STEP)
        .doc("Waits until the stage is empty and opens it for filling. `behind_writes`: tensor copies into it find what was written to global memory before whoever emptied the stage did so.");
    ProducerCommit(pipeline: One, iteration: One)
        = op("async.pipeline.producer_commit").traits(STEP)
        .doc("All copies into the stage have been started; it is full when they are done.");
    ConsumerWait(pipeline: One, iteration: One)
        = op("async.pipeline.consumer_wait").traits(STEP).doc("Waits until the stage is full.");
    ConsumerRelease(pipeline: One, iteration: One, enable: Opt) { matmuls: Flag }
        = op("async.pipeline.consumer_release").traits(STEP)
        .doc("This consumer will not read the stage again: the producer may overwrite it. Nothing where the iteration is below zero or `enable` is false. `matmuls`: once the `async.tensor_dot`s issued so far are done; whoever issues them has waited alone.");
    Drain(pipeline: One)
        = op("async.pipeline.drain").traits(STEP)
        .doc("Waits until nothing is in flight: the pipeline's buffers are idle from here on.");
    TiledCopy(base: One, extents: Var, strides: Var, index: Var, destination: One, pipeline: One,
          iteration: One, enable: Opt)
        { dim_map: I32s, traversal: I32s, padding: Option<Padding>, inbounds: Bools }
        = op("async.tiled_copy").traits(MEMORY.or(ASYNC))
        .doc("Starts cp.async copies of a tile into the stage of a shared buffer; with `enable` false nothing is copied.");
    PointerCopy(pointers: One, mask: Opt, destination: One, pipeline: One, iteration: One, enable: Opt)
        = op("async.pointer_copy")
        .traits(MEMORY.or(ASYNC))
        .doc("Starts cp.async copies through a tile of pointers into the stage of a shared buffer, zeros where `mask` is false; with `enable` false nothing is copied.");
    TmaLoad(base: One, extents: Var, strides: Var, index: Var, destination: One, pipeline: One, iteration: One)
        { dim_map: I32s, traversal: I32s, padding: Option<Padding>, multicast: Flag, sparse: Option<Int<32>> }
        = op("async.tiled_tma_load").traits(MEMORY.or(ASYNC))
        .doc("Starts the TMA copies of a tile into the stage of a shared buffer. `multicast`: each block of the cluster copies its part of the tile into the stages of all. `sparse`: the tile dimension that gathers, whose index are `numbers`.");
    TmaStore(base: One, extents: Var, strides: Var, index: Var, source: One) { dim_map: I32s, traversal: I32s }
        = op("async.tiled_tma_store").traits(MEMORY.or(ASYNC))
        .doc("Starts the TMA copies of a shared buffer to a tile in global memory.");
    StoreWait() { complete: Flag }
        = op("async.store_wait").traits(ASYNC)
        .doc("The thread that starts tensor copies out of shared memory waits until those before have read their buffers; with `complete`, until they have written.");
    ProxyFence = op("async.fence").traits(ASYNC)
        .doc("Makes generic writes to shared memory visible to the whole warp role and, on targets that have it, to the asynchronous proxy.");
    WarpSync = op("async.warp_sync").traits(ASYNC)
        .doc("The threads of each warp meet, behind what one of them did alone. Assemblers then know that they go on together.");
    AsyncDot(lhs: One, rhs: One, acc: One, lhs_iteration: Opt, rhs_iteration: Opt, accumulate: Opt)
        { warpgroups: I32s, signed_lhs: Option<Bool>, signed_rhs: Option<Bool>, fresh: Flag, promoted: Flag,
          paired: Flag, part: Option<Int<32>> }
        -> (result: One(Operand(2)))
        = op("async.dot").traits(MEMORY.or(ASYNC))
        .doc("Issues a WGMMA group: fence, mma_async, commit_group. `lhs` is a shared buffer or a tile in registers, `rhs` a shared buffer. The result is in flight until waited for. `paired`: the instruction's rows r and r + 8 are rows 2r and 2r + 1 of `lhs`, which is in registers, and of the result. `fresh`: what `acc` holds does not count, the product is written. `promoted`: the instruction's sums have fewer bits than f32, and the product starts from zero. With `fresh`, an addition follows the wait; with `part`, that many columns are multiplied at a time, waited for and added in f32. `part` of one that is not promoted: that many columns of 64 rows are multiplied at a time and waited for, to be used up before the next.");
    AllocTensorMemory() { column: Option<Int<32>> } -> (result: One(Explicit))
        = op("alloc_tensor_memory")
        .doc("A buffer in tensor memory, of as many stages as its type says, from a column of the kernel's allocation on.");
    TensorLoad(source: One, iteration: Opt, part: Opt) -> (result: One(Explicit))
        = op("tensor_load")
        .doc("Reads a stage of a buffer in tensor memory: `tcgen05.ld`, and the wait for it. With `part`, the result has a part of the columns, and this is its number.");
    TensorStore(tile: One, destination: One, iteration: Opt)
        = op("tensor_store")
        .doc("Writes a tile to a stage of a buffer in tensor memory: `tcgen05.st`, and the wait for it.");
    TensorDot(lhs: One, rhs: One, acc: One, lhs_iteration: Opt, rhs_iteration: Opt, acc_iteration: Opt,
          accumulate: Opt, lhs_scale: Opt, rhs_scale: Opt, lhs_scale_iteration: Opt, rhs_scale_iteration: Opt,
          scales: Opt)
        { signed_lhs: Option<Bool>, signed_rhs: Option<Bool>, pair: Flag }
        = op("async.tensor_dot").traits(MEMORY.or(ASYNC))
        .doc("Issues `tcgen05.mma`s: adds lhs · rhs to `acc`, a buffer in tensor memory, or with `accumulate` false writes it there. `lhs` is a shared buffer or one in tensor memory, `rhs` a shared buffer. `lhs_scale` and `rhs_scale`, shared buffers, are scales for blocks along K; they are copied to the buffer `scales` in tensor memory first. Done when the next commit of a pipeline of kind `mma` has been waited for. `pair`: the first of the cluster's two blocks multiplies for both. `lhs` and `acc` are rows of each, `rhs` is a half of the columns in each.");
    AsyncDotWait(acc: One) { pending: Int<32> } -> (result: One(Operand(0)))
        = op("async.dot_wait").traits(ASYNC)
        .doc("Waits until at most `pending` groups are in flight.");
    WarpSpecialize() { producer_registers: Int<32>, consumer_registers: Int<32>, consumer_warps: Int<32> }
        = op("async.warp_specialize")
        .regions(&[region("producer"), region("consumer"), RegionDef { name: "matmuls", optional: true }, RegionDef { name: "further_matmuls", optional: true }]).traits(ASYNC)
        .doc("Splits the block: consumer warps first, then those of the producer: one thread of them runs it, or all where they copy. The second warp issues matmuls where these have a region, and the third one where further ones have one. Control does not come back together.");
    RoleEnd = op("async.role_end").traits(Traits::TERMINATOR.or(ASYNC)).doc("Ends a warp role.");
}}
