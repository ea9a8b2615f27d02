// A left operand that is loaded for a matmul alone. Each warp loads its own rows, 64 bytes of each at a time, and makes
// fragments of them in scratch memory that no other warp uses: `bar.warp.sync`. All warps multiply the right operand:
// they load a part each, and wait for each other.
// run: compile --emit ptx --gpu-name sm_80
// show: .entry | ld.global | bar. | .shared.
entry @own(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf16, strides=[16,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x16), tensor_view<64x16xf16, strides=[16,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf32, strides=[16,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x16xf32>
  %l, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %r, %t1 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(64x16), tensor_view<64x16xf16, strides=[16,1]>>, tile<i32> -> tile<64x16xf16>, token
  %o = mmaf %l, %r, %zero : tile<128x64xf16>, tile<64x16xf16>, tile<128x16xf32>
  %t2 = store_view_tko weak %o, %tc[%c0, %c0] : tile<128x16xf32>, partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
