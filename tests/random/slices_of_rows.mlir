// Rows of tensors from one to another: the last tile of a slice is read and written in part, what lies behind it in memory
// belongs to the next one. The third block is outside altogether. Of the second operand the number of rows is computed alone.
// grid: 3,1,1
// arg: buffer f16 25600 whole -2 2 seed 1
// arg: buffer f16 8192 whole -2 2 seed 2
// arg: buffer f16 25600 whole 7 7 seed 0
// arg: i32 5
// arg: i32 105
// arg: i32 128
// arg: i32 40
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %first: tile<i32>, %end: tile<i32>, %sa: tile<i32>, %most: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %s0 = assume bounded<0, ?>, %sa : tile<i32>
  %s = assume div_by<16>, %s0 : tile<i32>
  %rows = subi %end, %first : tile<i32>
  %first64 = exti %first signed : tile<i32> -> tile<i64>
  %s64 = exti %s signed : tile<i32> -> tile<i64>
  %o = muli %first64, %s64 : tile<i64>
  %pr = offset %pa, %o : tile<ptr<f16>>, tile<i64> -> tile<ptr<f16>>
  %pra = assume div_by<16>, %pr : tile<ptr<f16>>
  %va = make_tensor_view %pra, shape = [%rows, 128], strides = [%s, 1] : tile<i32> -> tensor_view<?x128xf16, strides=[?,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), padding_value = zero, tensor_view<?x128xf16, strides=[?,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %inner = addi %most, %first : tile<i32>
  %vb = make_tensor_view %pb, shape = [%inner, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %c64 = constant <i32: 64> : tile<i32>
  %oc = muli %first, %c64 : tile<i32>
  %prc = offset %pc, %oc : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %prca = assume div_by<16>, %prc : tile<ptr<f16>>
  %vc = make_tensor_view %prca, shape = [%rows, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<?x64xf16, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 4> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x32), padding_value = zero, tensor_view<?x128xf16, strides=[?,1]>>, tile<i32> -> tile<64x32xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(32x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
    %p = mmaf %l, %r, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    continue %p : tile<64x64xf32>
  }
  %h = ftof %sum rounding<nearest_even> : tile<64x64xf32> -> tile<64x64xf16>
  %t2 = store_view_tko weak %h, %tc[%i, %c0] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> token
  return
}
