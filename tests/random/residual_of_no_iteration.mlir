// Two accumulators of one loop, which does not run in the first block, and a matrix that is loaded and added to their product.
// grid: 2,1,1
// arg: buffer f16 8192 whole -2 2 seed 0
// arg: buffer f16 16384 whole -2 2 seed 1
// arg: buffer f16 16384 whole -2 2 seed 2
// arg: buffer f16 65536 whole -3 3 seed 3
// arg: buffer f16 65536 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %d: tile<ptr<f16>>, %x: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %n, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %d16 = assume div_by<16>, %d : tile<ptr<f16>>
  %x16 = assume div_by<16>, %x : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %bt = make_tensor_view %b16, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf16, strides=[256,1]>
  %dt = make_tensor_view %d16, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf16, strides=[256,1]>
  %xt = make_tensor_view %x16, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf16, strides=[256,1]>
  %ct = make_tensor_view %c16, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf16, strides=[256,1]>
  %ap = make_partition_view %at : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x256), tensor_view<64x256xf16, strides=[256,1]>>
  %dp = make_partition_view %dt : partition_view<tile=(64x256), tensor_view<64x256xf16, strides=[256,1]>>
  %xp = make_partition_view %xt : partition_view<tile=(128x256), tensor_view<256x256xf16, strides=[256,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(128x256), tensor_view<256x256xf16, strides=[256,1]>>
  %zero = constant <f32: 0.0> : tile<128x256xf32>
  %sums:2 = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%g = %zero, %u = %zero) -> (tile<128x256xf32>, tile<128x256xf32>) {
    %l, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(64x256), tensor_view<64x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x256xf16>, token
    %s, %t2 = load_view_tko weak %dp[%k, %0] : partition_view<tile=(64x256), tensor_view<64x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x256xf16>, token
    %g1 = mmaf %l, %r, %g : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
    %u1 = mmaf %l, %s, %u : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
    continue %g1, %u1 : tile<128x256xf32>, tile<128x256xf32>
  }
  %res, %t3 = load_view_tko weak %xp[%n, %0] : partition_view<tile=(128x256), tensor_view<256x256xf16, strides=[256,1]>>, tile<i32> -> tile<128x256xf16>, token
  %v = ftof %res : tile<128x256xf16> -> tile<128x256xf32>
  %w = mulf %sums#0, %sums#1 rounding<nearest_even> : tile<128x256xf32>
  %y = addf %w, %v rounding<nearest_even> : tile<128x256xf32>
  %half = ftof %y rounding<nearest_even> : tile<128x256xf32> -> tile<128x256xf16>
  %t4 = store_view_tko weak %half, %cp[%n, %0] : tile<128x256xf16>, partition_view<tile=(128x256), tensor_view<256x256xf16, strides=[256,1]>>, tile<i32> -> token
  return
}
