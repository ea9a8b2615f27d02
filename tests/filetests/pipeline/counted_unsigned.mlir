// C++ counts by `std::size_t`. A loop with an unsigned counter gets the pipeline that one with a signed one gets where it
// counts alike: up to a constant, and up to a parameter, for no loop runs through 2^43 iterations.
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_120a
// show: pipeline of | no async | kernel
entry @constant(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), tensor_view<64x1024xf16, strides=[1024,1]>>
  %vb = make_tensor_view %pb, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %vc = make_tensor_view %c, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %c0 = constant <i64: 0> : tile<i64>
  %c1 = constant <i64: 1> : tile<i64>
  %n = constant <i64: 32> : tile<i64>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for unsigned %k in (%c0 to %n, step %c1) : tile<i64> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(64x32), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i64> -> tile<64x32xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(32x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i64> -> tile<32x64xf16>, token
    %s = mmaf %l, %r, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i64> -> token
  return
}
entry @parameter(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i64>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), tensor_view<64x1024xf16, strides=[1024,1]>>
  %vb = make_tensor_view %pb, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %vc = make_tensor_view %c, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %c0 = constant <i64: 0> : tile<i64>
  %c1 = constant <i64: 1> : tile<i64>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for unsigned %k in (%c0 to %n, step %c1) : tile<i64> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(64x32), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i64> -> tile<64x32xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(32x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i64> -> tile<32x64xf16>, token
    %s = mmaf %l, %r, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i64> -> token
  return
}
