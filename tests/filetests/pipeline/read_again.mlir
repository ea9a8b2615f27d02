// Two tiles of a ring that a sum of their products is applied to: with both and what is made of them a thread would hold
// more than its registers while the sum is made. They are read from the ring again.
// run: compile --emit nv_tileas --gpu-name sm_80
// show: alloc_tensor | "cuda_tile.for" | async. | local_load | cuda_tile.reduce | tiled_store | "cuda_tile.continue"
entry @k(%x: tile<ptr<f16>>, %g: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %vx = make_tensor_view %px, shape = [256, 4096], strides = [4096, 1] : tensor_view<256x4096xf16, strides=[4096,1]>
  %tx = make_partition_view %vx : partition_view<tile=(4x4096), tensor_view<256x4096xf16, strides=[4096,1]>>
  %pg = assume div_by<16>, %g : tile<ptr<f16>>
  %vg = make_tensor_view %pg, shape = [256, 4096], strides = [4096, 1] : tensor_view<256x4096xf16, strides=[4096,1]>
  %tg = make_partition_view %vg : partition_view<tile=(4x4096), tensor_view<256x4096xf16, strides=[4096,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f16>>
  %vy = make_tensor_view %py, shape = [256, 4096], strides = [4096, 1] : tensor_view<256x4096xf16, strides=[4096,1]>
  %ty = make_partition_view %vy : partition_view<tile=(4x4096), tensor_view<256x4096xf16, strides=[4096,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 64> : tile<i32>
  %b, %b1, %b2 = get_tile_block_id : tile<i32>
  %m, %m1, %m2 = get_num_tile_blocks : tile<i32>
  %zero = constant <f32: 0.0> : tile<1x4096xf32>
  %last = for %i in (%b to %n, step %m) : tile<i32> iter_values(%acc = %zero) -> (tile<1x4096xf32>) {
    %l, %e = load_view_tko weak %tx[%i, %c0] : partition_view<tile=(4x4096), tensor_view<256x4096xf16, strides=[4096,1]>>, tile<i32> -> tile<4x4096xf16>, token
    %h, %f = load_view_tko weak %tg[%i, %c0] : partition_view<tile=(4x4096), tensor_view<256x4096xf16, strides=[4096,1]>>, tile<i32> -> tile<4x4096xf16>, token
    %lw = ftof %l rounding<nearest_even> : tile<4x4096xf16> -> tile<4x4096xf32>
    %hw = ftof %h rounding<nearest_even> : tile<4x4096xf16> -> tile<4x4096xf32>
    %p = mulf %lw, %hw rounding<nearest_even> : tile<4x4096xf32>
    %q = mulf %p, %hw rounding<nearest_even> : tile<4x4096xf32>
    %s = reduce %q dim=1 identities=[0.0 : f32] : tile<4x4096xf32> -> tile<4xf32>
    (%u: tile<f32>, %v: tile<f32>) {
      %w = addf %u, %v rounding<nearest_even> : tile<f32>
      yield %w : tile<f32>
    }
    %s2 = reshape %s : tile<4xf32> -> tile<4x1xf32>
    %s3 = broadcast %s2 : tile<4x1xf32> -> tile<4x4096xf32>
    %o = fma %lw, %s3, %p rounding<nearest_even> : tile<4x4096xf32>
    %o2 = mulf %o, %hw rounding<nearest_even> : tile<4x4096xf32>
    %o3 = ftof %o2 rounding<nearest_even> : tile<4x4096xf32> -> tile<4x4096xf16>
    %t = store_view_tko weak %o3, %ty[%i, %c0] : tile<4x4096xf16>, partition_view<tile=(4x4096), tensor_view<256x4096xf16, strides=[4096,1]>>, tile<i32> -> token
    %r = reduce %o dim=0 identities=[0.0 : f32] : tile<4x4096xf32> -> tile<4096xf32>
    (%u2: tile<f32>, %v2: tile<f32>) {
      %w2 = addf %u2, %v2 rounding<nearest_even> : tile<f32>
      yield %w2 : tile<f32>
    }
    %r2 = reshape %r : tile<4096xf32> -> tile<1x4096xf32>
    %a = addf %acc, %r2 rounding<nearest_even> : tile<1x4096xf32>
    continue %a : tile<1x4096xf32>
  }
  return
}
