// One stage of the tiles needs more shared memory than a block has, and they are multiplied whole: what the loop carries is
// no sum.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | no wgmma | kernel k | async. | .dot" | tiled_load | tiled_store
entry @k(%a: tile<ptr<f64>>, %b: tile<ptr<f64>>, %c: tile<ptr<f64>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f64>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf64, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<1024x1024xf64, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f64>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf64, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x128), tensor_view<1024x1024xf64, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f64>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf64, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf64, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f64: 0.0> : tile<128x128xf64>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf64>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x128), tensor_view<1024x1024xf64, strides=[1024,1]>>, tile<i32> -> tile<128x128xf64>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(128x128), tensor_view<1024x1024xf64, strides=[1024,1]>>, tile<i32> -> tile<128x128xf64>, token
    %p = mmaf %l, %r, %zero : tile<128x128xf64>, tile<128x128xf64>, tile<128x128xf64>
    %s = maxf %p, %acc : tile<128x128xf64>
    continue %s : tile<128x128xf64>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf64>, partition_view<tile=(128x128), tensor_view<1024x1024xf64, strides=[1024,1]>>, tile<i32> -> token
  return
}
