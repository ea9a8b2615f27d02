// A running sum scales the columns of a tile whose rows each thread holds all of, for it lies by columns in memory: the sum is
// computed with an element for a thread, and converted where it is used.
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: cuda_tile.scan | convert_layout | cuda_tile.broadcast | tiled_load | cuda_tile.yield | }) :
entry @k(%d: tile<ptr<f32>>, %a: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [1024, 4], strides = [4, 1] : tensor_view<1024x4xf32, strides=[4,1]>
  %td = make_partition_view %vd : partition_view<tile=(64x1), tensor_view<1024x4xf32, strides=[4,1]>>
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %w, %t0 = load_view_tko weak %td[%i, %z] : partition_view<tile=(64x1), tensor_view<1024x4xf32, strides=[4,1]>>, tile<i32> -> tile<64x1xf32>, token
  %v = reshape %w : tile<64x1xf32> -> tile<64xf32>
  %s = scan %v dim=0 reverse=false identities=[0.0 : f32] : tile<64xf32> -> tile<64xf32>
  (%x: tile<f32>, %y: tile<f32>) {
    %g = addf %x, %y rounding<nearest_even> : tile<f32>
    yield %g : tile<f32>
  }
  %column = reshape %s : tile<64xf32> -> tile<64x1xf32>
  %columns = broadcast %column : tile<64x1xf32> -> tile<64x128xf32>
  %l, %t1 = load_view_tko weak %ta[%i, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<64x128xf32>, token
  %u = mulf %l, %columns rounding<nearest_even> : tile<64x128xf32>
  %r = permute %u [1, 0] : tile<64x128xf32> -> tile<128x64xf32>
  %t4 = store_view_tko weak %r, %tc[%j, %i] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
