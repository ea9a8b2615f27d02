// The products beside each other would give eight warps enough to hold, but the smallest is four instructions' work:
// four of eight warps would repeat what the others multiply.
// run: explain --gpu-name sm_90a
// show: warps
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [32, 256], strides = [256, 1] : tensor_view<32x256xf16, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x256), tensor_view<32x256xf16, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf16, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(16x256), tensor_view<128x256xf16, strides=[256,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [32, 256], strides = [256, 1] : tensor_view<32x256xf32, strides=[256,1]>
  %tc = make_partition_view %vc : partition_view<tile=(32x256), tensor_view<32x256xf32, strides=[256,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %none = constant <f32: 0.0> : tile<32x16xf32>
  %zero = constant <f32: 0.0> : tile<32x256xf32>
  %q, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(32x256), tensor_view<32x256xf16, strides=[256,1]>>, tile<i32> -> tile<32x256xf16>, token
  %sum = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<32x256xf32>) {
    %l, %t1 = load_view_tko weak %tb[%i, %c0] : partition_view<tile=(16x256), tensor_view<128x256xf16, strides=[256,1]>>, tile<i32> -> tile<16x256xf16>, token
    %lt = permute %l [1, 0] : tile<16x256xf16> -> tile<256x16xf16>
    %s = mmaf %q, %lt, %none : tile<32x256xf16>, tile<256x16xf16>, tile<32x16xf32>
    %p = ftof %s rounding<nearest_even> : tile<32x16xf32> -> tile<32x16xf16>
    %o = mmaf %p, %l, %acc : tile<32x16xf16>, tile<16x256xf16>, tile<32x256xf32>
    continue %o : tile<32x256xf32>
  }
  %t3 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<32x256xf32>, partition_view<tile=(32x256), tensor_view<32x256xf32, strides=[256,1]>>, tile<i32> -> token
  return
}
