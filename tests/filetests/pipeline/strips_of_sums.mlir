// Sums of columns of 4096 rows, of which the last ones are masked, and what is computed of the sums. A block cannot hold the rows:
// parts of them are added up element by element, and what that makes is reduced behind the loop.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: in strips | num_warps | "cuda_tile.for" | "cuda_tile.iota" | tma_load | "cuda_tile.addf" | "cuda_tile.reduce" | tiled_store
entry @main(%x: tile<ptr<bf16>>, %sums: tile<ptr<f32>>, %rows: tile<i32>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %x16 = assume div_by<16>, %x : tile<ptr<bf16>>
  %rows0 = assume bounded<0, ?>, %rows : tile<i32>
  %xt = make_tensor_view %x16, shape = [4096, 32], strides = [32, 1] : tensor_view<4096x32xbf16, strides=[32,1]>
  %xp = make_partition_view %xt : partition_view<tile=(4096x16), tensor_view<4096x32xbf16, strides=[32,1]>>
  %a, %t0 = load_view_tko weak %xp[%0, %bx] : partition_view<tile=(4096x16), tensor_view<4096x32xbf16, strides=[32,1]>>, tile<i32> -> tile<4096x16xbf16>, token
  %wide = ftof %a : tile<4096x16xbf16> -> tile<4096x16xf32>
  %row = iota : tile<4096xi32>
  %rows1 = reshape %rows0 : tile<i32> -> tile<1xi32>
  %last = broadcast %rows1 : tile<1xi32> -> tile<4096xi32>
  %in = cmpi less_than %row, %last, signed : tile<4096xi32> -> tile<4096xi1>
  %in1 = reshape %in : tile<4096xi1> -> tile<4096x1xi1>
  %inside = broadcast %in1 : tile<4096x1xi1> -> tile<4096x16xi1>
  %zero = constant <f32: 0.0> : tile<4096x16xf32>
  %masked = select %inside, %wide, %zero : tile<4096x16xi1>, tile<4096x16xf32>
  %sum = reduce %masked dim=0 identities=[0.0 : f32] : tile<4096x16xf32> -> tile<16xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = addf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %half = constant <f32: 0.5> : tile<16xf32>
  %mean = mulf %sum, %half : tile<16xf32>
  %st = make_tensor_view %sums, shape = [32], strides = [1] : tensor_view<32xf32, strides=[1]>
  %sp = make_partition_view %st : partition_view<tile=(16), tensor_view<32xf32, strides=[1]>>
  %t1 = store_view_tko weak %mean, %sp[%bx] : tile<16xf32>, partition_view<tile=(16), tensor_view<32xf32, strides=[1]>>, tile<i32> -> token
  return
}
