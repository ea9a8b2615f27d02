// The largest of each row of what a matmul made, after arithmetic: partial results take in columns that follow one another, so
// that tensor memory is read in order, each part worked on while the next is loaded.
// run: compile --gpu-name sm_100a
// show: tcgen05.ld | wait::ld | max.f32
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %x, %k1 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %y, %k2 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %p = mmaf %x, %y, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
  %h = tanh %p rounding<approx> : tile<128x64xf32>
  %top = reduce %h dim=1 identities=[0xFF800000 : f32] : tile<128x64xf32> -> tile<128xf32>
  (%e: tile<f32>, %f: tile<f32>) {
    %g = maxf %e, %f : tile<f32>
    yield %g : tile<f32>
  }
  %rows = reshape %top : tile<128xf32> -> tile<128x1xf32>
  %all = broadcast %rows : tile<128x1xf32> -> tile<128x64xf32>
  %u = subf %h, %all rounding<nearest_even> : tile<128x64xf32>
  %k3 = store_view_tko weak %u, %tc[%c0, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
