// A matmul's right operand by a view that gathers rows: some of their numbers are negative or behind the last row, and the tile
// goes beyond the last column, where zeros are loaded.
// grid: 2,1,1
// arg: buffer f16 8192 whole -2 2 seed 0
// arg: buffer f16 5120 whole -2 2 seed 1
// arg: buffer i32 128 whole -4 52 seed 2
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: i32 50
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %numbers: tile<ptr<i32>>, %c: tile<ptr<f32>>, %rows: tile<i32>) {
  %i, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %n16 = assume div_by<16>, %numbers : tile<ptr<i32>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %rows0 = assume bounded<0, ?>, %rows : tile<i32>
  %at = make_tensor_view %a16, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %nt = make_tensor_view %n16, shape = [128], strides = [1] : tensor_view<128xi32, strides=[1]>
  %bt = make_tensor_view %b16, shape = [%rows0, 96], strides = [96, 1] : tile<i32> -> tensor_view<?x96xf16, strides=[96,1]>
  %ct = make_tensor_view %c16, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<64x128xf16, strides=[128,1]>>
  %np = make_partition_view %nt : partition_view<tile=(64), tensor_view<128xi32, strides=[1]>>
  %bp = make_gather_scatter_view %bt : gather_scatter_view<tile=(64x64), padding_value = zero, tensor_view<?x96xf16, strides=[96,1]>, sparse_dim=0>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<64x128xf32, strides=[128,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %first = constant <i32: 64> : tile<i32>
  %column = muli %i, %first : tile<i32>
  %sum = for %k in (%0 to %2, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %at0, %t1 = load_view_tko weak %np[%k] : partition_view<tile=(64), tensor_view<128xi32, strides=[1]>>, tile<i32> -> tile<64xi32>, token
    %r, %t2 = load_view_tko weak %bp[%at0, %column] : gather_scatter_view<tile=(64x64), padding_value = zero, tensor_view<?x96xf16, strides=[96,1]>, sparse_dim=0>, tile<64xi32>, tile<i32> -> tile<64x64xf16>, token
    %l, %t0 = load_view_tko weak %ap[%0, %k] : partition_view<tile=(64x64), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x64xf16>, token
    %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t3 = store_view_tko weak %sum, %cp[%0, %i] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
