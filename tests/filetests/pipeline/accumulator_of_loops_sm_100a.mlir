// A loop around the one that multiplies hands the sum on, as a convolution's over the window does: it stays in tensor memory
// for both.
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: tensor_load | tensor_store | tensor_dot | "cuda_tile.for" | "cuda_tile.continue" | "nv_tileas.tiled_store
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %m: tile<i32>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %h in (%c0 to %m, step %c1) : tile<i32> iter_values(%outer = %zero) -> (tile<128x128xf32>) {
    %inner = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %outer) -> (tile<128x128xf32>) {
      %at = addi %h, %k : tile<i32>
      %l, %t0 = load_view_tko weak %ta[%i, %at] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
      %r, %t1 = load_view_tko weak %tb[%at, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
      %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      continue %s : tile<128x128xf32>
    }
    continue %inner : tile<128x128xf32>
  }
  %half = ftof %sum rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %t4 = store_view_tko weak %half, %tc[%i, %j] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
