// A result that two rows are applied to is stored as bytes, in parts of its columns in tensor memory.
// grid: 1,2,1
// arg: buffer f16 24576 whole -2 2 seed 0
// arg: buffer f16 49152 whole -2 2 seed 1
// arg: buffer f32 256 whole -2 2 seed 2
// arg: buffer f32 256 whole -9 9 seed 3
// arg: buffer i8 32768 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %s: tile<ptr<f32>>, %t: tile<ptr<f32>>, %c: tile<ptr<i8>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 192], strides = [192, 1] : tensor_view<128x192xf16, strides=[192,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<128x192xf16, strides=[192,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [192, 256], strides = [256, 1] : tensor_view<192x256xf16, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<192x256xf16, strides=[256,1]>>
  %ps = assume div_by<16>, %s : tile<ptr<f32>>
  %vs = make_tensor_view %ps, shape = [256], strides = [1] : tensor_view<256xf32, strides=[1]>
  %ts = make_partition_view %vs : partition_view<tile=(128), tensor_view<256xf32, strides=[1]>>
  %pt = assume div_by<16>, %t : tile<ptr<f32>>
  %vt = make_tensor_view %pt, shape = [256], strides = [1] : tensor_view<256xf32, strides=[1]>
  %tt = make_partition_view %vt : partition_view<tile=(128), tensor_view<256xf32, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<i8>>
  %vc = make_tensor_view %pc, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xi8, strides=[256,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<128x256xi8, strides=[256,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 3> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<128x192xf16, strides=[192,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<192x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x128xf16>, token
    %m = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %m : tile<128x128xf32>
  }
  %s1, %t2 = load_view_tko weak %ts[%j] : partition_view<tile=(128), tensor_view<256xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
  %s2 = reshape %s1 : tile<128xf32> -> tile<1x128xf32>
  %s3 = broadcast %s2 : tile<1x128xf32> -> tile<128x128xf32>
  %b1, %t3 = load_view_tko weak %tt[%j] : partition_view<tile=(128), tensor_view<256xf32, strides=[1]>>, tile<i32> -> tile<128xf32>, token
  %b2 = reshape %b1 : tile<128xf32> -> tile<1x128xf32>
  %b3 = broadcast %b2 : tile<1x128xf32> -> tile<128x128xf32>
  %x = mulf %sum, %s3 rounding<nearest_even> : tile<128x128xf32>
  %y = addf %x, %b3 rounding<nearest_even> : tile<128x128xf32>
  %word = ftoi %y signed rounding<nearest_int_to_zero> : tile<128x128xf32> -> tile<128x128xi32>
  %o = trunci %word : tile<128x128xi32> -> tile<128x128xi8>
  %t4 = store_view_tko weak %o, %tc[%i, %j] : tile<128x128xi8>, partition_view<tile=(128x128), tensor_view<128x256xi8, strides=[256,1]>>, tile<i32> -> token
  return
}
