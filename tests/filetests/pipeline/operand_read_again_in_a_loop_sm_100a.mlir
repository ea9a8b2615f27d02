// An operand that is multiplied once in front of a loop and again in it: its stage is handed back behind the loop by the
// warps, since no wait for matmuls follows there, and the block could end before an arrival of theirs.
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: pipeline.create | warp_specialize | cuda_tile.for | cuda_tile.continue | tensor_dot | consumer_wait | consumer_release | role_end
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 192], strides = [192, 1] : tensor_view<64x192xf16, strides=[192,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<64x192xf16, strides=[192,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [128, 192], strides = [192, 1] : tensor_view<128x192xf32, strides=[192,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x64), tensor_view<128x192xf32, strides=[192,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 3> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %q, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %k, %t1 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x192xf16, strides=[192,1]>>, tile<i32> -> tile<64x64xf16>, token
  %s = mmaf %q, %k, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
  %e = absf %s : tile<128x64xf32>
  for %j in (%c0 to %n, step %c1) : tile<i32> {
    %r, %t2 = load_view_tko weak %tb[%c0, %j] : partition_view<tile=(64x64), tensor_view<64x192xf16, strides=[192,1]>>, tile<i32> -> tile<64x64xf16>, token
    %u = mmaf %q, %r, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %o = addf %u, %e rounding<nearest_even> : tile<128x64xf32>
    %t3 = store_view_tko weak %o, %tc[%c0, %j] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x192xf32, strides=[192,1]>>, tile<i32> -> token
    continue
  }
  return
}
