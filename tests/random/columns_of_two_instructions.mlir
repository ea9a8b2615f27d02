// A warpgroup's columns of a result with all 1024 of a row are more than one instruction has; the mean of the squares of each row needs
// them whole.
// grid: 1,1,1
// arg: buffer f16 4096 whole -2 2 seed 0
// arg: buffer f16 65536 whole -2 2 seed 1
// arg: buffer f16 65536 whole 7 7 seed 0
// arg: buffer f32 64 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %means: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 2> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %bt = make_tensor_view %b16, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x32), tensor_view<64x64xf16, strides=[64,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(32x1024), tensor_view<64x1024xf16, strides=[1024,1]>>
  %zero = constant <f32: 0.0> : tile<64x1024xf32>
  %sum = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x1024xf32>) {
    %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(64x32), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x32xf16>, token
    %y, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(32x1024), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<32x1024xf16>, token
    %d = mmaf %x, %y, %acc : tile<64x32xf16>, tile<32x1024xf16>, tile<64x1024xf32>
    continue %d : tile<64x1024xf32>
  }
  %square = mulf %sum, %sum : tile<64x1024xf32>
  %squares = reduce %square dim=1 identities=[0.0 : f32] : tile<64x1024xf32> -> tile<64xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = addf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %part = constant <f32: 0.0009765625> : tile<64xf32>
  %mean = mulf %squares, %part : tile<64xf32>
  %column = reshape %mean : tile<64xf32> -> tile<64x1xf32>
  %each = broadcast %column : tile<64x1xf32> -> tile<64x1024xf32>
  %less = subf %sum, %each : tile<64x1024xf32>
  %narrow = ftof %less : tile<64x1024xf32> -> tile<64x1024xf16>
  %ct = make_tensor_view %c16, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
  %cp = make_partition_view %ct : partition_view<tile=(64x1024), tensor_view<64x1024xf16, strides=[1024,1]>>
  %t2 = store_view_tko weak %narrow, %cp[%0, %0] : tile<64x1024xf16>, partition_view<tile=(64x1024), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  %mt = make_tensor_view %means, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
  %mp = make_partition_view %mt : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
  %t3 = store_view_tko weak %mean, %mp[%0] : tile<64xf32>, partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
  return
}
