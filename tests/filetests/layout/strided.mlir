// No dimension is contiguous: one element per access.
// run: explain --gpu-name sm_80
// run: compile --gpu-name sm_80
// show: reg [ | conversion ! | ld.global | st.global
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [2048, 2] : tensor_view<1024x1024xf32, strides=[2048,2]>
  %ta = make_partition_view %va : partition_view<tile=(16x16), tensor_view<1024x1024xf32, strides=[2048,2]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [2048, 2] : tensor_view<1024x1024xf32, strides=[2048,2]>
  %tb = make_partition_view %vb : partition_view<tile=(16x16), tensor_view<1024x1024xf32, strides=[2048,2]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %x, %l = load_view_tko weak %ta[%i, %j] : partition_view<tile=(16x16), tensor_view<1024x1024xf32, strides=[2048,2]>>, tile<i32> -> tile<16x16xf32>, token
  %s = store_view_tko weak %x, %tb[%i, %j] : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<1024x1024xf32, strides=[2048,2]>>, tile<i32> -> token
  return
}
