// What one matmul has multiplied another one adds to, as the scores of latent attention: it stays where it is in tensor
// memory, and is loaded once.
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: alloc_tensor_memory | tensor_load | tensor_store | tensor_dot | "cuda_tile.for" | "cuda_tile.continue"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %d: tile<ptr<f16>>, %e: tile<ptr<f16>>, %o: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f16>>
  %vd = make_tensor_view %pd, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %td = make_partition_view %vd : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pe = assume div_by<16>, %e : tile<ptr<f16>>
  %ve = make_tensor_view %pe, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %te = make_partition_view %ve : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf32, strides=[128,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x1), tensor_view<1024x128xf32, strides=[128,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %least = constant <f32: 0.0> : tile<128xf32>
  %most = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%m = %least) -> (tile<128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%c0, %k] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %q, %t2 = load_view_tko weak %td[%i, %c0] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %p, %t3 = load_view_tko weak %te[%c0, %k] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %l, %r, %zero : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %u = mmaf %q, %p, %s : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %x = reduce %u dim=1 identities=[0.0 : f32] : tile<128x128xf32> -> tile<128xf32>
    (%v: tile<f32>, %w: tile<f32>) {
      %g = maxf %v, %w : tile<f32>
      yield %g : tile<f32>
    }
    %y = maxf %m, %x : tile<128xf32>
    continue %y : tile<128xf32>
  }
  %column = reshape %most : tile<128xf32> -> tile<128x1xf32>
  %t4 = store_view_tko weak %column, %to[%i, %j] : tile<128x1xf32>, partition_view<tile=(128x1), tensor_view<1024x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
