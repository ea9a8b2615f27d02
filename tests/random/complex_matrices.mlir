// Complex matrices: the real parts' matmul less that of the imaginary parts, which is used up in parts, and two for the imaginary part of the
// result. Registers are short, and the columns of the right operands are contiguous.
// grid: 1,1,1
// arg: buffer f16 4096 whole -2 2 seed 0
// arg: buffer f16 4096 whole -2 2 seed 1
// arg: buffer f16 8192 whole -2 2 seed 2
// arg: buffer f16 8192 whole -2 2 seed 3
// arg: buffer f32 32768 whole 7 7 seed 0
// arg: buffer f32 32768 whole 7 7 seed 0
// arg: i32 2
entry @main(%a: tile<ptr<f16>>, %c: tile<ptr<f16>>, %b: tile<ptr<f16>>, %d: tile<ptr<f16>>, %o: tile<ptr<f32>>, %p: tile<ptr<f32>>, %n: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf16, strides=[32,1]>
  %ap = make_partition_view %at : partition_view<tile=(128x16), tensor_view<128x32xf16, strides=[32,1]>>
  %c16 = assume div_by<16>, %c : tile<ptr<f16>>
  %ct = make_tensor_view %c16, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf16, strides=[32,1]>
  %cp = make_partition_view %ct : partition_view<tile=(128x16), tensor_view<128x32xf16, strides=[32,1]>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %bt = make_tensor_view %b16, shape = [32, 256], strides = [256, 1] : tensor_view<32x256xf16, strides=[256,1]>
  %bp = make_partition_view %bt : partition_view<tile=(16x256), tensor_view<32x256xf16, strides=[256,1]>>
  %d16 = assume div_by<16>, %d : tile<ptr<f16>>
  %dt = make_tensor_view %d16, shape = [32, 256], strides = [256, 1] : tensor_view<32x256xf16, strides=[256,1]>
  %dp = make_partition_view %dt : partition_view<tile=(16x256), tensor_view<32x256xf16, strides=[256,1]>>
  %o16 = assume div_by<16>, %o : tile<ptr<f32>>
  %ot = make_tensor_view %o16, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
  %op = make_partition_view %ot : partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>
  %p16 = assume div_by<16>, %p : tile<ptr<f32>>
  %pt = make_tensor_view %p16, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
  %pp = make_partition_view %pt : partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>
  %zero = constant <f32: 0.0> : tile<128x256xf32>
  %re, %im = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%u = %zero, %v = %zero) -> (tile<128x256xf32>, tile<128x256xf32>) {
    %ar, %tar = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x16), tensor_view<128x32xf16, strides=[32,1]>>, tile<i32> -> tile<128x16xf16>, token
    %ai, %tai = load_view_tko weak %cp[%0, %k] : partition_view<tile=(128x16), tensor_view<128x32xf16, strides=[32,1]>>, tile<i32> -> tile<128x16xf16>, token
    %br, %tbr = load_view_tko weak %bp[%k, %0] : partition_view<tile=(16x256), tensor_view<32x256xf16, strides=[256,1]>>, tile<i32> -> tile<16x256xf16>, token
    %bi, %tbi = load_view_tko weak %dp[%k, %0] : partition_view<tile=(16x256), tensor_view<32x256xf16, strides=[256,1]>>, tile<i32> -> tile<16x256xf16>, token
    %u1 = mmaf %ar, %br, %u : tile<128x16xf16>, tile<16x256xf16>, tile<128x256xf32>
    %less = mmaf %ai, %bi, %zero : tile<128x16xf16>, tile<16x256xf16>, tile<128x256xf32>
    %u2 = subf %u1, %less : tile<128x256xf32>
    %v1 = mmaf %ar, %bi, %v : tile<128x16xf16>, tile<16x256xf16>, tile<128x256xf32>
    %v2 = mmaf %ai, %br, %v1 : tile<128x16xf16>, tile<16x256xf16>, tile<128x256xf32>
    continue %u2, %v2 : tile<128x256xf32>, tile<128x256xf32>
  }
  %t0 = store_view_tko weak %re, %op[%0, %0] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> token
  %t1 = store_view_tko weak %im, %pp[%0, %0] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> token
  return
}
