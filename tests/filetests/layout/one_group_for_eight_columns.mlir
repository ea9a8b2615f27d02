// Decoding with a few queries as columns: two warpgroups could share out the scores' 128 rows, but not the 64 rows of eight columns that
// are summed up. One does both, and no operand goes from warp to warp.
// run: explain --gpu-name sm_90a
// show: kernel main | no wgmma
entry @main(%k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %q: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %k16 = assume div_by<16>, %k : tile<ptr<f16>>
  %v16 = assume div_by<16>, %v : tile<ptr<f16>>
  %q16 = assume div_by<16>, %q : tile<ptr<f16>>
  %o16 = assume div_by<16>, %o : tile<ptr<f32>>
  %kt = make_tensor_view %k16, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %vt = make_tensor_view %v16, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
  %qt = make_tensor_view %q16, shape = [64, 8], strides = [8, 1] : tensor_view<64x8xf16, strides=[8,1]>
  %ot = make_tensor_view %o16, shape = [64, 8], strides = [8, 1] : tensor_view<64x8xf32, strides=[8,1]>
  %kp = make_partition_view %kt : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %vp = make_partition_view %vt : partition_view<tile=(64x128), tensor_view<64x1024xf16, strides=[1024,1]>>
  %qp = make_partition_view %qt : partition_view<tile=(64x8), tensor_view<64x8xf16, strides=[8,1]>>
  %op = make_partition_view %ot : partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>>
  %zero = constant <f32: 0.0> : tile<64x8xf32>
  %none = constant <f32: 0.0> : tile<128x8xf32>
  %z, %t0 = load_view_tko weak %qp[%0, %0] : partition_view<tile=(64x8), tensor_view<64x8xf16, strides=[8,1]>>, tile<i32> -> tile<64x8xf16>, token
  %sum = for %j in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x8xf32>) {
    %x, %t1 = load_view_tko weak %kp[%j, %0] : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %y, %t2 = load_view_tko weak %vp[%0, %j] : partition_view<tile=(64x128), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %x, %z, %none : tile<128x64xf16>, tile<64x8xf16>, tile<128x8xf32>
    %e = exp2 %s : tile<128x8xf32>
    %p = ftof %e : tile<128x8xf32> -> tile<128x8xf16>
    %d = mmaf %y, %p, %acc : tile<64x128xf16>, tile<128x8xf16>, tile<64x8xf32>
    continue %d : tile<64x8xf32>
  }
  %t3 = store_view_tko weak %sum, %op[%0, %0] : tile<64x8xf32>, partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>>, tile<i32> -> token
  return
}
