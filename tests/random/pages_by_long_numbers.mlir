// As pages_by_copies.mlir, with numbers of 64 bits: a matmul's right operand lies in four pages of sixteen rows: some of their numbers are negative or behind the last page, and the
// tile goes beyond the last column, where zeros are loaded. The left one lies in two pages that stay the same.
// grid: 2,1,1
// arg: buffer f16 8192 whole -2 2 seed 0
// arg: buffer f16 49152 whole -2 2 seed 1
// arg: buffer i64 32 whole -2 34 seed 2
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: i32 31
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %numbers: tile<ptr<i64>>, %c: tile<ptr<f32>>, %pages: tile<i32>) {
  %i, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %6 = constant <i32: 6> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %n16 = assume div_by<16>, %numbers : tile<ptr<i64>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %pages32 = assume bounded<0, ?>, %pages : tile<i32>
  %pages0 = exti %pages32 signed : tile<i32> -> tile<i64>
  %c64 = constant <i64: 0> : tile<i64>
  %at = make_tensor_view %a16, shape = [2, 32, 128], strides = [4096, 128, 1] : tensor_view<2x32x128xf16, strides=[4096,128,1]>
  %nt = make_tensor_view %n16, shape = [32], strides = [1] : tensor_view<32xi64, strides=[1]>
  %bt = make_tensor_view %b16, shape = [%pages0, 16, 96], strides = [1536, 96, 1] : tile<i64> -> tensor_view<?x16x96xf16, strides=[1536,96,1]>
  %ct = make_tensor_view %c16, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
  %ap = make_gather_scatter_view %at : gather_scatter_view<tile=(2x32x64), padding_value = zero, tensor_view<2x32x128xf16, strides=[4096,128,1]>, sparse_dim=0>
  %np = make_partition_view %nt : partition_view<tile=(4), tensor_view<32xi64, strides=[1]>>
  %bp = make_gather_scatter_view %bt : gather_scatter_view<tile=(4x16x64), padding_value = zero, tensor_view<?x16x96xf16, strides=[1536,96,1]>, sparse_dim=0>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<64x128xf32, strides=[128,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %wide = constant <i32: 64> : tile<i32>
  %column32 = muli %i, %wide : tile<i32>
  %column = exti %column32 signed : tile<i32> -> tile<i64>
  %two = iota : tile<2xi32>
  %one = constant <i32: 1> : tile<2xi32>
  %turned = subi %one, %two : tile<2xi32>
  %sum = for %k in (%0 to %6, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %half = andi %k, %1 : tile<i32>
    %deep = muli %half, %wide : tile<i32>
    %l2, %t0 = load_view_tko weak %ap[%turned, %0, %deep] : gather_scatter_view<tile=(2x32x64), padding_value = zero, tensor_view<2x32x128xf16, strides=[4096,128,1]>, sparse_dim=0>, tile<2xi32>, tile<i32>, tile<i32> -> tile<2x32x64xf16>, token
    %ids, %t1 = load_view_tko weak %np[%k] : partition_view<tile=(4), tensor_view<32xi64, strides=[1]>>, tile<i32> -> tile<4xi64>, token
    %r4, %t2 = load_view_tko weak %bp[%ids, %c64, %column] : gather_scatter_view<tile=(4x16x64), padding_value = zero, tensor_view<?x16x96xf16, strides=[1536,96,1]>, sparse_dim=0>, tile<4xi64>, tile<i64>, tile<i64> -> tile<4x16x64xf16>, token
    %l = reshape %l2 : tile<2x32x64xf16> -> tile<64x64xf16>
    %r = reshape %r4 : tile<4x16x64xf16> -> tile<64x64xf16>
    %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t3 = store_view_tko weak %sum, %cp[%0, %i] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
