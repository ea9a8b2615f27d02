// The contiguous dimension is the first: its elements are neighbours in a thread.
// run: explain --gpu-name sm_80
// show: reg [ | conversion !
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1, 1024] : tensor_view<1024x1024xf32, strides=[1,1024]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1,1024]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1, 1024] : tensor_view<1024x1024xf32, strides=[1,1024]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1,1024]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %x, %l = load_view_tko weak %ta[%i, %j] : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1,1024]>>, tile<i32> -> tile<64x64xf32>, token
  %s = store_view_tko weak %x, %tb[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1,1024]>>, tile<i32> -> token
  return
}
