"cuda_tile.module"() <{sym_name = "kernels"}> ({
  "cuda_tile.entry"() <{sym_name = "hints", function_type = (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<ptr<f32>>) -> ()}> ({
  ^bb0(%0: !cuda_tile.tile<ptr<f32>>, %1: !cuda_tile.tile<ptr<f32>>):
    %2 = "cuda_tile.iota"() : () -> !cuda_tile.tile<64xi32>
    %3 = "cuda_tile.reshape"(%0) : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tile<1xptr<f32>>
    %4 = "cuda_tile.broadcast"(%3) : (!cuda_tile.tile<1xptr<f32>>) -> !cuda_tile.tile<64xptr<f32>>
    %5 = "cuda_tile.offset"(%4, %2) : (!cuda_tile.tile<64xptr<f32>>, !cuda_tile.tile<64xi32>) -> !cuda_tile.tile<64xptr<f32>>
    %6, %7 = "cuda_tile.load_ptr_tko"(%5) <{memory_ordering_semantics = #cuda_tile.memory_ordering_semantics<weak>, optimization_hints = #cuda_tile.optimization_hints<default = {latency = 1 : i33}, sm_90 = {latency = 3 : i32}>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (!cuda_tile.tile<64xptr<f32>>) -> (!cuda_tile.tile<64xf32>, !cuda_tile.token)
    %8 = "cuda_tile.iota"() : () -> !cuda_tile.tile<64xi32>
    %9 = "cuda_tile.reshape"(%1) : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tile<1xptr<f32>>
    %10 = "cuda_tile.broadcast"(%9) : (!cuda_tile.tile<1xptr<f32>>) -> !cuda_tile.tile<64xptr<f32>>
    %11 = "cuda_tile.offset"(%10, %8) : (!cuda_tile.tile<64xptr<f32>>, !cuda_tile.tile<64xi32>) -> !cuda_tile.tile<64xptr<f32>>
    %12 = "cuda_tile.store_ptr_tko"(%11, %6, %7) <{memory_ordering_semantics = #cuda_tile.memory_ordering_semantics<weak>, optimization_hints = #cuda_tile.optimization_hints<default = {latency = 1 : i32}, sm_90 = {latency = 3 : i32}>, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (!cuda_tile.tile<64xptr<f32>>, !cuda_tile.tile<64xf32>, !cuda_tile.token) -> !cuda_tile.token
    "cuda_tile.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
