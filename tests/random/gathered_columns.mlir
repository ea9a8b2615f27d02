// grid: 2,1,1
// arg: buffer f16 2048 uniform -4 4 seed 3
// arg: buffer f16 2048 zero seed 0
// arg: i32 8
// arg: i32 256
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %rows: tile<i32>, %stride: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %n = assume bounded<0, ?>, %rows : tile<i32>
  %apart = assume div_by<8>, %stride : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %width = constant <i32: 128> : tile<i32>
  %order = constant <i32: [3, 1, 0, 2, 7, 5, 6, 4]> : tile<8xi32>
  %va = make_tensor_view %pa, shape = [%n, 256], strides = [%apart, 1] : tile<i32> -> tensor_view<?x256xf16, strides=[?,1]>
  %ga = make_gather_scatter_view %va : gather_scatter_view<tile=(8x128), padding_value = zero, tensor_view<?x256xf16, strides=[?,1]>, sparse_dim=0>
  %vb = make_tensor_view %pb, shape = [8, 256], strides = [256, 1] : tensor_view<8x256xf16, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(8x128), tensor_view<8x256xf16, strides=[256,1]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %half = remi %i, %c2 unsigned : tile<i32>
  %first = muli %half, %width : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %x, %l = load_view_tko weak %ga[%order, %first] : gather_scatter_view<tile=(8x128), padding_value = zero, tensor_view<?x256xf16, strides=[?,1]>, sparse_dim=0>, tile<8xi32>, tile<i32> -> tile<8x128xf16>, token
  %s = store_view_tko weak %x, %tb[%zero, %half] : tile<8x128xf16>, partition_view<tile=(8x128), tensor_view<8x256xf16, strides=[256,1]>>, tile<i32> -> token
  return
}
