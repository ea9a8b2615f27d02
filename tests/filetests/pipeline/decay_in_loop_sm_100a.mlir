// What a loop multiplies by a decay, which is made of numbers of elements by a special function: it is made once, in front of
// the loop, and in registers as long as that runs. Beside it a thread has no registers for the left operand, which is also
// added at the end: it is read where it is added.
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: cuda_tile.exp2 | cuda_tile.for | local_load | tensor_dot | tensor_load | local_store | consumer_release
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %o: tile<ptr<f16>>, %n: tile<i32>, %rate: tile<f32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf16, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<4096x128xf16, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf16, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x128), tensor_view<4096x128xf16, strides=[128,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f16>>
  %vo = make_tensor_view %po, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf16, strides=[128,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x128), tensor_view<4096x128xf16, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %i = iota : tile<128xi32>
  %ir = reshape %i : tile<128xi32> -> tile<128x1xi32>
  %ic = reshape %i : tile<128xi32> -> tile<1x128xi32>
  %rb = broadcast %ir : tile<128x1xi32> -> tile<128x128xi32>
  %cb = broadcast %ic : tile<1x128xi32> -> tile<128x128xi32>
  %d = subi %rb, %cb : tile<128x128xi32>
  %df = itof %d signed : tile<128x128xi32> -> tile<128x128xf32>
  %r1 = reshape %rate : tile<f32> -> tile<1x1xf32>
  %r2 = broadcast %r1 : tile<1x1xf32> -> tile<128x128xf32>
  %e = mulf %df, %r2 : tile<128x128xf32>
  %decay = exp2 %e : tile<128x128xf32>
  for %k in (%c0 to %n, step %c1) : tile<i32> {
    %x, %k1 = load_view_tko weak %ta[%k, %c0] : partition_view<tile=(128x128), tensor_view<4096x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x128xf16>, token
    %y, %k2 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(128x128), tensor_view<4096x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x128xf16>, token
    %p = mmaf %x, %y, %zero : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
    %m = mulf %p, %decay : tile<128x128xf32>
    %h = ftof %m : tile<128x128xf32> -> tile<128x128xf16>
    %q = mmaf %h, %y, %zero : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
    %xf = ftof %x : tile<128x128xf16> -> tile<128x128xf32>
    %s = addf %q, %xf : tile<128x128xf32>
    %sh = ftof %s : tile<128x128xf32> -> tile<128x128xf16>
    %k3 = store_view_tko weak %sh, %to[%k, %c0] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<4096x128xf16, strides=[128,1]>>, tile<i32> -> token
    continue
  }
  return
}
