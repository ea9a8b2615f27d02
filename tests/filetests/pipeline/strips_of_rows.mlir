// Eight rows of 8192 numbers, which are added and scaled: sixteen warps would hold 128 numbers in f32 a thread, all that a thread
// has. Rows need nothing of each other, so that they are loaded and worked on in parts.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: in strips | num_warps | "cuda_tile.for" | tiled_load | "cuda_tile.reduce" | tiled_store | mulf
entry @k(%a: tile<ptr<bf16>>, %b: tile<ptr<bf16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<bf16>>
  %va = make_tensor_view %pa, shape = [1024, 8192], strides = [8192, 1] : tensor_view<1024x8192xbf16, strides=[8192,1]>
  %ta = make_partition_view %va : partition_view<tile=(8x8192), tensor_view<1024x8192xbf16, strides=[8192,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<bf16>>
  %vb = make_tensor_view %pb, shape = [1024, 8192], strides = [8192, 1] : tensor_view<1024x8192xbf16, strides=[8192,1]>
  %tb = make_partition_view %vb : partition_view<tile=(8x8192), tensor_view<1024x8192xbf16, strides=[8192,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(8x8192), tensor_view<1024x8192xbf16, strides=[8192,1]>>, tile<i32> -> tile<8x8192xbf16>, token
  %w = ftof %x : tile<8x8192xbf16> -> tile<8x8192xf32>
  %s = reduce %w dim=1 identities=[0.000000e+00 : f32] : tile<8x8192xf32> -> tile<8xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %pq = addf %p, %q : tile<f32>
    yield %pq : tile<f32>
  }
  %s1 = reshape %s : tile<8xf32> -> tile<8x1xf32>
  %sb = broadcast %s1 : tile<8x1xf32> -> tile<8x8192xf32>
  %u = mulf %w, %sb : tile<8x8192xf32>
  %v = ftof %u : tile<8x8192xf32> -> tile<8x8192xbf16>
  %t1 = store_view_tko weak %v, %tb[%i, %c0] : tile<8x8192xbf16>, partition_view<tile=(8x8192), tensor_view<1024x8192xbf16, strides=[8192,1]>>, tile<i32> -> token
  return
}
