// A quotient rounded to nearest is a branch for `ptxas`, which moves nothing past it. Where a thread would hold more than it has
// registers for, from the first of many quotients to the last, each is computed together with what is made of it.
// run: compile --gpu-name sm_80
// run: compile --gpu-name sm_80 --without read-on-demand
// show: div. | ex2 | cvt.rn
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %o: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %po = assume div_by<16>, %o : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf16, strides=[16,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x16), tensor_view<128x16xf16, strides=[16,1]>>
  %vb = make_tensor_view %pb, shape = [16, 64], strides = [64, 1] : tensor_view<16x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(16x64), tensor_view<16x64xf16, strides=[64,1]>>
  %vo = make_tensor_view %po, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
  %0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %one = constant <f32: 1.0> : tile<128x64xf32>
  %x, %t0 = load_view_tko weak %ta[%0, %0] : partition_view<tile=(128x16), tensor_view<128x16xf16, strides=[16,1]>>, tile<i32> -> tile<128x16xf16>, token
  %y, %t1 = load_view_tko weak %tb[%0, %0] : partition_view<tile=(16x64), tensor_view<16x64xf16, strides=[64,1]>>, tile<i32> -> tile<16x64xf16>, token
  %s = mmaf %x, %y, %zero : tile<128x16xf16>, tile<16x64xf16>, tile<128x64xf32>
  %square = mulf %s, %s : tile<128x64xf32>
  %cube = mulf %square, %s : tile<128x64xf32>
  %more = addf %square, %one : tile<128x64xf32>
  %e = exp2 %cube : tile<128x64xf32>
  %less = subf %e, %square : tile<128x64xf32>
  %q = divf %cube, %more : tile<128x64xf32>
  %r = addf %q, %less : tile<128x64xf32>
  %t = mulf %r, %e : tile<128x64xf32>
  %u = addf %t, %s : tile<128x64xf32>
  %h = ftof %u rounding<nearest_even> : tile<128x64xf32> -> tile<128x64xf16>
  %t2 = store_view_tko weak %h, %to[%0, %0] : tile<128x64xf16>, partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> token
  return
}
