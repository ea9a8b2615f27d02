// A matmul's columns are rotated by halves and put beside each other again: a tile of 128 x 256 elements of 32 bits, for which
// shared memory has no room as a whole.
// grid: 1,1,1
// arg: buffer f16 4096 whole -2 2 seed 0
// arg: buffer f16 8192 whole -2 2 seed 1
// arg: buffer f32 4096 whole -3 3 seed 2
// arg: buffer f16 32768 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %s: tile<ptr<f32>>, %c: tile<ptr<f16>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %s16 = assume div_by<16>, %s : tile<ptr<f32>>
  %c16 = assume div_by<16>, %c : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf16, strides=[32,1]>
  %bt = make_tensor_view %b16, shape = [32, 256], strides = [256, 1] : tensor_view<32x256xf16, strides=[256,1]>
  %st = make_tensor_view %s16, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf32, strides=[32,1]>
  %ct = make_tensor_view %c16, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf16, strides=[256,1]>
  %ap = make_partition_view %at : partition_view<tile=(128x32), tensor_view<128x32xf16, strides=[32,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(32x256), tensor_view<32x256xf16, strides=[256,1]>>
  %sp = make_partition_view %st : partition_view<tile=(128x32), tensor_view<128x32xf32, strides=[32,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(128x256), tensor_view<128x256xf16, strides=[256,1]>>
  %x, %t0 = load_view_tko weak %ap[%0, %0] : partition_view<tile=(128x32), tensor_view<128x32xf16, strides=[32,1]>>, tile<i32> -> tile<128x32xf16>, token
  %y, %t1 = load_view_tko weak %bp[%0, %0] : partition_view<tile=(32x256), tensor_view<32x256xf16, strides=[256,1]>>, tile<i32> -> tile<32x256xf16>, token
  %z, %t2 = load_view_tko weak %sp[%0, %0] : partition_view<tile=(128x32), tensor_view<128x32xf32, strides=[32,1]>>, tile<i32> -> tile<128x32xf32>, token
  %zero = constant <f32: 0.0> : tile<128x256xf32>
  %acc = mmaf %x, %y, %zero : tile<128x32xf16>, tile<32x256xf16>, tile<128x256xf32>
  %heads = reshape %acc : tile<128x256xf32> -> tile<128x4x2x32xf32>
  %low = extract %heads[%0, %0, %0, %0] : tile<128x4x2x32xf32> -> tile<128x4x1x32xf32>
  %high = extract %heads[%0, %0, %1, %0] : tile<128x4x2x32xf32> -> tile<128x4x1x32xf32>
  %z1 = reshape %z : tile<128x32xf32> -> tile<128x1x1x32xf32>
  %z2 = broadcast %z1 : tile<128x1x1x32xf32> -> tile<128x4x1x32xf32>
  %p = mulf %high, %z2 rounding<nearest_even> : tile<128x4x1x32xf32>
  %q = mulf %low, %z2 rounding<nearest_even> : tile<128x4x1x32xf32>
  %u = subf %low, %p rounding<nearest_even> : tile<128x4x1x32xf32>
  %v = addf %high, %q rounding<nearest_even> : tile<128x4x1x32xf32>
  %both = cat %u, %v dim = 2 : tile<128x4x1x32xf32>, tile<128x4x1x32xf32> -> tile<128x4x2x32xf32>
  %all = reshape %both : tile<128x4x2x32xf32> -> tile<128x256xf32>
  %half = ftof %all rounding<nearest_even> : tile<128x256xf32> -> tile<128x256xf16>
  %t3 = store_view_tko weak %half, %cp[%0, %0] : tile<128x256xf16>, partition_view<tile=(128x256), tensor_view<128x256xf16, strides=[256,1]>>, tile<i32> -> token
  return
}
