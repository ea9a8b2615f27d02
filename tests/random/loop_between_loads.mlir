// grid: 1,1,1
// arg: buffer f16 16384 whole -1 1 seed 1
// arg: buffer f16 16384 whole -1 1 seed 2
// arg: i32 6
// arg: buffer f32 32768 whole 7 7 seed 0 within 1e-2
// arg: buffer f32 32768 whole 7 7 seed 0 within 1e-2
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %n: tile<i32>, %o: tile<ptr<f32>>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %two = constant <f16: 2.0> : tile<128x64xf16>
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>
  %vb = make_tensor_view %pb, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), padding_value = zero, tensor_view<256x64xf16, strides=[64,1]>>
  %vo = make_tensor_view %o, shape = [512, 64], strides = [64, 1] : tensor_view<512x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x64), tensor_view<512x64xf32, strides=[64,1]>>
  %vp = make_tensor_view %p, shape = [512, 64], strides = [64, 1] : tensor_view<512x64xf32, strides=[64,1]>
  %tp = make_partition_view %vp : partition_view<tile=(128x64), tensor_view<512x64xf32, strides=[64,1]>>
  for %i in (%0 to %2, step %1) : tile<i32> {
    %x, %t0 = load_view_tko weak %ta[%i, %0] : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %y = mulf %x, %two : tile<128x64xf16>
    %e = ftof %y : tile<128x64xf16> -> tile<128x64xf32>
    %t4 = store_view_tko weak %e, %tp[%i, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<512x64xf32, strides=[64,1]>>, tile<i32> -> token
    %s = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
      %q, %t1 = load_view_tko weak %ta[%i, %0] : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
      %r, %t2 = load_view_tko weak %tb[%k, %0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
      %m = mmaf %q, %r, %acc : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
      continue %m : tile<128x64xf32>
    }
    %z, %t3 = load_view_tko weak %tb[%i, %0] : partition_view<tile=(64x64), padding_value = zero, tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %f = mmaf %y, %z, %s : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %t5 = store_view_tko weak %f, %to[%i, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<512x64xf32, strides=[64,1]>>, tile<i32> -> token
    continue
  }
  return
}
