// Each tile of a persistent loop begins at the first of the documents that its 64 rows belong to, and multiplies by the matrix
// whose number 128 others have the least: a reduction of numbers of 64 bits, and one of pairs, which a producer does alone.
// grid: 3,1,1
// arg: buffer i64 384 whole 0 4 seed 5
// arg: buffer i32 768 whole 0 100 seed 6
// arg: buffer f16 98304 whole -2 2 seed 0
// arg: buffer f16 98304 whole -2 2 seed 1
// arg: buffer f32 24576 whole 7 7 seed 0
entry @main(%docs: tile<ptr<i64>>, %scores: tile<ptr<i32>>, %a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %3 = constant <i32: 3> : tile<i32>
  %4 = constant <i32: 4> : tile<i32>
  %6 = constant <i32: 6> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %dt = make_tensor_view %docs, shape = [384], strides = [1] : tensor_view<384xi64, strides=[1]>
  %dp = make_partition_view %dt : partition_view<tile=(64), tensor_view<384xi64, strides=[1]>>
  %st = make_tensor_view %scores, shape = [6, 128], strides = [128, 1] : tensor_view<6x128xi32, strides=[128,1]>
  %sp = make_partition_view %st : partition_view<tile=(1x128), tensor_view<6x128xi32, strides=[128,1]>>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [384, 256], strides = [256, 1] : tensor_view<384x256xf16, strides=[256,1]>
  %bt = make_tensor_view %b16, shape = [6, 256, 64], strides = [16384, 64, 1] : tensor_view<6x256x64xf16, strides=[16384,64,1]>
  %ct = make_tensor_view %c16, shape = [384, 64], strides = [64, 1] : tensor_view<384x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<384x256xf16, strides=[256,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(1x64x64), tensor_view<6x256x64xf16, strides=[16384,64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<384x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  for %tile in (%bid to %6, step %3) : tile<i32> {
    %doc, %t0 = load_view_tko weak %dp[%tile] : partition_view<tile=(64), tensor_view<384xi64, strides=[1]>>, tile<i32> -> tile<64xi64>, token
    %least = reduce %doc dim=0 identities=[9223372036854775807 : i64] : tile<64xi64> -> tile<i64>
    (%x: tile<i64>, %y: tile<i64>) {
      %min = mini %x, %y signed : tile<i64>
      yield %min : tile<i64>
    }
    %first = trunci %least : tile<i64> -> tile<i32>
    %row, %t1 = load_view_tko weak %sp[%tile, %0] : partition_view<tile=(1x128), tensor_view<6x128xi32, strides=[128,1]>>, tile<i32> -> tile<1x128xi32>, token
    %score = reshape %row : tile<1x128xi32> -> tile<128xi32>
    %places = iota : tile<128xi32>
    %best, %place = reduce %score, %places dim=0 identities=[2147483647 : i32, 2147483647 : i32] : tile<128xi32>, tile<128xi32> -> tile<i32>, tile<i32>
    (%s0: tile<i32>, %s1: tile<i32>, %p0: tile<i32>, %p1: tile<i32>) {
      %less = cmpi less_than %s1, %s0, signed : tile<i32> -> tile<i1>
      %same = cmpi equal %s1, %s0, signed : tile<i32> -> tile<i1>
      %before = cmpi less_than %p1, %p0, signed : tile<i32> -> tile<i1>
      %tie = andi %same, %before : tile<i1>
      %takes = ori %less, %tie : tile<i1>
      %s = select %takes, %s1, %s0 : tile<i1>, tile<i32>
      %p = select %takes, %p1, %p0 : tile<i1>, tile<i32>
      yield %s, %p : tile<i32>, tile<i32>
    }
    %matrix = remi %place, %6 signed : tile<i32>
    %sums = for %k in (%first to %4, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
      %l, %t2 = load_view_tko weak %ap[%tile, %k] : partition_view<tile=(64x64), tensor_view<384x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
      %w, %t3 = load_view_tko weak %bp[%matrix, %k, %0] : partition_view<tile=(1x64x64), tensor_view<6x256x64xf16, strides=[16384,64,1]>>, tile<i32> -> tile<1x64x64xf16>, token
      %r = reshape %w : tile<1x64x64xf16> -> tile<64x64xf16>
      %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      continue %s : tile<64x64xf32>
    }
    %t4 = store_view_tko weak %sums, %cp[%tile, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<384x64xf32, strides=[64,1]>>, tile<i32> -> token
    continue
  }
  return
}
