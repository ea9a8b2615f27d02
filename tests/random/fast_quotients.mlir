// Quotients that need not be exact, by powers of two: products, which are exact.
// grid: 1,1,1
// arg: buffer f32 64 whole -64 64 seed 1
// arg: buffer f32 64 whole 0 0 seed 0
// arg: buffer f32 64 whole 0 0 seed 0
entry @main(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %tx = make_tensor_view %x, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
  %vx = make_partition_view %tx : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
  %a, %t1 = load_view_tko weak %vx[%c0] : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %c4 = constant <f32: 4.0> : tile<64xf32>
  %c8th = constant <f32: 0.125> : tile<64xf32>
  %p = divf %a, %c4 rounding<full> : tile<64xf32>
  %q = divf %a, %c8th rounding<approx> flush_to_zero : tile<64xf32>
  %ty = make_tensor_view %y, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
  %vy = make_partition_view %ty : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
  %t2 = store_view_tko weak %p, %vy[%c0] : tile<64xf32>, partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
  %tz = make_tensor_view %z, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
  %vz = make_partition_view %tz : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
  %t3 = store_view_tko weak %q, %vz[%c0] : tile<64xf32>, partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
  return
}
