// A transposition between load and store: one conversion, both accesses as wide as they can be.
// run: explain --gpu-name sm_80
// show: reg [ | conversion !
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf32, strides=[512,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), tensor_view<1024x512xf32, strides=[512,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [512, 1024], strides = [1024, 1] : tensor_view<512x1024xf32, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), tensor_view<512x1024xf32, strides=[1024,1]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %x, %l = load_view_tko weak %ta[%i, %j] : partition_view<tile=(64x32), tensor_view<1024x512xf32, strides=[512,1]>>, tile<i32> -> tile<64x32xf32>, token
  %y = permute %x [1, 0] : tile<64x32xf32> -> tile<32x64xf32>
  %s = store_view_tko weak %y, %tb[%j, %i] : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<512x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
