// A persistent matmul whose results have no room in shared memory beside two stages of the operands: they are copied out in parts of
// their columns, through a buffer of one part. Copies of the iteration before are complete before the first part is copied; in
// an iteration they only have to have read the buffer.
// run: explain --gpu-name sm_100a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: kernel | copied in parts | shared buffer | "cuda_tile.for" | tensor_load | store | async.fence | role_end
entry @persistent(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %columns = constant <i32: 8> : tile<i32>
  %tiles = constant <i32: 32> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x128xf32>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
  for %t in (%x to %tiles, step %gx) : tile<i32> {
    %i = divi %t, %columns signed : tile<i32>
    %j = remi %t, %columns signed : tile<i32>
    %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x128xf32>) {
      %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<256x64xf16>, token
      %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
      %o = mmaf %l, %r, %acc : tile<256x64xf16>, tile<64x128xf16>, tile<256x128xf32>
      continue %o : tile<256x128xf32>
    }
    %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<256x128xf32>, partition_view<tile=(256x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  }
  return
}
