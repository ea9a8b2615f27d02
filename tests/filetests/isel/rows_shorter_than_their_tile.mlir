// A tile of a whole row that may be longer than the row is accessed in vectors where the row's extent is a multiple of a
// vector's elements, each under a mask of its own; element by element where it is not.
// run: compile --gpu-name sm_80
// show: and.b32 | setp | bra | ld.global | st.global
entry @k(%a: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i32>) {
  %c0 = constant <i32: 0> : tile<i32>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %p = assume div_by<16>, %a : tile<ptr<f32>>
  %t = assume div_by<4>, %s : tile<i32>
  %va = make_tensor_view %p, shape = [64, %n], strides = [%t, 1] : tile<i32> -> tensor_view<64x?xf32, strides=[?,1]>
  %pa = make_partition_view %va : partition_view<tile=(1x512), padding_value = zero, tensor_view<64x?xf32, strides=[?,1]>>
  %r, %tr = load_view_tko weak %pa[%x, %c0] : partition_view<tile=(1x512), padding_value = zero, tensor_view<64x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x512xf32>, token
  %d = addf %r, %r : tile<1x512xf32>
  %ts = store_view_tko weak %d, %pa[%x, %c0] : tile<1x512xf32>, partition_view<tile=(1x512), padding_value = zero, tensor_view<64x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
