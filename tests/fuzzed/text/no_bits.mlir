entry @e() {
  %0 = "cuda_tile.constant"() <{value = dense<false> : !cuda_tile.tile<i0>}> : () -> !cuda_tile.tile<i1>
}
