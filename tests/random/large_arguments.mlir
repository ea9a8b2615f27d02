// Not a finding: sines, cosines and tangents of numbers on both sides of where they take a long reduction, of a matmul's result,
// in a loop and of one number a thread. They are cut to a few bits, in which all that approximate them agree.
// grid: 1,1,1
// arg: buffer f16 4096 whole -8 8 seed 1
// arg: buffer f16 4096 whole -8 8 seed 2
// arg: buffer f32 4096 whole 0 0 seed 0
// arg: buffer f32 512 whole -250000 250000 seed 3
// arg: buffer f32 512 whole 0 0 seed 0
entry @main(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %z: tile<ptr<f32>>, %u: tile<ptr<f32>>, %v: tile<ptr<f32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %x16 = assume div_by<16>, %x : tile<ptr<f16>>
  %y16 = assume div_by<16>, %y : tile<ptr<f16>>
  %z16 = assume div_by<16>, %z : tile<ptr<f32>>
  %tx = make_tensor_view %x16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %vx = make_partition_view %tx : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %ty = make_tensor_view %y16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %vy = make_partition_view %ty : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %a, %t1 = load_view_tko weak %vx[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %b, %t2 = load_view_tko weak %vy[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %m = mmaf %a, %b, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
  %k = constant <f32: 500.0> : tile<64x64xf32>
  %l = mulf %m, %k rounding<nearest_even> : tile<64x64xf32>
  %s = sin %l : tile<64x64xf32>
  %c = cos %l : tile<64x64xf32>
  %e = constant <f32: 8.0> : tile<64x64xf32>
  %d = subf %s, %c rounding<nearest_even> : tile<64x64xf32>
  %f = mulf %d, %e rounding<nearest_even> : tile<64x64xf32>
  %n = floor %f : tile<64x64xf32>
  %tz = make_tensor_view %z16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %vz = make_partition_view %tz : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %t3 = store_view_tko weak %n, %vz[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %tu = make_tensor_view %u, shape = [512], strides = [1] : tensor_view<512xf32, strides=[1]>
  %vu = make_partition_view %tu : partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>
  %tv = make_tensor_view %v, shape = [512], strides = [1] : tensor_view<512xf32, strides=[1]>
  %vv = make_partition_view %tv : partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>
  for %i in (%c0 to %c4, step %c1) : tile<i32> {
    %w, %t4 = load_view_tko weak %vu[%i] : partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
    %p = tan %w : tile<128xf32>
    %g = sin %w : tile<128xf32>
    %h = mulf %p, %g rounding<nearest_even> : tile<128xf32>
    %o = constant <f32: 1.0> : tile<128xf32>
    %r = constant <f32: 0.0> : tile<128xf32>
    %j = cmpf greater_than ordered %h, %o : tile<128xf32> -> tile<128xi1>
    %q = select %j, %o, %r : tile<128xi1>, tile<128xf32>
    %t5 = store_view_tko weak %q, %vv[%i] : tile<128xf32>, partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>, tile<i32> -> token
    continue
  }
  return
}
