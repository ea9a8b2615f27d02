// A loop of two matmuls, whose iterations overlap, and another loop to the same end behind it: whether the first one runs is asked
// by the consumers and the producer, before and behind the other.
// grid: 1,1,1
// arg: buffer f16 8192 whole -2 2 seed 0
// arg: buffer f16 16384 whole -2 2 seed 1
// arg: buffer f16 16384 whole -2 2 seed 2
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: i32 4
entry @main(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %c: tile<ptr<f32>>, %d: tile<ptr<f32>>, %n: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %q16 = assume div_by<16>, %q : tile<ptr<f16>>
  %k16 = assume div_by<16>, %k : tile<ptr<f16>>
  %v16 = assume div_by<16>, %v : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %d16 = assume div_by<16>, %d : tile<ptr<f32>>
  %qt = make_tensor_view %q16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %kt = make_tensor_view %k16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %vt = make_tensor_view %v16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %dt = make_tensor_view %d16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %qp = make_partition_view %qt : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
  %kp = make_partition_view %kt : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
  %vp = make_partition_view %vt : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
  %dp = make_partition_view %dt : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %half = constant <f32: 0.5> : tile<128x64xf32>
  %top = constant <f32: 8.0> : tile<128x64xf32>
  %x, %t0 = load_view_tko weak %qp[%0, %0] : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %o = for %i in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
    %kr, %t1 = load_view_tko weak %kp[%i, %0] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %kk = permute %kr [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %x, %kk, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %h = mulf %s, %half rounding<nearest_even> : tile<128x64xf32>
    %m = minf %h, %top : tile<128x64xf32>
    %p = ftof %m : tile<128x64xf32> -> tile<128x64xf16>
    %vv, %t2 = load_view_tko weak %vp[%i, %0] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %a = mmaf %p, %vv, %acc : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    continue %a : tile<128x64xf32>
  }
  %sum = for %i in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
    %l, %t1 = load_view_tko weak %qp[%0, %0] : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t2 = load_view_tko weak %vp[%i, %0] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %a = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    continue %a : tile<128x64xf32>
  }
  %t3 = store_view_tko weak %o, %cp[%0, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
  %t4 = store_view_tko weak %sum, %dp[%0, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
