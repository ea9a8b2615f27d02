// Sums of eight rows, each along all lanes: lanes share them out, in 7 + 2 shuffles, and take them all from each other in
// 8 more, where 8 times 5 would do it one by one. Two rows are summed one by one.
// run: compile --gpu-name sm_80
// show: shfl | st.global | .entry
entry @eight(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf32, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x128), tensor_view<1024x128xf32, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(32), tensor_view<1024xf32, strides=[1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(32x128), tensor_view<1024x128xf32, strides=[128,1]>>, tile<i32> -> tile<32x128xf32>, token
  %y = reduce %x dim=1 identities=[0.0 : f32] : tile<32x128xf32> -> tile<32xf32>
  (%e: tile<f32>, %s: tile<f32>) {
    %r = addf %e, %s rounding<nearest_even> : tile<f32>
    yield %r : tile<f32>
  }
  %t1 = store_view_tko weak %y, %tb[%i] : tile<32xf32>, partition_view<tile=(32), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> token
  return
}
entry @two(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf32, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(8x128), tensor_view<1024x128xf32, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(8), tensor_view<1024xf32, strides=[1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(8x128), tensor_view<1024x128xf32, strides=[128,1]>>, tile<i32> -> tile<8x128xf32>, token
  %y = reduce %x dim=1 identities=[0.0 : f32] : tile<8x128xf32> -> tile<8xf32>
  (%e: tile<f32>, %s: tile<f32>) {
    %r = addf %e, %s rounding<nearest_even> : tile<f32>
    yield %r : tile<f32>
  }
  %t1 = store_view_tko weak %y, %tb[%i] : tile<8xf32>, partition_view<tile=(8), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> token
  return
}
