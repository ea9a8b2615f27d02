// A result of 128 x 512 takes all registers of a block, and its rows are needed whole: 64 of them are worked on at a time, whose columns
// two warpgroups share. Where the accumulator lies in tensor memory, they stay together.
// run: explain --gpu-name sm_90a
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_100a
// show: strips
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %means: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 2> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %bt = make_tensor_view %b16, shape = [64, 512], strides = [512, 1] : tensor_view<64x512xf16, strides=[512,1]>
  %ap = make_partition_view %at : partition_view<tile=(128x32), tensor_view<128x64xf16, strides=[64,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(32x512), tensor_view<64x512xf16, strides=[512,1]>>
  %zero = constant <f32: 0.0> : tile<128x512xf32>
  %sum = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x512xf32>) {
    %x, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(128x32), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x32xf16>, token
    %y, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(32x512), tensor_view<64x512xf16, strides=[512,1]>>, tile<i32> -> tile<32x512xf16>, token
    %d = mmaf %x, %y, %acc : tile<128x32xf16>, tile<32x512xf16>, tile<128x512xf32>
    continue %d : tile<128x512xf32>
  }
  %square = mulf %sum, %sum : tile<128x512xf32>
  %squares = reduce %square dim=1 identities=[0.0 : f32] : tile<128x512xf32> -> tile<128xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = addf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %part = constant <f32: 0.001953125> : tile<128xf32>
  %mean = mulf %squares, %part : tile<128xf32>
  %column = reshape %mean : tile<128xf32> -> tile<128x1xf32>
  %each = broadcast %column : tile<128x1xf32> -> tile<128x512xf32>
  %less = subf %sum, %each : tile<128x512xf32>
  %narrow = ftof %less : tile<128x512xf32> -> tile<128x512xf16>
  %ct = make_tensor_view %c16, shape = [128, 512], strides = [512, 1] : tensor_view<128x512xf16, strides=[512,1]>
  %cp = make_partition_view %ct : partition_view<tile=(128x512), tensor_view<128x512xf16, strides=[512,1]>>
  %t2 = store_view_tko weak %narrow, %cp[%0, %0] : tile<128x512xf16>, partition_view<tile=(128x512), tensor_view<128x512xf16, strides=[512,1]>>, tile<i32> -> token
  %mt = make_tensor_view %means, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
  %mp = make_partition_view %mt : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
  %t3 = store_view_tko weak %mean, %mp[%0] : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
  return
}
