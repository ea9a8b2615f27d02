// A matmul of eight rows with sums of f16, in a loop and by itself: swapped operands, from zeros of 16 bits.
// grid: 1,1,1
// arg: buffer f16 512 whole -2 2 seed 1
// arg: buffer f16 1024 whole -2 2 seed 2
// arg: buffer f16 128 whole 0 0 seed 0
// arg: buffer f16 128 whole 0 0 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %x: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %zero = constant <f16: 0.0> : tile<8x16xf16>
  %ta = make_tensor_view %a, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xf16, strides=[64,1]>
  %va = make_partition_view %ta : partition_view<tile=(8x16), tensor_view<8x64xf16, strides=[64,1]>>
  %tb = make_tensor_view %b, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf16, strides=[16,1]>
  %vb = make_partition_view %tb : partition_view<tile=(16x16), tensor_view<64x16xf16, strides=[16,1]>>
  %sum = for %k in (%c0 to %c4, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<8x16xf16>) {
    %l, %t0 = load_view_tko weak %va[%c0, %k] : partition_view<tile=(8x16), tensor_view<8x64xf16, strides=[64,1]>>, tile<i32> -> tile<8x16xf16>, token
    %r, %t1 = load_view_tko weak %vb[%k, %c0] : partition_view<tile=(16x16), tensor_view<64x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
    %s = mmaf %l, %r, %acc : tile<8x16xf16>, tile<16x16xf16>, tile<8x16xf16>
    continue %s : tile<8x16xf16>
  }
  %tx = make_tensor_view %x, shape = [8, 16], strides = [16, 1] : tensor_view<8x16xf16, strides=[16,1]>
  %vx = make_partition_view %tx : partition_view<tile=(8x16), tensor_view<8x16xf16, strides=[16,1]>>
  %t2 = store_view_tko weak %sum, %vx[%c0, %c0] : tile<8x16xf16>, partition_view<tile=(8x16), tensor_view<8x16xf16, strides=[16,1]>>, tile<i32> -> token
  %l1, %t3 = load_view_tko weak %va[%c0, %c1] : partition_view<tile=(8x16), tensor_view<8x64xf16, strides=[64,1]>>, tile<i32> -> tile<8x16xf16>, token
  %r1, %t4 = load_view_tko weak %vb[%c1, %c0] : partition_view<tile=(16x16), tensor_view<64x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
  %one = mmaf %l1, %r1, %zero : tile<8x16xf16>, tile<16x16xf16>, tile<8x16xf16>
  %ty = make_tensor_view %y, shape = [8, 16], strides = [16, 1] : tensor_view<8x16xf16, strides=[16,1]>
  %vy = make_partition_view %ty : partition_view<tile=(8x16), tensor_view<8x16xf16, strides=[16,1]>>
  %t5 = store_view_tko weak %one, %vy[%c0, %c0] : tile<8x16xf16>, partition_view<tile=(8x16), tensor_view<8x16xf16, strides=[16,1]>>, tile<i32> -> token
  return
}
