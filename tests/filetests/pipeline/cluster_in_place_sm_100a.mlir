// A persistent kernel adds to what it stores: what a block's part is loaded behind are stores of the same part, so that two blocks
// may execute a tile block.
// run: explain --gpu-name sm_100a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: cluster | multicast | pipeline of | warp roles | no cluster | kernel k | async. | .dot" | tiled_load | tiled_store
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) optimization_hints=<default = {num_cta_in_cga = 2}> {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %bids, %bidy, %bidz = get_num_tile_blocks : tile<i32>
  %tiles = constant <i32: 4> : tile<i32>
  %token = make_token : token
  %stored = for %t in (%i to %tiles, step %bids) : tile<i32> iter_values(%before = %token) -> (token) {
    %zero = constant <f32: 0.0> : tile<256x128xf32>
    %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x128xf32>) {
      %l, %t0 = load_view_tko weak %ta[%t, %k] : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<256x64xf16>, token
      %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
      %s = mmaf %l, %r, %acc : tile<256x64xf16>, tile<64x128xf16>, tile<256x128xf32>
      continue %s : tile<256x128xf32>
    }
    %old, %t3 = load_view_tko weak %tc[%t, %j] token = %before : partition_view<tile=(256x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<256x128xf32>, token
    %both = join_tokens %before, %t3 : token
    %new = addf %sum, %old rounding<nearest_even> : tile<256x128xf32>
    %t2 = store_view_tko weak %new, %tc[%t, %j] token = %both : tile<256x128xf32>, partition_view<tile=(256x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
    continue %t2 : token
  }
  return
}
