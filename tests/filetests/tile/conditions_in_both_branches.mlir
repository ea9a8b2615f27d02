// What both branches need is computed in front of them, but for the conditions of a tile's elements: they are compared in each.
// run: compile --emit nv_tileaa --gpu-name sm_90a
// show: cmpi | andi | select | "cuda_tile.if" | }, {
entry @main(%x: tile<ptr<f32>>, %w: tile<i32>, %n: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %xt = make_tensor_view %x, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %xp = make_partition_view %xt : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %s, %t0 = load_view_tko weak %xp[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
  %i = iota : tile<64xi32>
  %i1 = reshape %i : tile<64xi32> -> tile<64x1xi32>
  %rows = broadcast %i1 : tile<64x1xi32> -> tile<64x64xi32>
  %j1 = reshape %i : tile<64xi32> -> tile<1x64xi32>
  %columns = broadcast %j1 : tile<1x64xi32> -> tile<64x64xi32>
  %w1 = reshape %w : tile<i32> -> tile<1x1xi32>
  %width = broadcast %w1 : tile<1x1xi32> -> tile<64x64xi32>
  %low = constant <f32: -1.0e6> : tile<64x64xf32>
  %diagonal = cmpi greater_than %bid, %n, signed : tile<i32> -> tile<i1>
  %r = if %diagonal -> (tile<64x64xf32>) {
    %far = subi %rows, %columns : tile<64x64xi32>
    %near = cmpi less_than_or_equal %far, %width, signed : tile<64x64xi32> -> tile<64x64xi1>
    %before = cmpi greater_than_or_equal %rows, %columns, signed : tile<64x64xi32> -> tile<64x64xi1>
    %both = andi %before, %near : tile<64x64xi1>
    %masked = select %both, %s, %low : tile<64x64xi1>, tile<64x64xf32>
    yield %masked : tile<64x64xf32>
  } else {
    %far = subi %rows, %columns : tile<64x64xi32>
    %near = cmpi less_than_or_equal %far, %width, signed : tile<64x64xi32> -> tile<64x64xi1>
    %masked = select %near, %s, %low : tile<64x64xi1>, tile<64x64xf32>
    yield %masked : tile<64x64xf32>
  }
  %t1 = store_view_tko weak %r, %xp[%0, %0] token = %t0 : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
