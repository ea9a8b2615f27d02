// The first product is not used until the last one is there. Beside the state and what is loaded and multiplied in between, a
// thread has no registers for it: it waits in shared memory.
// run: explain --gpu-name sm_100a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: waits in shared | .dot" | local_ | alloc_tensor | addf
entry @k(%q: tile<ptr<f32>>, %b: tile<ptr<f32>>, %w: tile<ptr<f32>>, %d: tile<ptr<f32>>, %o: tile<ptr<f32>>, %n: tile<i32>) {
  %pq = assume div_by<16>, %q : tile<ptr<f32>>
  %vq = make_tensor_view %pq, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf32, strides=[256,1]>
  %tq = make_partition_view %vq : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf32, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<f32>>
  %vw = make_tensor_view %pw, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf32, strides=[128,1]>
  %tw = make_partition_view %vw : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf32, strides=[64,1]>
  %td = make_partition_view %vd : partition_view<tile=(64x64), tensor_view<4096x64xf32, strides=[64,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf32, strides=[128,1]>
  %to = make_partition_view %vo : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x128xf32>
  %first = constant <f32: 0.0> : tile<256x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%state = %first) -> (tile<256x128xf32>) {
    %x, %k1 = load_view_tko weak %tq[%k, %c0] : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x256xf32>, token
    %i = mmaf %x, %state, %zero : tile<64x256xf32>, tile<256x128xf32>, tile<64x128xf32>
    %y, %k2 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x256xf32>, token
    %p = mmaf %y, %state, %zero : tile<64x256xf32>, tile<256x128xf32>, tile<64x128xf32>
    %v, %k3 = load_view_tko weak %tw[%k, %c0] : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>, tile<i32> -> tile<64x128xf32>, token
    %new = subf %v, %p rounding<nearest_even> : tile<64x128xf32>
    %m, %k4 = load_view_tko weak %td[%k, %c0] : partition_view<tile=(64x64), tensor_view<4096x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
    %r = mmaf %m, %new, %zero : tile<64x64xf32>, tile<64x128xf32>, tile<64x128xf32>
    %both = addf %i, %r rounding<nearest_even> : tile<64x128xf32>
    %k5 = store_view_tko weak %both, %to[%k, %c0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>, tile<i32> -> token
    %yt = permute %y [1, 0] : tile<64x256xf32> -> tile<256x64xf32>
    %next = mmaf %yt, %new, %state : tile<256x64xf32>, tile<64x128xf32>, tile<256x128xf32>
    continue %next : tile<256x128xf32>
  }
  return
}
