// Loops that multiply what was written in front of them: the tokens of their loads are those of a store, or of an atomic
// operation that acquires in the loop around them. Copies and loads run ahead inside of each loop, behind a fence; a producer
// of its own would not know of what the other warps wait for.
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_75
// show: pipeline of | pipeline through | no async | kernel k | fence | async. | .dot" | tiled_load | tiled_store | atomic | "cuda_tile.for" | "cuda_tile.loop"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c16 = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %w = constant <f16: 1.0> : tile<64x64xf16>
  %t = store_view_tko weak %w, %ta[%i, %c0] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  %end = for %u in (%c0 to %n, step %c1) : tile<i32> iter_values(%last = %t) -> (token) {
    %sum, %read = for %k in (%c0 to %c16, step %c1) : tile<i32> iter_values(%acc = %zero, %before = %last) -> (tile<64x64xf32>, token) {
      %l, %t0 = load_view_tko weak %ta[%i, %k] token = %last : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %r, %t1 = load_view_tko weak %tb[%k, %u] token = %before : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      %t2 = join_tokens %t0, %t1 : token
      continue %s, %t2 : tile<64x64xf32>, token
    }
    %all = reduce %sum dim=0 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32> (%x : tile<f32>, %y : tile<f32>) {
      %xy = addf %x, %y : tile<f32>
      yield %xy : tile<f32>
    }
    %at = reshape %c : tile<ptr<f32>> -> tile<1xptr<f32>>
    %many = broadcast %at : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %lane = iota : tile<64xi32>
    %where = offset %many, %lane : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %old, %added = atomic_rmw_tko acq_rel device %where, addf, %all token = %read : tile<64xptr<f32>>, tile<64xf32> -> tile<64xf32>, token
    continue %added : token
  }
  return
}
