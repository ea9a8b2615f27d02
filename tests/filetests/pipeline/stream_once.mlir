// A loop that runs once or never has nothing to load ahead.
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | kernel k | async. | tiled_load | tiled_store
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %m: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = mini %m, %c1 signed : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<64x64xf32>, token
    %s = addf %l, %acc rounding<nearest_even> : tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tb[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
