// Two matmuls that add to one sum read the same computed operand, and between them stands one that the second one's right operand is
// computed from.
// grid: 1,1,1
// arg: buffer f16 32768 whole -1 1 seed 0
// arg: buffer f16 16384 whole -1 1 seed 1
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: i32 2
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf16, strides=[256,1]>
  %ap = make_partition_view %at : partition_view<tile=(128x128), tensor_view<128x256xf16, strides=[256,1]>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %bt = make_tensor_view %b16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %bp = make_partition_view %bt : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %ct = make_tensor_view %c16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %cp = make_partition_view %ct : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %part = constant <f32: 0.0625> : tile<128x64xf32>
  %sum = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
    %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x128), tensor_view<128x256xf16, strides=[256,1]>>, tile<i32> -> tile<128x128xf16>, token
    %y, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %xn = negf %x : tile<128x128xf16>
    %xx = mulf %x, %x : tile<128x128xf16>
    %u1 = mmaf %xx, %y, %acc : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
    %s = mmaf %xn, %y, %zero : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
    %less = mulf %s, %part : tile<128x64xf32>
    %p = ftof %less : tile<128x64xf32> -> tile<128x64xf16>
    %u2 = mmaf %xx, %p, %u1 : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
    continue %u2 : tile<128x64xf32>
  }
  %t2 = store_view_tko weak %sum, %cp[%0, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
