// A batch of one matrix is a matrix, also where a loop carries the sums: warpgroups multiply what tensor copies bring. Of two
// rows, the operands are swapped.
// run: compile --emit nv_tileas --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: nv_tileas.dot" | async.dot" | "cuda_tile.for" | tiled_load | tma_load
entry @square(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 1024, 1024], strides = [1048576, 1024, 1] : tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x128x64), tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 1024, 1024], strides = [1048576, 1024, 1] : tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1x64x128), tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 1024, 1024], strides = [1048576, 1024, 1] : tensor_view<64x1024x1024xf32, strides=[1048576,1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(1x128x128), tensor_view<64x1024x1024xf32, strides=[1048576,1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<1x128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<1x128x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%z, %i, %k] : partition_view<tile=(1x128x64), tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>>, tile<i32> -> tile<1x128x64xf16>, token
    %y, %t1 = load_view_tko weak %tb[%z, %k, %j] : partition_view<tile=(1x64x128), tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>>, tile<i32> -> tile<1x64x128xf16>, token
    %s = mmaf %x, %y, %acc : tile<1x128x64xf16>, tile<1x64x128xf16>, tile<1x128x128xf32>
    continue %s : tile<1x128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%z, %i, %j] : tile<1x128x128xf32>, partition_view<tile=(1x128x128), tensor_view<64x1024x1024xf32, strides=[1048576,1024,1]>>, tile<i32> -> token
  return
}
entry @two(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 1024, 1024], strides = [1048576, 1024, 1] : tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x2x64), tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 1024, 1024], strides = [1048576, 1024, 1] : tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1x64x128), tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 1024, 1024], strides = [1048576, 1024, 1] : tensor_view<64x1024x1024xf32, strides=[1048576,1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(1x2x128), tensor_view<64x1024x1024xf32, strides=[1048576,1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<1x2x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<1x2x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%z, %i, %k] : partition_view<tile=(1x2x64), tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>>, tile<i32> -> tile<1x2x64xf16>, token
    %y, %t1 = load_view_tko weak %tb[%z, %k, %j] : partition_view<tile=(1x64x128), tensor_view<64x1024x1024xf16, strides=[1048576,1024,1]>>, tile<i32> -> tile<1x64x128xf16>, token
    %s = mmaf %x, %y, %acc : tile<1x2x64xf16>, tile<1x64x128xf16>, tile<1x2x128xf32>
    continue %s : tile<1x2x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%z, %i, %j] : tile<1x2x128xf32>, partition_view<tile=(1x2x128), tensor_view<64x1024x1024xf32, strides=[1048576,1024,1]>>, tile<i32> -> token
  return
}
