// Eight rows, as queries of a group of eight heads: the matmul is done by its transpose, whose eight columns the matrix
// instruction has, with the sum carried as it is made; so are those of a batch, a warp each.
// run: compile --emit nv_tileas --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: nv_tileas.dot" | async.dot" | "cuda_tile.for" | tiled_load | tma_load
entry @eight(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(8x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(8x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<8x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<8x64xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(8x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<8x64xf16>, token
    %y, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %yt = permute %y [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %x, %yt, %acc : tile<8x64xf16>, tile<64x64xf16>, tile<8x64xf32>
    continue %s : tile<8x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<8x64xf32>, partition_view<tile=(8x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @batch(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 8, 64], strides = [512, 64, 1] : tensor_view<64x8x64xf16, strides=[512,64,1]>
  %ta = make_partition_view %va : partition_view<tile=(4x8x64), tensor_view<64x8x64xf16, strides=[512,64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 64, 32], strides = [2048, 32, 1] : tensor_view<64x64x32xf16, strides=[2048,32,1]>
  %tb = make_partition_view %vb : partition_view<tile=(4x64x32), tensor_view<64x64x32xf16, strides=[2048,32,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 8, 32], strides = [256, 32, 1] : tensor_view<64x8x32xf32, strides=[256,32,1]>
  %tc = make_partition_view %vc : partition_view<tile=(4x8x32), tensor_view<64x8x32xf32, strides=[256,32,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<4x8x32xf32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0, %c0] : partition_view<tile=(4x8x64), tensor_view<64x8x64xf16, strides=[512,64,1]>>, tile<i32> -> tile<4x8x64xf16>, token
  %y, %t1 = load_view_tko weak %tb[%i, %c0, %c0] : partition_view<tile=(4x64x32), tensor_view<64x64x32xf16, strides=[2048,32,1]>>, tile<i32> -> tile<4x64x32xf16>, token
  %s = mmaf %x, %y, %zero : tile<4x8x64xf16>, tile<4x64x32xf16>, tile<4x8x32xf32>
  %t2 = store_view_tko weak %s, %tc[%i, %c0, %c0] : tile<4x8x32xf32>, partition_view<tile=(4x8x32), tensor_view<64x8x32xf32, strides=[256,32,1]>>, tile<i32> -> token
  return
}
