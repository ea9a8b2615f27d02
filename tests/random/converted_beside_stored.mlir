// A loop of a batched matmul of f64: one operand is stored to shared memory, the other one is converted through it, and
// the ring leaves room for one of them only.
// grid: 1,1,1
// arg: buffer f64 8192 uniform -1 1 seed 0
// arg: buffer f64 4096 uniform -1 1 seed 0
// arg: buffer f64 4096 whole 7 7 seed 0 within 3.865352482534945e-12
entry @main(%a: tile<ptr<f64>>, %b: tile<ptr<f64>>, %x: tile<ptr<f64>>) {
  %zero = constant <f64: 0.0> : tile<2x64x32xf64>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %va = make_tensor_view %a, shape = [2, 64, 64], strides = [4096, 64, 1] : tensor_view<2x64x64xf64, strides=[4096,64,1]>
  %pa = make_partition_view %va : partition_view<tile=(2x64x64), padding_value = zero, tensor_view<2x64x64xf64, strides=[4096,64,1]>>
  %vb = make_tensor_view %b, shape = [2, 64, 32], strides = [2048, 32, 1] : tensor_view<2x64x32xf64, strides=[2048,32,1]>
  %pb = make_partition_view %vb : partition_view<tile=(2x64x32), padding_value = zero, tensor_view<2x64x32xf64, strides=[2048,32,1]>>
  %sum = for %k in (%c0 to %c1, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<2x64x32xf64>) {
    %l, %t0 = load_view_tko weak %pa[%c0, %c0, %k] : partition_view<tile=(2x64x64), padding_value = zero, tensor_view<2x64x64xf64, strides=[4096,64,1]>>, tile<i32> -> tile<2x64x64xf64>, token
    %r, %t1 = load_view_tko weak %pb[%c0, %k, %c0] : partition_view<tile=(2x64x32), padding_value = zero, tensor_view<2x64x32xf64, strides=[2048,32,1]>>, tile<i32> -> tile<2x64x32xf64>, token
    %s = mmaf %l, %r, %acc : tile<2x64x64xf64>, tile<2x64x32xf64>, tile<2x64x32xf64>
    continue %s : tile<2x64x32xf64>
  }
  %vx = make_tensor_view %x, shape = [2, 64, 32], strides = [1, 2, 128] : tensor_view<2x64x32xf64, strides=[1,2,128]>
  %px = make_partition_view %vx : partition_view<tile=(2x64x32), tensor_view<2x64x32xf64, strides=[1,2,128]>>
  %t2 = store_view_tko weak %sum, %px[%c0, %c0, %c0] : tile<2x64x32xf64>, partition_view<tile=(2x64x32), tensor_view<2x64x32xf64, strides=[1,2,128]>>, tile<i32> -> token
  return
}
