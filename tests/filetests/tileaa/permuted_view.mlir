// A view that permutes dimensions says so in dim_map.
// run: compile --emit nv_tileaa
// show: tiled_
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf32, strides=[512,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x64), tensor_view<1024x512xf32, strides=[512,1]>, dim_map=[1, 0]>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf32, strides=[512,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), tensor_view<1024x512xf32, strides=[512,1]>, dim_map=[1, 0]>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %x, %l = load_view_tko weak %ta[%i, %j] : partition_view<tile=(32x64), tensor_view<1024x512xf32, strides=[512,1]>, dim_map=[1, 0]>, tile<i32> -> tile<32x64xf32>, token
  %s = store_view_tko weak %x, %tb[%i, %j] : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<1024x512xf32, strides=[512,1]>, dim_map=[1, 0]>, tile<i32> -> token
  return
}
