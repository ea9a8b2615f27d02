// Operands of 128 and 256 KB: K is cut in parts of 64 elements, in a loop whose loads run ahead.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | no wgmma | matmul by | kernel k | "cuda_tile.for" | tma_load | .dot"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x1024), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1024x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x128xf32>
  %l, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(64x1024), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x1024xf16>, token
  %r, %t1 = load_view_tko weak %tb[%c0, %j] : partition_view<tile=(1024x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<1024x128xf16>, token
  %s = mmaf %l, %r, %zero : tile<64x1024xf16>, tile<1024x128xf16>, tile<64x128xf32>
  %t2 = store_view_tko weak %s, %tc[%i, %j] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
