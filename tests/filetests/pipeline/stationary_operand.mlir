// A right operand that the loop does not change: every warp would hold all of it, in 128 registers of a thread beside
// the 128 of the tile that is loaded. It is in shared memory, and the matmul reads its fragments there. Half of it
// stays in registers.
// run: compile --emit nv_tileas --gpu-name sm_80
// show: alloc_tensor | local_store | async.fence | "cuda_tile.for" | local_load | nv_tileas.dot" | "cuda_tile.continue"
entry @whole(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [256, 512], strides = [512, 1] : tensor_view<256x512xf16, strides=[512,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x512), tensor_view<256x512xf16, strides=[512,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [512, 16], strides = [16, 1] : tensor_view<512x16xf16, strides=[16,1]>
  %tb = make_partition_view %vb : partition_view<tile=(512x16), tensor_view<512x16xf16, strides=[16,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf32, strides=[16,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 2> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x16xf32>
  %q, %t0 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(512x16), tensor_view<512x16xf16, strides=[16,1]>>, tile<i32> -> tile<512x16xf16>, token
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x16xf32>) {
    %l, %t1 = load_view_tko weak %ta[%k, %c0] : partition_view<tile=(128x512), tensor_view<256x512xf16, strides=[512,1]>>, tile<i32> -> tile<128x512xf16>, token
    %o = mmaf %l, %q, %acc : tile<128x512xf16>, tile<512x16xf16>, tile<128x16xf32>
    continue %o : tile<128x16xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<128x16xf32>, partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
entry @half(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf16, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x256), tensor_view<256x256xf16, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [256, 16], strides = [16, 1] : tensor_view<256x16xf16, strides=[16,1]>
  %tb = make_partition_view %vb : partition_view<tile=(256x16), tensor_view<256x16xf16, strides=[16,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf32, strides=[16,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 2> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x16xf32>
  %q, %t0 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(256x16), tensor_view<256x16xf16, strides=[16,1]>>, tile<i32> -> tile<256x16xf16>, token
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x16xf32>) {
    %l, %t1 = load_view_tko weak %ta[%k, %c0] : partition_view<tile=(128x256), tensor_view<256x256xf16, strides=[256,1]>>, tile<i32> -> tile<128x256xf16>, token
    %o = mmaf %l, %q, %acc : tile<128x256xf16>, tile<256x16xf16>, tile<128x16xf32>
    continue %o : tile<128x16xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<128x16xf32>, partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
