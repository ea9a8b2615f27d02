// Rings, operands that are stored and barriers between them, each in front of a buffer's alignment, fill shared memory (of
// sm_100a).
// grid: 1,1,1
// arg: buffer f8E5M2 32768 whole -2 2 seed 0
// arg: buffer f8E5M2 32768 whole -2 2 seed 1
// arg: buffer f16 16384 whole -2 2 seed 2
// arg: buffer f32 16384 whole 7 7 seed 0
// arg: i32 1
entry @main(%a: tile<ptr<f8E5M2>>, %b: tile<ptr<f8E5M2>>, %w: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E5M2>>
  %va = make_tensor_view %pa, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf8E5M2, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x256), tensor_view<128x256xf8E5M2, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E5M2>>
  %vb = make_tensor_view %pb, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf8E5M2, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x256), tensor_view<128x256xf8E5M2, strides=[256,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<f16>>
  %vw = make_tensor_view %pw, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf16, strides=[128,1]>
  %tw = make_partition_view %vw : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %half = divi %n, %c2 signed : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %first = for %k in (%c0 to %half, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %x, %s0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(128x256), tensor_view<128x256xf8E5M2, strides=[256,1]>>, tile<i32> -> tile<128x256xf8E5M2>, token
    %y, %s1 = load_view_tko weak %tb[%c0, %k] : partition_view<tile=(128x256), tensor_view<128x256xf8E5M2, strides=[256,1]>>, tile<i32> -> tile<128x256xf8E5M2>, token
    %z = permute %y [1, 0] : tile<128x256xf8E5M2> -> tile<256x128xf8E5M2>
    %l = ftof %x : tile<128x256xf8E5M2> -> tile<128x256xf16>
    %r = ftof %z : tile<256x128xf8E5M2> -> tile<256x128xf16>
    %sum = mmaf %l, %r, %acc : tile<128x256xf16>, tile<256x128xf16>, tile<128x128xf32>
    continue %sum : tile<128x128xf32>
  }
  %second = for %k in (%half to %n, step %c1) : tile<i32> iter_values(%acc = %first) -> (tile<128x128xf32>) {
    %x, %s0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(128x256), tensor_view<128x256xf8E5M2, strides=[256,1]>>, tile<i32> -> tile<128x256xf8E5M2>, token
    %y, %s1 = load_view_tko weak %tb[%c0, %k] : partition_view<tile=(128x256), tensor_view<128x256xf8E5M2, strides=[256,1]>>, tile<i32> -> tile<128x256xf8E5M2>, token
    %z = permute %y [1, 0] : tile<128x256xf8E5M2> -> tile<256x128xf8E5M2>
    %l = ftof %x : tile<128x256xf8E5M2> -> tile<128x256xf16>
    %r = ftof %z : tile<256x128xf8E5M2> -> tile<256x128xf16>
    %sum = mmaf %l, %r, %acc : tile<128x256xf16>, tile<256x128xf16>, tile<128x128xf32>
    continue %sum : tile<128x128xf32>
  }
  %q, %t0 = load_view_tko weak %tw[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x128xf16>, token
  %low = constant <f32: -8.0> : tile<128x128xf32>
  %high = constant <f32: 8.0> : tile<128x128xf32>
  %above = maxf %second, %low : tile<128x128xf32>
  %between = minf %above, %high : tile<128x128xf32>
  %h = ftof %between : tile<128x128xf32> -> tile<128x128xf16>
  %out = mmaf %h, %q, %zero : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
  %t1 = store_view_tko weak %out, %tc[%c0, %c0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
