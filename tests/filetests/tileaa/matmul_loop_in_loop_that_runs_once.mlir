// A loop that runs once around a loop with a matmul is its body, as where a persistent kernel has one tile for each block.
// The innermost loop around a matmul stays, even where it runs once: pipelines bring what the matmul reads.
// run: compile --emit nv_tileaa
// show: cuda_tile.for | dot | mmaf | store
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %va = make_tensor_view %a, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %pa = make_partition_view %va : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %vb = make_tensor_view %b, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %pb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %vo = make_tensor_view %o, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %po = make_partition_view %vo : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  for %t in (%c0 to %c1, step %c1) : tile<i32> {
    %sum = for %k in (%c0 to %c1, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
      %l, %tl = load_view_tko weak %pa[%t, %k] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %r, %tr = load_view_tko weak %pb[%k, %t] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %s : tile<64x64xf32>
    }
    %d = store_view_tko weak %sum, %po[%t, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    continue
  }
  return
}
