// Warps share out the matrices of a batch, and multiply them without what others hold; 64 rows are for a warpgroup.
// run: compile --emit nv_tileas --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: #layout | nv_tileas.dot" | async.dot" | convert_layout | "cuda_tile.extract"
entry @small(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 32, 32], strides = [1024, 32, 1] : tensor_view<64x32x32xf16, strides=[1024,32,1]>
  %ta = make_partition_view %va : partition_view<tile=(8x32x32), tensor_view<64x32x32xf16, strides=[1024,32,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 32, 32], strides = [1024, 32, 1] : tensor_view<64x32x32xf16, strides=[1024,32,1]>
  %tb = make_partition_view %vb : partition_view<tile=(8x32x32), tensor_view<64x32x32xf16, strides=[1024,32,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 32, 32], strides = [1024, 32, 1] : tensor_view<64x32x32xf32, strides=[1024,32,1]>
  %tc = make_partition_view %vc : partition_view<tile=(8x32x32), tensor_view<64x32x32xf32, strides=[1024,32,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0, %c0] : partition_view<tile=(8x32x32), tensor_view<64x32x32xf16, strides=[1024,32,1]>>, tile<i32> -> tile<8x32x32xf16>, token
  %y, %t1 = load_view_tko weak %tb[%i, %c0, %c0] : partition_view<tile=(8x32x32), tensor_view<64x32x32xf16, strides=[1024,32,1]>>, tile<i32> -> tile<8x32x32xf16>, token
  %zero = constant <f32: 0.0> : tile<8x32x32xf32>
  %p = mmaf %x, %y, %zero : tile<8x32x32xf16>, tile<8x32x32xf16>, tile<8x32x32xf32>
  %t2 = store_view_tko weak %p, %tc[%i, %c0, %c0] : tile<8x32x32xf32>, partition_view<tile=(8x32x32), tensor_view<64x32x32xf32, strides=[1024,32,1]>>, tile<i32> -> token
  return
}
entry @rows(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 64, 32], strides = [2048, 32, 1] : tensor_view<64x64x32xf16, strides=[2048,32,1]>
  %ta = make_partition_view %va : partition_view<tile=(2x64x32), tensor_view<64x64x32xf16, strides=[2048,32,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 32, 32], strides = [1024, 32, 1] : tensor_view<64x32x32xf16, strides=[1024,32,1]>
  %tb = make_partition_view %vb : partition_view<tile=(2x32x32), tensor_view<64x32x32xf16, strides=[1024,32,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 64, 32], strides = [2048, 32, 1] : tensor_view<64x64x32xf32, strides=[2048,32,1]>
  %tc = make_partition_view %vc : partition_view<tile=(2x64x32), tensor_view<64x64x32xf32, strides=[2048,32,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0, %c0] : partition_view<tile=(2x64x32), tensor_view<64x64x32xf16, strides=[2048,32,1]>>, tile<i32> -> tile<2x64x32xf16>, token
  %y, %t1 = load_view_tko weak %tb[%i, %c0, %c0] : partition_view<tile=(2x32x32), tensor_view<64x32x32xf16, strides=[1024,32,1]>>, tile<i32> -> tile<2x32x32xf16>, token
  %zero = constant <f32: 0.0> : tile<2x64x32xf32>
  %p = mmaf %x, %y, %zero : tile<2x64x32xf16>, tile<2x32x32xf16>, tile<2x64x32xf32>
  %t2 = store_view_tko weak %p, %tc[%i, %c0, %c0] : tile<2x64x32xf32>, partition_view<tile=(2x64x32), tensor_view<64x64x32xf32, strides=[2048,32,1]>>, tile<i32> -> token
  return
}
