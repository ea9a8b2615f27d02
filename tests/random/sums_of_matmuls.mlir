// Sums of several matmuls in each iteration of a loop: one of three that nothing else uses, and two by turns, of which one is scaled in
// front of the first and the other one read behind the last.
// grid: 1,1,1
// arg: buffer f16 16384 whole -1 1 seed 0
// arg: buffer f16 8192 whole -1 1 seed 1
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: i32 4
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %d: tile<ptr<f32>>, %n: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf16, strides=[128,1]>
  %ap = make_partition_view %at : partition_view<tile=(128x32), tensor_view<128x128xf16, strides=[128,1]>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %bt = make_tensor_view %b16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %bp = make_partition_view %bt : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %ct = make_tensor_view %c16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %cp = make_partition_view %ct : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
  %d16 = assume div_by<16>, %d : tile<ptr<f32>>
  %dt = make_tensor_view %d16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %dp = make_partition_view %dt : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %half = constant <f32: 0.5> : tile<128x64xf32>
  %first = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
    %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x32), tensor_view<128x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x32xf16>, token
    %y, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
    %xn = negf %x : tile<128x32xf16>
    %xx = mulf %x, %x : tile<128x32xf16>
    %s1 = mmaf %x, %y, %acc : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
    %s2 = mmaf %xx, %y, %s1 : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
    %s3 = mmaf %xn, %y, %s2 : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
    continue %s3 : tile<128x64xf32>
  }
  %t2 = store_view_tko weak %first, %cp[%0, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
  %p, %q, %r = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%u = %first, %v = %zero, %w = %zero) -> (tile<128x64xf32>, tile<128x64xf32>, tile<128x64xf32>) {
    %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x32), tensor_view<128x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x32xf16>, token
    %y, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
    %xn = negf %x : tile<128x32xf16>
    %xx = mulf %x, %x : tile<128x32xf16>
    %scaled = mulf %u, %half : tile<128x64xf32>
    %u1 = mmaf %x, %y, %scaled : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
    %v1 = mmaf %xx, %y, %v : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
    %u2 = mmaf %xx, %y, %u1 : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
    %v2 = mmaf %xn, %y, %v1 : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
    %w1 = addf %w, %v2 : tile<128x64xf32>
    continue %u2, %v2, %w1 : tile<128x64xf32>, tile<128x64xf32>, tile<128x64xf32>
  }
  %pq = addf %p, %q : tile<128x64xf32>
  %pqr = addf %pq, %r : tile<128x64xf32>
  %t3 = store_view_tko weak %pqr, %dp[%0, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
