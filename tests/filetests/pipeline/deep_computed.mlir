// Keys and values of 128 KB, as of latent attention: shared memory has no room for two stages of either. K is cut in both
// matmuls; of what is computed, the second one takes a part in each iteration. The loads drop a dimension of one element.
// run: explain --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_80
// show: pipeline of | no async | matmul by | kernel k | "cuda_tile.for" | tiled_copy | extract | .dot"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %v: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf16, strides=[512,1]>
  %ta = make_partition_view %va : partition_view<tile=(16x512), tensor_view<1024x512xf16, strides=[512,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [4, 512, 1024], strides = [524288, 1, 512] : tensor_view<4x512x1024xf16, strides=[524288,1,512]>
  %tb = make_partition_view %vb : partition_view<tile=(1x512x128), tensor_view<4x512x1024xf16, strides=[524288,1,512]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [4, 1024, 512], strides = [524288, 512, 1] : tensor_view<4x1024x512xf16, strides=[524288,512,1]>
  %tv = make_partition_view %vv : partition_view<tile=(1x128x512), tensor_view<4x1024x512xf16, strides=[524288,512,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf32, strides=[512,1]>
  %tc = make_partition_view %vc : partition_view<tile=(16x512), tensor_view<1024x512xf32, strides=[512,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<16x512xf32>
  %none = constant <f32: 0.0> : tile<16x128xf32>
  %l, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(16x512), tensor_view<1024x512xf16, strides=[512,1]>>, tile<i32> -> tile<16x512xf16>, token
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<16x512xf32>) {
    %r, %t1 = load_view_tko weak %tb[%j, %c0, %k] : partition_view<tile=(1x512x128), tensor_view<4x512x1024xf16, strides=[524288,1,512]>>, tile<i32> -> tile<1x512x128xf16>, token
    %keys = reshape %r : tile<1x512x128xf16> -> tile<512x128xf16>
    %s = mmaf %l, %keys, %none : tile<16x512xf16>, tile<512x128xf16>, tile<16x128xf32>
    %e = exp2 %s : tile<16x128xf32>
    %p = ftof %e : tile<16x128xf32> -> tile<16x128xf16>
    %w, %t2 = load_view_tko weak %tv[%j, %k, %c0] : partition_view<tile=(1x128x512), tensor_view<4x1024x512xf16, strides=[524288,512,1]>>, tile<i32> -> tile<1x128x512xf16>, token
    %values = reshape %w : tile<1x128x512xf16> -> tile<128x512xf16>
    %next = mmaf %p, %values, %acc : tile<16x128xf16>, tile<128x512xf16>, tile<16x512xf32>
    continue %next : tile<16x512xf32>
  }
  %t3 = store_view_tko weak %sum, %tc[%i, %c0] : tile<16x512xf32>, partition_view<tile=(16x512), tensor_view<1024x512xf32, strides=[512,1]>>, tile<i32> -> token
  return
}
