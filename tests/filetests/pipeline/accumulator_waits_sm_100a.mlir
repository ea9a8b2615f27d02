// What the first matmul makes is added to what the second one does. Beside a state of 256x128 and the left operand that
// is computed for the second one, a thread has no registers for it: it stays in its columns of tensor memory until then.
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: tensor_memory | tensor_dot | tensor_load | tensor_store | "cuda_tile.addf
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %d: tile<ptr<f32>>, %o: tile<ptr<f32>>, %n: tile<i32>, %s: tile<f32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf32, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf32, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(256x128), tensor_view<256x128xf32, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf32, strides=[128,1]>
  %td = make_partition_view %vd : partition_view<tile=(256x128), tensor_view<256x128xf32, strides=[128,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf32, strides=[256,1]>
  %to = make_partition_view %vo : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x128xf32>
  %first, %t = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(256x128), tensor_view<256x128xf32, strides=[128,1]>>, tile<i32> -> tile<256x128xf32>, token
  %s1 = reshape %s : tile<f32> -> tile<1x1xf32>
  %scale = broadcast %s1 : tile<1x1xf32> -> tile<256x128xf32>
  %scale2 = broadcast %s1 : tile<1x1xf32> -> tile<64x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%state = %first) -> (tile<256x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%k, %c0] : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x256xf32>, token
    %h = ftof %x rounding<nearest_even> : tile<64x256xf32> -> tile<64x256xtf32>
    %r = ftof %state rounding<nearest_even> : tile<256x128xf32> -> tile<256x128xtf32>
    %p = mmaf %h, %r, %zero : tile<64x256xtf32>, tile<256x128xtf32>, tile<64x128xf32>
    %e = exp2 %x : tile<64x256xf32>
    %f = mulf %e, %scale2 rounding<nearest_even> : tile<64x256xf32>
    %g = ftof %f rounding<nearest_even> : tile<64x256xf32> -> tile<64x256xtf32>
    %q = mmaf %g, %r, %zero : tile<64x256xtf32>, tile<256x128xtf32>, tile<64x128xf32>
    %both = addf %p, %q rounding<nearest_even> : tile<64x128xf32>
    %t2 = store_view_tko weak %both, %tc[%k, %c0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>, tile<i32> -> token
    %t3 = store_view_tko weak %e, %to[%k, %c0] : tile<64x256xf32>, partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>, tile<i32> -> token
    %new = mulf %state, %scale rounding<nearest_even> : tile<256x128xf32>
    continue %new : tile<256x128xf32>
  }
  %t4 = store_view_tko weak %sum, %td[%c0, %c0] : tile<256x128xf32>, partition_view<tile=(256x128), tensor_view<256x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
