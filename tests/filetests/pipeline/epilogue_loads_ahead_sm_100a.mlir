// What an epilogue loads is under way while the matmuls run: the load stands in front of the wait for both accumulators. They are
// loaded side by side, a few columns at a time, for no branch stands between them: where the loop does not run, one choice
// stores the zeros of both.
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: consumer_wait | tensor_load | tensor_store | tiled_load | cuda_tile.if | tma_store
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %d: tile<ptr<f16>>, %x: tile<ptr<f16>>, %c: tile<ptr<f16>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f16>>
  %vd = make_tensor_view %pd, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %td = make_partition_view %vd : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %vx = make_tensor_view %px, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tx = make_partition_view %vx : partition_view<tile=(128x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x256xf32>
  %sums:2 = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%g = %zero, %u = %zero) -> (tile<128x256xf32>, tile<128x256xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %s, %t2 = load_view_tko weak %td[%k, %j] : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %g1 = mmaf %l, %r, %g : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
    %u1 = mmaf %l, %s, %u : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
    continue %g1, %u1 : tile<128x256xf32>, tile<128x256xf32>
  }
  %res, %t3 = load_view_tko weak %tx[%i, %j] : partition_view<tile=(128x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x256xf16>, token
  %v = ftof %res : tile<128x256xf16> -> tile<128x256xf32>
  %w = mulf %sums#0, %sums#1 rounding<nearest_even> : tile<128x256xf32>
  %y = addf %w, %v rounding<nearest_even> : tile<128x256xf32>
  %half = ftof %y rounding<nearest_even> : tile<128x256xf32> -> tile<128x256xf16>
  %t4 = store_view_tko weak %half, %tc[%i, %j] : tile<128x256xf16>, partition_view<tile=(128x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
