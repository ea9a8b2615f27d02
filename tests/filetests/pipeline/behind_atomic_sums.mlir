// A loop that adds each of its products to memory by atomic operations that acquire, keeps what they found, and loads the next
// operands behind them: a producer warp brings these by tensor copies, into a ring of one stage that the consumers hand back behind the
// atomic operations. The copies find what these have acquired: `behind_writes`.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | kernel k | pipeline.create | producer_acquire | tma_load | consumer_ | atomic_rmw | .dot"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %d: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %begin = make_token : token
  %numbers = iota : tile<4096xi32>
  %places = reshape %numbers : tile<4096xi32> -> tile<64x64xi32>
  %one = reshape %c : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %all = broadcast %one : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
  %to = offset %all, %places : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
  %other = reshape %d : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %others = broadcast %other : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
  %found = offset %others, %places : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
  %end = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%token = %begin) -> (token) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] token = %token : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %y, %t1 = load_view_tko weak %tb[%k, %j] token = %token : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %p = mmaf %x, %y, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %old, %t2 = atomic_rmw_tko acq_rel device %to, addf, %p token=%token : tile<64x64xptr<f32>>, tile<64x64xf32> -> tile<64x64xf32>, token
    %t3 = store_ptr_tko weak %found, %old : tile<64x64xptr<f32>>, tile<64x64xf32> -> token
    continue %t2 : token
  }
  return
}
