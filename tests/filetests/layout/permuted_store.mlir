// Where the innermost dimension keeps its place, what is stored permuted lies as it was loaded, for a thread stores as many
// elements at once; a transposed tile is converted.
// run: compile --emit nv_tileas --gpu-name sm_80
// show: #layout | convert_layout | cuda_tile.permute | tiled_load | tiled_store
entry @k(%p: tile<ptr<f32>>, %o: tile<ptr<f32>>, %u: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %xa = assume div_by<16>, %p : tile<ptr<f32>>
  %xt = make_tensor_view %xa, shape = [8, 16, 64], strides = [1024, 64, 1] : tensor_view<8x16x64xf32, strides=[1024,64,1]>
  %xv = make_partition_view %xt : partition_view<tile=(8x16x64), tensor_view<8x16x64xf32, strides=[1024,64,1]>>
  %ya = assume div_by<16>, %o : tile<ptr<f32>>
  %yt = make_tensor_view %ya, shape = [16, 8, 64], strides = [512, 64, 1] : tensor_view<16x8x64xf32, strides=[512,64,1]>
  %yv = make_partition_view %yt : partition_view<tile=(16x8x64), tensor_view<16x8x64xf32, strides=[512,64,1]>>
  %za = assume div_by<16>, %u : tile<ptr<f32>>
  %zt = make_tensor_view %za, shape = [8, 64, 16], strides = [1024, 16, 1] : tensor_view<8x64x16xf32, strides=[1024,16,1]>
  %zv = make_partition_view %zt : partition_view<tile=(8x64x16), tensor_view<8x64x16xf32, strides=[1024,16,1]>>
  %w, %t1 = load_view_tko weak %xv[%0, %0, %0] : partition_view<tile=(8x16x64), tensor_view<8x16x64xf32, strides=[1024,64,1]>>, tile<i32> -> tile<8x16x64xf32>, token
  %e = exp %w : tile<8x16x64xf32>
  %q = permute %e [1, 0, 2] : tile<8x16x64xf32> -> tile<16x8x64xf32>
  %r = negf %q : tile<16x8x64xf32>
  %t2 = store_view_tko weak %r, %yv[%0, %0, %0] : tile<16x8x64xf32>, partition_view<tile=(16x8x64), tensor_view<16x8x64xf32, strides=[512,64,1]>>, tile<i32> -> token
  %s = permute %w [0, 2, 1] : tile<8x16x64xf32> -> tile<8x64x16xf32>
  %t3 = store_view_tko weak %s, %zv[%0, %0, %0] : tile<8x64x16xf32>, partition_view<tile=(8x64x16), tensor_view<8x64x16xf32, strides=[1024,16,1]>>, tile<i32> -> token
  return
}
