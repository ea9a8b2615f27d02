// A sum of two columns is the right operand of its own next matmul, in a kernel whose other tiles leave it no registers: its rows
// are narrower than what a thread reads of shared memory at once.
// grid: 1,1,1
// arg: buffer f16 32 whole -1 1 seed 1
// arg: buffer f16 256 whole -1 1 seed 2
// arg: buffer f16 32 whole 0 0 seed 0
// arg: buffer f64 16384 uniform -1 1 seed 0
// arg: buffer f64 2048 uniform -1 1 seed 0
// arg: buffer f64 2048 whole 0 0 seed 0 within 4e-12
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %x: tile<ptr<f16>>, %p: tile<ptr<f64>>, %q: tile<ptr<f64>>, %y: tile<ptr<f64>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %ta = make_tensor_view %a, shape = [16, 2], strides = [2, 1] : tensor_view<16x2xf16, strides=[2,1]>
  %va = make_partition_view %ta : partition_view<tile=(16x2), tensor_view<16x2xf16, strides=[2,1]>>
  %tb = make_tensor_view %b, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
  %vb = make_partition_view %tb : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>
  %r, %t0 = load_view_tko weak %va[%c0, %c0] : partition_view<tile=(16x2), tensor_view<16x2xf16, strides=[2,1]>>, tile<i32> -> tile<16x2xf16>, token
  %l, %t1 = load_view_tko weak %vb[%c0, %c0] : partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
  %sum = for %k in (%c0 to %c2, step %c1) : tile<i32> iter_values(%acc = %r) -> (tile<16x2xf16>) {
    %s = mmaf %l, %acc, %acc : tile<16x16xf16>, tile<16x2xf16>, tile<16x2xf16>
    continue %s : tile<16x2xf16>
  }
  %tx = make_tensor_view %x, shape = [16, 2], strides = [2, 1] : tensor_view<16x2xf16, strides=[2,1]>
  %vx = make_partition_view %tx : partition_view<tile=(16x2), tensor_view<16x2xf16, strides=[2,1]>>
  %t2 = store_view_tko weak %sum, %vx[%c0, %c0] : tile<16x2xf16>, partition_view<tile=(16x2), tensor_view<16x2xf16, strides=[2,1]>>, tile<i32> -> token
  %tp = make_tensor_view %p, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf64, strides=[128,1]>
  %vp = make_partition_view %tp : partition_view<tile=(128x128), tensor_view<128x128xf64, strides=[128,1]>>
  %m, %t3 = load_view_tko weak %vp[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf64, strides=[128,1]>>, tile<i32> -> tile<128x128xf64>, token
  %tq = make_tensor_view %q, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf64, strides=[16,1]>
  %vq = make_partition_view %tq : partition_view<tile=(128x16), tensor_view<128x16xf64, strides=[16,1]>>
  %n, %t4 = load_view_tko weak %vq[%c0, %c0] : partition_view<tile=(128x16), tensor_view<128x16xf64, strides=[16,1]>>, tile<i32> -> tile<128x16xf64>, token
  %o = mmaf %m, %n, %n : tile<128x128xf64>, tile<128x16xf64>, tile<128x16xf64>
  %ty = make_tensor_view %y, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf64, strides=[16,1]>
  %vy = make_partition_view %ty : partition_view<tile=(128x16), tensor_view<128x16xf64, strides=[16,1]>>
  %t5 = store_view_tko weak %o, %vy[%c0, %c0] : tile<128x16xf64>, partition_view<tile=(128x16), tensor_view<128x16xf64, strides=[16,1]>>, tile<i32> -> token
  return
}
