// A result is scaled by a row, another row is added, and bytes are stored. The columns are worked on in parts, for a thread has too
// few registers for both rows: the buffer has halves of the columns one behind the other, though 128 bytes are one row of the widest
// swizzle.
// run: explain --gpu-name sm_100a
// show: epilogue | tensor map in | shared buffer
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %s: tile<ptr<f32>>, %t: tile<ptr<f32>>, %c: tile<ptr<f8E4M3FN>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %ps = assume div_by<16>, %s : tile<ptr<f32>>
  %vs = make_tensor_view %ps, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %ts = make_partition_view %vs : partition_view<tile=(128), tensor_view<1024xf32, strides=[1]>>
  %pt = assume div_by<16>, %t : tile<ptr<f32>>
  %vt = make_tensor_view %pt, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %tt = make_partition_view %vt : partition_view<tile=(128), tensor_view<1024xf32, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f8E4M3FN>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %m = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %m : tile<128x128xf32>
  }
  %s1, %t2 = load_view_tko weak %ts[%j] : partition_view<tile=(128), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
  %s2 = reshape %s1 : tile<128xf32> -> tile<1x128xf32>
  %s3 = broadcast %s2 : tile<1x128xf32> -> tile<128x128xf32>
  %b1, %t3 = load_view_tko weak %tt[%j] : partition_view<tile=(128), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
  %b2 = reshape %b1 : tile<128xf32> -> tile<1x128xf32>
  %b3 = broadcast %b2 : tile<1x128xf32> -> tile<128x128xf32>
  %x = mulf %sum, %s3 rounding<nearest_even> : tile<128x128xf32>
  %y = addf %x, %b3 rounding<nearest_even> : tile<128x128xf32>
  %o = ftof %y : tile<128x128xf32> -> tile<128x128xf8E4M3FN>
  %t4 = store_view_tko weak %o, %tc[%i, %j] : tile<128x128xf8E4M3FN>, partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> token
  return
}
