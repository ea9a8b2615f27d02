// A loop carries a matmul's right operand beside its sum, and hands it to a matmul behind it.
// grid: 1,1,1
// arg: buffer f16 4096 whole -2 2 seed 0
// arg: buffer f16 4096 whole -2 2 seed 1
// arg: buffer f32 4096 whole 7 7 seed 0
// arg: buffer f32 4096 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %d: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %3 = constant <i32: 3> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %d16 = assume div_by<16>, %d : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %bt = make_tensor_view %b16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %dt = make_tensor_view %d16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %dp = make_partition_view %dt : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %x, %t0 = load_view_tko weak %ap[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %y, %t1 = load_view_tko weak %bp[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %sum, %last = for %k in (%0 to %3, step %1) : tile<i32> iter_values(%acc = %zero, %r = %y) -> (tile<64x64xf32>, tile<64x64xf16>) {
    %s = mmaf %x, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %n = addf %r, %r rounding<nearest_even> : tile<64x64xf16>
    continue %s, %n : tile<64x64xf32>, tile<64x64xf16>
  }
  %more = for %k in (%0 to %3, step %1) : tile<i32> iter_values(%acc = %sum) -> (tile<64x64xf32>) {
    %s = mmaf %x, %last, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %cp[%0, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %t3 = store_view_tko weak %more, %dp[%0, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
