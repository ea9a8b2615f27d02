//! `nv_tileas`: architecture-specific. Tiles have layouts, shared memory is explicit, products have
//! chosen their atoms, and asynchronous work is a protocol of pipeline operations.
//!
//! A pipeline has stages; an iteration number selects the stage (`iteration % stages`) and the
//! phase (`iteration / stages`). The producer acquires a stage (waits until it is empty), starts
//! copies into it and commits; the consumer waits until it is full, reads it and releases it.
//!
//! A pipeline of kind `mma` is filled by products: its stages are accumulators in tensor memory. Where one role both
//! issues the products and reads what they compute, acquiring is a barrier of the role's warps.

use super::ResultType::{Explicit, Operand, Token};
use super::def::dialect_table;
use super::{
    AttrDef, AttrKind, OperandDef, RegionDef, ResultDef, Traits, attr, enums, one, op, opt, region,
    result, var,
};

const PURE: Traits = Traits::PURE;
const MEMORY: Traits = Traits::MEMORY.or(Traits::SEGMENTED);
const I32: AttrKind = AttrKind::Int(32);
const ORDER: AttrDef = attr("order", AttrKind::Enum(&enums::ORDERING));
const SCOPE: AttrDef = attr("scope", AttrKind::Enum(&enums::SCOPE)).optional();
const HINTS: AttrDef = attr("hints", AttrKind::Hints).optional();
const MODE: AttrDef = attr("mode", AttrKind::Enum(&enums::RMW_MODE));
const DIM_MAP: AttrDef = attr("dim_map", AttrKind::I32s);
const TRAVERSAL: AttrDef = attr("traversal", AttrKind::I32s);
const INBOUNDS: AttrDef = attr("inbounds", AttrKind::Bools);
const SPARSE: AttrDef = attr("sparse", AttrKind::Int(32)).optional();
const PADDING: AttrDef = attr("padding", AttrKind::Enum(&enums::PADDING)).optional();
const STAGE: &[OperandDef] = &[one("pipeline"), one("iteration")];
const TOKEN: &[ResultDef] = &[result("token", Token)];
const LOADED: &[ResultDef] = &[result("tile", Explicit), result("token", Token)];
const OTHER: &[ResultDef] = &[result("result", Explicit)];
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

dialect_table! { TileAs {
    Func = op("func").attrs(&[attr("sym_name", AttrKind::Str), attr("num_warps", I32), HINTS,
                                    attr("occupancy", I32).optional()])
        .regions(&[region("body")]).traits(Traits::ISOLATED.or(Traits::SYMBOL))
        .doc("A kernel of `num_warps` warps, the producers of its pipelines included. `occupancy`: blocks that should share a multiprocessor, as far as the kernel's registers admit.");
    Return = op("return").operands(&[var("operands")]).traits(Traits::TERMINATOR).doc("Ends the kernel.");

    TiledLoad = op("tiled_load").operands(TILED_LOAD)
        .attrs(&[DIM_MAP, TRAVERSAL, PADDING, ORDER, SCOPE, HINTS, INBOUNDS, SPARSE])
        .results(LOADED).traits(MEMORY).doc("nv_tileaa.tiled_load into a layout.");
    TiledStore = op("tiled_store").operands(TILED_STORE)
        .attrs(&[DIM_MAP, TRAVERSAL, ORDER, SCOPE, HINTS, INBOUNDS, SPARSE])
        .results(TOKEN).traits(MEMORY).doc("nv_tileaa.tiled_store from a layout.");
    TiledAtomic = op("tiled_atomic").operands(TILED_STORE)
        .attrs(&[DIM_MAP, TRAVERSAL, ORDER, SCOPE, MODE, INBOUNDS, SPARSE])
        .results(TOKEN).traits(MEMORY).doc("nv_tileaa.tiled_atomic from a layout.");
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

    ConvertLayout = op("convert_layout").operands(&[one("source")]).results(OTHER).traits(PURE)
        .doc("The same tile in another layout: register renaming, shuffles or a trip through shared memory.");
    AllocTensor = op("alloc_tensor").results(OTHER)
        .doc("A buffer in shared memory, of as many stages as its type says.");
    SharedView = op("shared_view").operands(&[one("source")]).results(OTHER).traits(PURE)
        .doc("A shared buffer with its dimensions permuted: the same bytes.");
    LocalLoad = op("local_load").operands(&[one("source"), opt("iteration")]).results(OTHER)
        .doc("Reads a stage of a shared buffer into a layout (vectors, or ldmatrix where the layout allows).");
    LocalStore = op("local_store").operands(&[one("tile"), one("destination"), opt("iteration")])
        .doc("Writes a tile to a stage of a shared buffer (vectors, or stmatrix where the layout allows).");

    Dot = op("dot").operands(&[one("lhs"), one("rhs"), one("acc")])
        .attrs(&[attr("atom", AttrKind::Enum(&enums::DOT_ATOM)),
                 attr("signed_lhs", AttrKind::Bool), attr("signed_rhs", AttrKind::Bool),
                 attr("by_rows", AttrKind::Unit).optional()])
        .results(&[result("result", Operand(2))]).traits(PURE)
        .doc("Product by mma.sync of the atom's shape, on fragments. `by_rows`: warps share out rows before columns.");

    PipelineCreate = op("async.pipeline.create")
        .attrs(&[attr("kind", AttrKind::Enum(&enums::PIPELINE_KIND)), attr("stages", I32), attr("consumers", I32),
                 attr("bytes", I32)])
        .results(OTHER)
        .doc("A pipeline: `consumers` arrivals empty a stage; with TMA, `bytes` of transactions fill one.");
    ProducerAcquire = op("async.pipeline.producer_acquire").operands(STAGE)
        .doc("Waits until the stage is empty and opens it for filling.");
    ProducerCommit = op("async.pipeline.producer_commit").operands(STAGE)
        .doc("All copies into the stage have been started; it is full when they are done.");
    ConsumerWait = op("async.pipeline.consumer_wait").operands(STAGE).doc("Waits until the stage is full.");
    ConsumerRelease = op("async.pipeline.consumer_release").operands(&[one("pipeline"), one("iteration"), opt("enable")])
        .attrs(&[attr("products", AttrKind::Unit).optional()])
        .doc("This consumer will not read the stage again: the producer may overwrite it. Nothing where the iteration is below zero or `enable` is false. `products`: once the `async.tensor_dot`s issued so far are done; whoever issues them has waited alone.");
    Drain = op("async.pipeline.drain").operands(&[one("pipeline")])
        .doc("Waits until nothing is in flight: the pipeline's buffers are idle from here on.");
    TiledCopy = op("async.tiled_copy")
        .operands(&[one("base"), var("extents"), var("strides"), var("index"), one("destination"), one("pipeline"), one("iteration"), opt("enable")])
        .attrs(&[DIM_MAP, TRAVERSAL, PADDING, INBOUNDS]).traits(MEMORY)
        .doc("Starts cp.async copies of a tile into the stage of a shared buffer; with `enable` false nothing is copied.");
    PointerCopy = op("async.pointer_copy")
        .operands(&[one("pointers"), opt("mask"), one("destination"), one("pipeline"), one("iteration"), opt("enable")])
        .traits(MEMORY)
        .doc("Starts cp.async copies through a tile of pointers into the stage of a shared buffer, zeros where `mask` is false; with `enable` false nothing is copied.");
    TmaLoad = op("async.tiled_tma_load")
        .operands(&[one("base"), var("extents"), var("strides"), var("index"), one("destination"), one("pipeline"), one("iteration")])
        .attrs(&[DIM_MAP, TRAVERSAL, PADDING]).traits(MEMORY)
        .doc("Starts the TMA copies of a tile into the stage of a shared buffer.");
    TmaStore = op("async.tiled_tma_store")
        .operands(&[one("base"), var("extents"), var("strides"), var("index"), one("source")])
        .attrs(&[DIM_MAP, TRAVERSAL]).traits(MEMORY)
        .doc("Starts the TMA copies of a shared buffer to a tile in global memory.");
    StoreWait = op("async.store_wait").attrs(&[attr("complete", AttrKind::Unit).optional()])
        .doc("The thread that starts tensor copies out of shared memory waits until those before have read their buffers; with `complete`, until they have written.");
    ProxyFence = op("async.fence")
        .doc("Makes generic writes to shared memory visible to the asynchronous proxy, for the whole warp role.");
    AsyncDot = op("async.dot")
        .operands(&[one("lhs"), one("rhs"), one("acc"), opt("lhs_iteration"), opt("rhs_iteration"), opt("accumulate")])
        .attrs(&[attr("warpgroups", AttrKind::I32s),
                 attr("signed_lhs", AttrKind::Bool).optional(), attr("signed_rhs", AttrKind::Bool).optional()])
        .results(&[result("result", Operand(2))]).traits(MEMORY)
        .doc("Issues a WGMMA group: fence, mma_async, commit_group. `lhs` is a shared buffer or a tile in registers, `rhs` a shared buffer. The result is in flight until waited for.");
    AllocTensorMemory = op("alloc_tensor_memory").results(OTHER)
        .attrs(&[attr("column", I32).optional()])
        .doc("A buffer in tensor memory, of as many stages as its type says, from a column of the kernel's allocation on.");
    TensorLoad = op("tensor_load").operands(&[one("source"), opt("iteration")]).results(OTHER)
        .doc("Reads a stage of a buffer in tensor memory: `tcgen05.ld`, and the wait for it.");
    TensorStore = op("tensor_store").operands(&[one("tile"), one("destination"), opt("iteration")])
        .doc("Writes a tile to a stage of a buffer in tensor memory: `tcgen05.st`, and the wait for it.");
    TensorDot = op("async.tensor_dot")
        .operands(&[one("lhs"), one("rhs"), one("acc"), opt("lhs_iteration"), opt("rhs_iteration"), opt("acc_iteration"), opt("accumulate")])
        .attrs(&[attr("signed_lhs", AttrKind::Bool).optional(), attr("signed_rhs", AttrKind::Bool).optional()]).traits(MEMORY)
        .doc("Issues `tcgen05.mma`s: adds lhs · rhs to `acc`, a buffer in tensor memory, or with `accumulate` false writes it there. `lhs` is a shared buffer or one in tensor memory, `rhs` a shared buffer. Done when the next commit of a pipeline of kind `mma` has been waited for.");
    AsyncDotWait = op("async.dot_wait").operands(&[one("acc")]).attrs(&[attr("pending", I32)])
        .results(&[result("result", Operand(0))])
        .doc("Waits until at most `pending` groups are in flight.");
    WarpSpecialize = op("async.warp_specialize")
        .attrs(&[attr("producer_registers", I32), attr("consumer_registers", I32), attr("consumer_warps", I32)])
        .regions(&[region("producer"), region("consumer"), RegionDef { name: "products", optional: true }])
        .doc("Splits the block: consumer warps first, then one producer warpgroup, whose second warp issues products where they have a region. Control does not come back together.");
    RoleEnd = op("async.role_end").traits(Traits::TERMINATOR).doc("Ends a warp role.");
}}
