// A tile that is computed once and that a matmul in each of two loops reads: both read it in one buffer.
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: alloc_tensor" | local_store | "cuda_tile.for" | tensor_dot | "cuda_tile.continue"
entry @k(%x: tile<ptr<f16>>, %a: tile<ptr<f16>>, %y: tile<ptr<f32>>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %vx = make_tensor_view %px, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %tx = make_partition_view %vx : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 512], strides = [512, 1] : tensor_view<64x512xf16, strides=[512,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<64x512xf16, strides=[512,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f32>>
  %vy = make_tensor_view %py, shape = [256, 512], strides = [512, 1] : tensor_view<256x512xf32, strides=[512,1]>
  %ty = make_partition_view %vy : partition_view<tile=(128x64), tensor_view<256x512xf32, strides=[512,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %i, %i1, %i2 = get_tile_block_id : tile<i32>
  %l, %e = load_view_tko weak %tx[%i, %c0] : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %t = addf %l, %l rounding<nearest_even> : tile<128x64xf16>
  for %j1 in (%c0 to %n, step %c1) : tile<i32> {
    %r1, %e1 = load_view_tko weak %ta[%c0, %j1] : partition_view<tile=(64x64), tensor_view<64x512xf16, strides=[512,1]>>, tile<i32> -> tile<64x64xf16>, token
    %o1 = mmaf %t, %r1, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %s1 = store_view_tko weak %o1, %ty[%i, %j1] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<256x512xf32, strides=[512,1]>>, tile<i32> -> token
    continue
  }
  for %j2 in (%c0 to %n, step %c1) : tile<i32> {
    %r2, %e2 = load_view_tko weak %ta[%c0, %j2] : partition_view<tile=(64x64), tensor_view<64x512xf16, strides=[512,1]>>, tile<i32> -> tile<64x64xf16>, token
    %o2 = mmaf %t, %r2, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %s2 = store_view_tko weak %o2, %ty[%i, %j2] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<256x512xf32, strides=[512,1]>>, tile<i32> -> token
    continue
  }
  return
}
