// A block writes the numbers whose least says where its loop begins, and reads them behind that: no producer may read them by
// itself.
// grid: 3,1,1
// arg: buffer i32 192 whole 0 0 seed 5
// arg: buffer f16 49152 whole -2 2 seed 0
// arg: buffer f16 16384 whole -2 2 seed 1
// arg: buffer f32 12288 whole 7 7 seed 0
entry @main(%table: tile<ptr<i32>>, %a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %4 = constant <i32: 4> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %tt = make_tensor_view %table, shape = [192], strides = [1] : tensor_view<192xi32, strides=[1]>
  %tp = make_partition_view %tt : partition_view<tile=(64), tensor_view<192xi32, strides=[1]>>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [192, 256], strides = [256, 1] : tensor_view<192x256xf16, strides=[256,1]>
  %bt = make_tensor_view %b16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [192, 64], strides = [64, 1] : tensor_view<192x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<192x256xf16, strides=[256,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<192x64xf32, strides=[64,1]>>
  %i = iota : tile<64xi32>
  %one = reshape %bid : tile<i32> -> tile<1xi32>
  %rows = broadcast %one : tile<1xi32> -> tile<64xi32>
  %numbers = addi %i, %rows : tile<64xi32>
  %t0 = store_view_tko weak %numbers, %tp[%bid] : tile<64xi32>, partition_view<tile=(64), tensor_view<192xi32, strides=[1]>>, tile<i32> -> token
  %read, %t1 = load_view_tko weak %tp[%bid] token = %t0 : partition_view<tile=(64), tensor_view<192xi32, strides=[1]>>, tile<i32> -> tile<64xi32>, token
  %first = reduce %read dim=0 identities=[2147483647 : i32] : tile<64xi32> -> tile<i32>
  (%x: tile<i32>, %y: tile<i32>) {
    %min = mini %x, %y signed : tile<i32>
    yield %min : tile<i32>
  }
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sums = for %k in (%first to %4, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t2 = load_view_tko weak %ap[%bid, %k] : partition_view<tile=(64x64), tensor_view<192x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
    %r, %t3 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t4 = store_view_tko weak %sums, %cp[%bid, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<192x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
