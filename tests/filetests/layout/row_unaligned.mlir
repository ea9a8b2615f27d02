// Nothing is known about the address: one element per access, neighbours in neighbouring lanes.
// run: explain --gpu-name sm_80
// run: compile --gpu-name sm_80
// show: reg [ | conversion ! | ld.global | st.global
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %va = make_tensor_view %a, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>
  %vb = make_tensor_view %b, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %x, %l = load_view_tko weak %ta[%i] : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<256xf32>, token
  %s = store_view_tko weak %x, %tb[%i] : tile<256xf32>, partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> token
  return
}
