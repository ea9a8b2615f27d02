// Sums of rows that are stored, too, are converted for the store alone: what divides by them takes them where they were made.
// run: compile --emit nv_tileas --gpu-name sm_80
// show: #layout | convert_layout | cuda_tile.reduce | }) : | cuda_tile.reshape | tiled_store
entry @k(%p: tile<ptr<f32>>, %o: tile<ptr<f32>>, %u: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %xa = assume div_by<16>, %p : tile<ptr<f32>>
  %xt = make_tensor_view %xa, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %xv = make_partition_view %xt : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %ya = assume div_by<16>, %o : tile<ptr<f32>>
  %yt = make_tensor_view %ya, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %yv = make_partition_view %yt : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %za = assume div_by<16>, %u : tile<ptr<f32>>
  %zt = make_tensor_view %za, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
  %zv = make_partition_view %zt : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
  %w, %t1 = load_view_tko weak %xv[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
  %m = reduce %w dim=1 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32>
  (%a: tile<f32>, %b: tile<f32>) {
    %s = addf %a, %b : tile<f32>
    yield %s : tile<f32>
  }
  %m1 = reshape %m : tile<64xf32> -> tile<64x1xf32>
  %mb = broadcast %m1 : tile<64x1xf32> -> tile<64x64xf32>
  %q = divf %w, %mb : tile<64x64xf32>
  %t2 = store_view_tko weak %q, %yv[%0, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %t3 = store_view_tko weak %m, %zv[%0] : tile<64xf32>, partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
  return
}
