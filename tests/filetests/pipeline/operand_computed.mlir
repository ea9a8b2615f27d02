// A right operand that is what the loop carries, in fewer bits: its fragments, which warps that share columns all hold, have
// no room in registers beside what is carried. It goes through shared memory, where the matmul reads them.
// run: compile --emit nv_tileas --gpu-name sm_80
// show: alloc_tensor | local_store | async.fence | "cuda_tile.for" | local_load | nv_tileas.dot" | "cuda_tile.continue"
entry @k(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %y: tile<ptr<f32>>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [512, 128], strides = [128, 1] : tensor_view<512x128xf16, strides=[128,1]>
  %tq = make_partition_view %vq : partition_view<tile=(64x128), tensor_view<512x128xf16, strides=[128,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [512, 128], strides = [128, 1] : tensor_view<512x128xf16, strides=[128,1]>
  %tk = make_partition_view %vk : partition_view<tile=(64x128), tensor_view<512x128xf16, strides=[128,1]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [512, 128], strides = [128, 1] : tensor_view<512x128xf16, strides=[128,1]>
  %tv = make_partition_view %vv : partition_view<tile=(64x128), tensor_view<512x128xf16, strides=[128,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f32>>
  %vy = make_tensor_view %py, shape = [512, 128], strides = [128, 1] : tensor_view<512x128xf32, strides=[128,1]>
  %ty = make_partition_view %vy : partition_view<tile=(64x128), tensor_view<512x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %none = constant <f32: 0.0> : tile<64x128xf32>
  %empty = constant <f32: 0.0> : tile<64x64xf32>
  %last = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%state = %zero) -> (tile<128x128xf32>) {
    %l, %e = load_view_tko weak %tq[%i, %c0] : partition_view<tile=(64x128), tensor_view<512x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
    %m, %f = load_view_tko weak %tk[%i, %c0] : partition_view<tile=(64x128), tensor_view<512x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
    %r, %g = load_view_tko weak %tv[%i, %c0] : partition_view<tile=(64x128), tensor_view<512x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
    %mt = permute %m [1, 0] : tile<64x128xf16> -> tile<128x64xf16>
    %p = mmaf %l, %mt, %empty : tile<64x128xf16>, tile<128x64xf16>, tile<64x64xf32>
    %h = ftof %state rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
    %o = mmaf %l, %h, %none : tile<64x128xf16>, tile<128x128xf16>, tile<64x128xf32>
    %ph = ftof %p rounding<nearest_even> : tile<64x64xf32> -> tile<64x64xf16>
    %o2 = mmaf %ph, %r, %o : tile<64x64xf16>, tile<64x128xf16>, tile<64x128xf32>
    %u = mmaf %mt, %r, %state : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %s = store_view_tko weak %o2, %ty[%i, %c0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<512x128xf32, strides=[128,1]>>, tile<i32> -> token
    continue %u : tile<128x128xf32>
  }
  return
}
