// Rows of a tensor with more dimensions times their transpose.
// grid: 1,1,1
// arg: buffer f16 2048 whole -2 2 seed 1
// arg: buffer f32 4096 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %x: tile<ptr<f32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %va = make_tensor_view %a, shape = [1, 64, 1, 32], strides = [2048, 32, 32, 1] : tensor_view<1x64x1x32xf16, strides=[2048,32,32,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x64x1x32), padding_value = zero, tensor_view<1x64x1x32xf16, strides=[2048,32,32,1]>>
  %s = for %k in (%c0 to %c1, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t = load_view_tko weak %ta[%c0, %k, %c0, %c0] : partition_view<tile=(1x64x1x32), padding_value = zero, tensor_view<1x64x1x32xf16, strides=[2048,32,32,1]>>, tile<i32> -> tile<1x64x1x32xf16>, token
    %m = reshape %l : tile<1x64x1x32xf16> -> tile<64x32xf16>
    %p = permute %m [1, 0] : tile<64x32xf16> -> tile<32x64xf16>
    %r = mmaf %m, %p, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    continue %r : tile<64x64xf32>
  }
  %vx = make_tensor_view %x, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tx = make_partition_view %vx : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %n = store_view_tko weak %s, %tx[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
