// A state of 256x128 is scaled and a product is added to it: a thread has no registers for both as a whole. The matmul
// makes a part of its product at a time, which is added before the next part is multiplied. In f32 a thread multiplies
// squares of the product's elements, and adds a half of them first; a warpgroup does 64 of its rows first.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: compile --gpu-name sm_90a
// show: used up | .dot" | wgmma.mma | wgmma.wait | .entry | $L
entry @in_f32(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>, %s: tile<f32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf32, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf32, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x128), tensor_view<256x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x128xf32>
  %s1 = reshape %s : tile<f32> -> tile<1x1xf32>
  %scale = broadcast %s1 : tile<1x1xf32> -> tile<256x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%state = %zero) -> (tile<256x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%k, %c0] : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x256xf32>, token
    %l = permute %x [1, 0] : tile<64x256xf32> -> tile<256x64xf32>
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>, tile<i32> -> tile<64x128xf32>, token
    %p = mmaf %l, %r, %zero : tile<256x64xf32>, tile<64x128xf32>, tile<256x128xf32>
    %new = fma %state, %scale, %p rounding<nearest_even> : tile<256x128xf32>
    continue %new : tile<256x128xf32>
  }
  %t4 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<256x128xf32>, partition_view<tile=(256x128), tensor_view<256x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}

entry @in_tf32(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>, %s: tile<f32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf32, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf32, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x128), tensor_view<256x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x128xf32>
  %s1 = reshape %s : tile<f32> -> tile<1x1xf32>
  %scale = broadcast %s1 : tile<1x1xf32> -> tile<256x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%state = %zero) -> (tile<256x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%k, %c0] : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x256xf32>, token
    %h = ftof %x rounding<nearest_even> : tile<64x256xf32> -> tile<64x256xtf32>
    %l = permute %h [1, 0] : tile<64x256xtf32> -> tile<256x64xtf32>
    %y, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>, tile<i32> -> tile<64x128xf32>, token
    %r = ftof %y rounding<nearest_even> : tile<64x128xf32> -> tile<64x128xtf32>
    %p = mmaf %l, %r, %zero : tile<256x64xtf32>, tile<64x128xtf32>, tile<256x128xf32>
    %new = fma %state, %scale, %p rounding<nearest_even> : tile<256x128xf32>
    continue %new : tile<256x128xf32>
  }
  %t4 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<256x128xf32>, partition_view<tile=(256x128), tensor_view<256x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
