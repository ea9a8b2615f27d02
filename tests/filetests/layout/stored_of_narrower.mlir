// f32 that is computed of f16 lies as the f16 do: a thread loads 16 bytes at once and stores twice 16 bytes side by side.
// run: compile --gpu-name sm_90a
// show: ld.global | st.global
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [65536], strides = [1] : tensor_view<65536xf16, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(2048), tensor_view<65536xf16, strides=[1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [65536], strides = [1] : tensor_view<65536xf32, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(2048), tensor_view<65536xf32, strides=[1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i] : partition_view<tile=(2048), tensor_view<65536xf16, strides=[1]>>, tile<i32> -> tile<2048xf16>, token
  %y = ftof %x : tile<2048xf16> -> tile<2048xf32>
  %e = exp2 %y : tile<2048xf32>
  %t1 = store_view_tko weak %e, %tb[%i] : tile<2048xf32>, partition_view<tile=(2048), tensor_view<65536xf32, strides=[1]>>, tile<i32> -> token
  return
}
