// Two blocks of a cluster fill each other's stages. A block that is done with its loop stores its result, which takes more shared
// memory than the stages did, while the other block's warps may still hand their last stage back at its mbarriers.
// grid: 1,1,1
// arg: buffer f32 16384 whole -4 4 seed 0
// arg: buffer f32 16384 whole -4 4 seed 0
// arg: buffer f32 16384 whole -4 4 seed 0
// arg: buffer f32 65536 whole 7 7 seed 0
entry @main(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %d: tile<ptr<f32>>, %c: tile<ptr<f32>>) optimization_hints=<default = {num_cta_in_cga = 2}> {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf32, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x32), tensor_view<256x64xf32, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf32, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x256), tensor_view<64x256xf32, strides=[256,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf32, strides=[256,1]>
  %td = make_partition_view %vd : partition_view<tile=(32x256), tensor_view<64x256xf32, strides=[256,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf32, strides=[256,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x256), tensor_view<256x256xf32, strides=[256,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 2> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x256xf32>) {
    %l, %t0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(256x32), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> tile<256x32xf32>, token
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(32x256), tensor_view<64x256xf32, strides=[256,1]>>, tile<i32> -> tile<32x256xf32>, token
    %s = mmaf %l, %r, %acc : tile<256x32xf32>, tile<32x256xf32>, tile<256x256xf32>
    %q, %t3 = load_view_tko weak %td[%k, %c0] : partition_view<tile=(32x256), tensor_view<64x256xf32, strides=[256,1]>>, tile<i32> -> tile<32x256xf32>, token
    %u = mmaf %l, %q, %s : tile<256x32xf32>, tile<32x256xf32>, tile<256x256xf32>
    continue %u : tile<256x256xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<256x256xf32>, partition_view<tile=(256x256), tensor_view<256x256xf32, strides=[256,1]>>, tile<i32> -> token
  return
}
