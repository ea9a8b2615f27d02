// Two right operands, each more than half of what shared memory holds. The first one has been read when the second one is
// computed: they have the same bytes, and the store of the second waits for those who read the first.
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: explain --gpu-name sm_90a
// show: alloc_tensor" | "nv_tileas.local_store | async.fence | async.dot | tensor_dot | consumer_wait | "cuda_tile.for" | "cuda_tile.continue" | operands need | in turn
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %y: tile<ptr<f32>>, %w: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f32>>
  %vy = make_tensor_view %py, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %ty = make_partition_view %vy : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<f32>>
  %vw = make_tensor_view %pw, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
  %tw = make_partition_view %vw : partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %wide = constant <f32: 0.0> : tile<128x256xf32>
  %square = constant <f32: 0.0> : tile<128x128xf32>
  %l, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> tile<128x128xf32>, token
  %m = ftof %l rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xtf32>
  %r, %t1 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(128x256), tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> tile<128x256xf32>, token
  %x = ftof %r rounding<nearest_even> : tile<128x256xf32> -> tile<128x256xtf32>
  %o = mmaf %m, %x, %wide : tile<128x128xtf32>, tile<128x256xtf32>, tile<128x256xf32>
  %z = ftof %o rounding<nearest_even> : tile<128x256xf32> -> tile<128x256xtf32>
  %zt = permute %z [1, 0] : tile<128x256xtf32> -> tile<256x128xtf32>
  %p = mmaf %z, %zt, %square : tile<128x256xtf32>, tile<256x128xtf32>, tile<128x128xf32>
  %t8 = store_view_tko weak %p, %ty[%c0, %c0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
