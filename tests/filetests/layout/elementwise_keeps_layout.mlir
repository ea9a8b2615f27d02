// An elementwise operation between load and store needs no conversion.
// run: explain --gpu-name sm_80
// show: reg [ | conversion !
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %x, %l = load_view_tko weak %ta[%i] : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<256xf32>, token
  %y = addf %x, %x rounding<nearest_even> : tile<256xf32>
  %s = store_view_tko weak %y, %tb[%i] : tile<256xf32>, partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> token
  return
}
