// A vector repeated along rows: no thread holds all of it.
// run: explain --gpu-name sm_80
// show: reg [ | conversion !
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(64), tensor_view<1024xf32, strides=[1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf32, strides=[512,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x32), tensor_view<1024x512xf32, strides=[512,1]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %x, %l = load_view_tko weak %ta[%i] : partition_view<tile=(64), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %q = reshape %x : tile<64xf32> -> tile<64x1xf32>
  %y = broadcast %q : tile<64x1xf32> -> tile<64x32xf32>
  %s = store_view_tko weak %y, %tb[%i, %j] : tile<64x32xf32>, partition_view<tile=(64x32), tensor_view<1024x512xf32, strides=[512,1]>>, tile<i32> -> token
  return
}
