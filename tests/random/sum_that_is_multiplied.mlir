// A matmul of four rows whose left operand is the sum that the loop carries: it is not carried for the sum alone.
// grid: 1,1,1
// arg: buffer f16 64 whole -1 1 seed 1
// arg: buffer f16 256 whole -1 1 seed 2
// arg: buffer f16 64 whole 0 0 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %x: tile<ptr<f16>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %ta = make_tensor_view %a, shape = [4, 16], strides = [16, 1] : tensor_view<4x16xf16, strides=[16,1]>
  %va = make_partition_view %ta : partition_view<tile=(4x16), tensor_view<4x16xf16, strides=[16,1]>>
  %tb = make_tensor_view %b, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
  %vb = make_partition_view %tb : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>
  %l, %t0 = load_view_tko weak %va[%c0, %c0] : partition_view<tile=(4x16), tensor_view<4x16xf16, strides=[16,1]>>, tile<i32> -> tile<4x16xf16>, token
  %r, %t1 = load_view_tko weak %vb[%c0, %c0] : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
  %sum = for %k in (%c0 to %c2, step %c1) : tile<i32> iter_values(%acc = %l) -> (tile<4x16xf16>) {
    %s = mmaf %acc, %r, %acc : tile<4x16xf16>, tile<16x16xf16>, tile<4x16xf16>
    continue %s : tile<4x16xf16>
  }
  %tx = make_tensor_view %x, shape = [4, 16], strides = [16, 1] : tensor_view<4x16xf16, strides=[16,1]>
  %vx = make_partition_view %tx : partition_view<tile=(4x16), tensor_view<4x16xf16, strides=[16,1]>>
  %t2 = store_view_tko weak %sum, %vx[%c0, %c0] : tile<4x16xf16>, partition_view<tile=(4x16), tensor_view<4x16xf16, strides=[16,1]>>, tile<i32> -> token
  return
}
