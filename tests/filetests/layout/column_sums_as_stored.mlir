// The columns of a tile are summed up. Lanes share out the sums of their warp; those of the warps meet in shared memory, from which
// a thread takes the sums that it stores: nothing hands all of them to every thread, and no conversion follows.
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: compile --gpu-name sm_90a
// show: cuda_tile.reduce" | convert_layout | shfl | shared | st.global | bar.sync
entry @k(%x: tile<ptr<f32>>, %s: tile<ptr<f32>>) {
  %px = assume div_by<16>, %x : tile<ptr<f32>>
  %vx = make_tensor_view %px, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tx = make_partition_view %vx : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %ps = assume div_by<16>, %s : tile<ptr<f32>>
  %vs = make_tensor_view %ps, shape = [16, 1024], strides = [1024, 1] : tensor_view<16x1024xf32, strides=[1024,1]>
  %ts = make_partition_view %vs : partition_view<tile=(1x64), tensor_view<16x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %a, %t0 = load_view_tko weak %tx[%i, %j] : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<64x64xf32>, token
  %sum = reduce %a dim=0 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = addf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %row = reshape %sum : tile<64xf32> -> tile<1x64xf32>
  %t1 = store_view_tko weak %row, %ts[%i, %j] : tile<1x64xf32>, partition_view<tile=(1x64), tensor_view<16x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
