// The next iteration's first matmul runs under the arithmetic of this one; the producer brings tiles in that order.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: overlap of | pipeline of | "cuda_tile.for | "cuda_tile.if | "cuda_tile.continue | exp2 | ftof | async.dot | consumer_ | producer_ | tma_load
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %d: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 4096], strides = [4096, 1] : tensor_view<64x4096xf16, strides=[4096,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<64x4096xf16, strides=[4096,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf32, strides=[64,1]>
  %td = make_partition_view %vd : partition_view<tile=(128x64), tensor_view<1024x64xf32, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %none = constant <f32: 0.0> : tile<128x128xf32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
    %l, %t1 = load_view_tko weak %tb[%c0, %k] : partition_view<tile=(64x128), tensor_view<64x4096xf16, strides=[4096,1]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %x, %l, %none : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %e = exp2 %s : tile<128x128xf32>
    %h = ftof %e : tile<128x128xf32> -> tile<128x128xf16>
    %r, %t2 = load_view_tko weak %tc[%k, %c0] : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %u = mmaf %h, %r, %acc : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
    continue %u : tile<128x64xf32>
  }
  %t3 = store_view_tko weak %sum, %td[%i, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<1024x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
