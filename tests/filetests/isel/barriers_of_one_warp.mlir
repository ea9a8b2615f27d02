// A block of one warp needs no barrier of the block: its threads exchange a small tile by themselves.
// run: compile --gpu-name sm_80
// show: .reqntid | bar. | shared
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
  %ta = make_partition_view %va : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
  %tb = make_partition_view %vb : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%zero, %zero] : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
  %y = permute %x [1, 0] : tile<16x16xf16> -> tile<16x16xf16>
  %t1 = store_view_tko weak %y, %tb[%zero, %zero] : tile<16x16xf16>, partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> token
  return
}
