// A left operand of 128 KB that the loop does not change leaves no room for two stages of the right one's 64 KB: K is cut, and
// parts of both are brought in each iteration.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | no wgmma | matmul by | kernel k | "cuda_tile.for" | tma_load | .dot"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf16, strides=[512,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x512), tensor_view<1024x512xf16, strides=[512,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [512, 1024], strides = [1024, 1] : tensor_view<512x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(512x64), tensor_view<512x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x64), tensor_view<1024x64xf32, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %l, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(128x512), tensor_view<1024x512xf16, strides=[512,1]>>, tile<i32> -> tile<128x512xf16>, token
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%most = %zero) -> (tile<128x64xf32>) {
    %r, %t1 = load_view_tko weak %tb[%c0, %k] : partition_view<tile=(512x64), tensor_view<512x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<512x64xf16>, token
    %s = mmaf %l, %r, %zero : tile<128x512xf16>, tile<512x64xf16>, tile<128x64xf32>
    %larger = maxf %most, %s : tile<128x64xf32>
    continue %larger : tile<128x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<1024x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
