// The sum of each row of what a matmul made, after arithmetic, where the rows are also stored: neighbours are added as pairs,
// and pairs that are neighbours first, so that a register is free when both its neighbours have been added and converted.
// run: compile --gpu-name sm_100a
// show: tcgen05.ld | tanh | add.rn.f32 | cvt.rn.f16x2 | st.
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %s: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf16, strides=[32,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x32), tensor_view<64x32xf16, strides=[32,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf16, strides=[32,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x32), tensor_view<128x32xf16, strides=[32,1]>>
  %ps = assume div_by<16>, %s : tile<ptr<f32>>
  %vs = make_tensor_view %ps, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
  %ts = make_partition_view %vs : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x32xf32>
  %x, %k1 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %y, %k2 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(64x32), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> tile<64x32xf16>, token
  %p = mmaf %x, %y, %zero : tile<128x64xf16>, tile<64x32xf16>, tile<128x32xf32>
  %h = tanh %p rounding<approx> : tile<128x32xf32>
  %sum = reduce %h dim=1 identities=[0.0 : f32] : tile<128x32xf32> -> tile<128xf32>
  (%e: tile<f32>, %f: tile<f32>) {
    %g = addf %e, %f : tile<f32>
    yield %g : tile<f32>
  }
  %n = ftof %h : tile<128x32xf32> -> tile<128x32xf16>
  %k3 = store_view_tko weak %n, %tc[%c0, %c0] : tile<128x32xf16>, partition_view<tile=(128x32), tensor_view<128x32xf16, strides=[32,1]>>, tile<i32> -> token
  %k4 = store_view_tko weak %sum, %ts[%c0] : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
  return
}
