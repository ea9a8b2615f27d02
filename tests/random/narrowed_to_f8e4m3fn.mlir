// Operands that are rounded to fewer bits than they were loaded with are not multiplied as they were loaded.
// grid: 1,1,1
// arg: buffer f16 4096 uniform -4 4 seed 1
// arg: buffer f16 4096 uniform -4 4 seed 2
// arg: buffer f32 4096 zero seed 3 within 0.25
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %q, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %l, %t1 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %q8 = ftof %q rounding<nearest_even> : tile<64x64xf16> -> tile<64x64xf8E4M3FN>
  %l8 = ftof %l rounding<nearest_even> : tile<64x64xf16> -> tile<64x64xf8E4M3FN>
  %s = mmaf %q8, %l8, %zero : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
  %t2 = store_view_tko weak %s, %tc[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
