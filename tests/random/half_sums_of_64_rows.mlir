// Matmuls of 64 rows that add up in f16: a loop's sum, which is the left operand of another matmul, and a few columns.
// grid: 2,1,1
// arg: buffer f16 4096 whole -1 1 seed 0
// arg: buffer f16 2048 whole -1 1 seed 1
// arg: buffer f16 4096 whole -1 1 seed 2
// arg: buffer f16 8192 whole 7 7 seed 0
// arg: buffer f16 8192 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %d: tile<ptr<f16>>, %s: tile<ptr<f16>>, %o: tile<ptr<f16>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %d16 = assume div_by<16>, %d : tile<ptr<f16>>
  %s16 = assume div_by<16>, %s : tile<ptr<f16>>
  %o16 = assume div_by<16>, %o : tile<ptr<f16>>
  %at = make_tensor_view %a16, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf16, strides=[32,1]>
  %bt = make_tensor_view %b16, shape = [32, 64], strides = [64, 1] : tensor_view<32x64xf16, strides=[64,1]>
  %dt = make_tensor_view %d16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %st = make_tensor_view %s16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ot = make_tensor_view %o16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x16), tensor_view<128x32xf16, strides=[32,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(16x64), tensor_view<32x64xf16, strides=[64,1]>>
  %dp = make_partition_view %dt : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %sp = make_partition_view %st : partition_view<tile=(64x64), tensor_view<128x64xf16, strides=[64,1]>>
  %op = make_partition_view %ot : partition_view<tile=(64x64), tensor_view<128x64xf16, strides=[64,1]>>
  %zero = constant <f16: 0.0> : tile<64x64xf16>
  %sums = for %k in (%0 to %2, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf16>) {
    %l, %t0 = load_view_tko weak %ap[%bid, %k] : partition_view<tile=(64x16), tensor_view<128x32xf16, strides=[32,1]>>, tile<i32> -> tile<64x16xf16>, token
    %r, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(16x64), tensor_view<32x64xf16, strides=[64,1]>>, tile<i32> -> tile<16x64xf16>, token
    %sum = mmaf %l, %r, %acc : tile<64x16xf16>, tile<16x64xf16>, tile<64x64xf16>
    continue %sum : tile<64x64xf16>
  }
  %y, %t2 = load_view_tko weak %dp[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %p = mmaf %sums, %y, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf16>
  %t3 = store_view_tko weak %sums, %sp[%bid, %0] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> token
  %t4 = store_view_tko weak %p, %op[%bid, %0] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> token
  return
}
