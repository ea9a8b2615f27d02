// Matrices of a batch, some behind each other in memory and some beside each other in its rows: tensor maps start at the
// parameter, and coordinates say which matrix. The last tile of a matrix is read and written in part, what lies behind it in
// memory belongs to the next one.
// grid: 2,6,1
// arg: buffer f16 76800 whole -2 2 seed 1
// arg: buffer f16 73728 whole -2 2 seed 2
// arg: buffer f16 38400 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %i, %z, %y = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 4> : tile<i32>
  %heads = constant <i32: 3> : tile<i32>
  %batch = divi %z, %heads signed : tile<i32>
  %all = muli %batch, %heads overflow<no_signed_wrap> : tile<i32>
  %head = subi %z, %all overflow<no_signed_wrap> : tile<i32>
  %z64 = exti %z signed : tile<i32> -> tile<i64>
  %batch64 = exti %batch signed : tile<i32> -> tile<i64>
  %head64 = exti %head signed : tile<i32> -> tile<i64>
  %wide = constant <i64: 64> : tile<i64>
  %heads64 = constant <i64: 3> : tile<i64>
  // 100 rows of 128, one matrix behind the other.
  %rowsA = constant <i64: 100> : tile<i64>
  %long = constant <i64: 128> : tile<i64>
  %oa0 = muli %z64, %rowsA : tile<i64>
  %oa = muli %oa0, %long : tile<i64>
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pra = offset %pa, %oa : tile<ptr<f16>>, tile<i64> -> tile<ptr<f16>>
  %va = make_tensor_view %pra, shape = [100, 128], strides = [128, 1] : tensor_view<100x128xf16, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), padding_value = zero, tensor_view<100x128xf16, strides=[128,1]>>
  // 128 rows of three matrices of 64 columns and as many that are not read.
  %rowsB = constant <i64: 128> : tile<i64>
  %rowB = constant <i64: 288> : tile<i64>
  %ob0 = muli %batch64, %rowsB : tile<i64>
  %ob1 = muli %ob0, %rowB : tile<i64>
  %ob2 = muli %head64, %wide : tile<i64>
  %ob = addi %ob1, %ob2 : tile<i64>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %prb = offset %pb, %ob : tile<ptr<f16>>, tile<i64> -> tile<ptr<f16>>
  %vb = make_tensor_view %prb, shape = [128, 64], strides = [288, 1] : tensor_view<128x64xf16, strides=[288,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), padding_value = zero, tensor_view<128x64xf16, strides=[288,1]>>
  // Rows of three results beside each other, batches behind each other: 3 * (batch * 100 + row) + head, times 64.
  %oc0 = muli %batch64, %rowsA : tile<i64>
  %oc1 = muli %oc0, %heads64 : tile<i64>
  %oc2 = addi %oc1, %head64 : tile<i64>
  %oc = muli %oc2, %wide : tile<i64>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %prc = offset %pc, %oc : tile<ptr<f16>>, tile<i64> -> tile<ptr<f16>>
  %vc = make_tensor_view %prc, shape = [100, 64], strides = [192, 1] : tensor_view<100x64xf16, strides=[192,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<100x64xf16, strides=[192,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x32), padding_value = zero, tensor_view<100x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(32x64), padding_value = zero, tensor_view<128x64xf16, strides=[288,1]>>, tile<i32> -> tile<32x64xf16>, token
    %p = mmaf %l, %r, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    continue %p : tile<64x64xf32>
  }
  %h = ftof %sum rounding<nearest_even> : tile<64x64xf32> -> tile<64x64xf16>
  %t2 = store_view_tko weak %h, %tc[%i, %c0] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<100x64xf16, strides=[192,1]>>, tile<i32> -> token
  return
}
