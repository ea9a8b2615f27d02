// A row of weights that a loop multiplies each row by: 64 of them in a thread. As 16-bit numbers they take half the registers,
// so that they are widened in the loop, not in front of it.
// run: compile --emit nvvm --gpu-name sm_80
// show: nvvm.for | "nvvm.ld" | nvvm.ftof | nvvm.fmul | nvvm.st" | nvvm.continue
entry @k(%x: tile<ptr<f16>>, %w: tile<ptr<f16>>, %y: tile<ptr<f32>>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %vx = make_tensor_view %px, shape = [64, 8192], strides = [8192, 1] : tensor_view<64x8192xf16, strides=[8192,1]>
  %tx = make_partition_view %vx : partition_view<tile=(1x8192), tensor_view<64x8192xf16, strides=[8192,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<f16>>
  %vw = make_tensor_view %pw, shape = [1, 8192], strides = [8192, 1] : tensor_view<1x8192xf16, strides=[8192,1]>
  %tw = make_partition_view %vw : partition_view<tile=(1x8192), tensor_view<1x8192xf16, strides=[8192,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f32>>
  %vy = make_tensor_view %py, shape = [64, 8192], strides = [8192, 1] : tensor_view<64x8192xf32, strides=[8192,1]>
  %ty = make_partition_view %vy : partition_view<tile=(1x8192), tensor_view<64x8192xf32, strides=[8192,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 64> : tile<i32>
  %wl, %e = load_view_tko weak %tw[%c0, %c0] : partition_view<tile=(1x8192), tensor_view<1x8192xf16, strides=[8192,1]>>, tile<i32> -> tile<1x8192xf16>, token
  %wide = ftof %wl rounding<nearest_even> : tile<1x8192xf16> -> tile<1x8192xf32>
  for %i in (%c0 to %n, step %c1) : tile<i32> {
    %l, %f = load_view_tko weak %tx[%i, %c0] : partition_view<tile=(1x8192), tensor_view<64x8192xf16, strides=[8192,1]>>, tile<i32> -> tile<1x8192xf16>, token
    %lw = ftof %l rounding<nearest_even> : tile<1x8192xf16> -> tile<1x8192xf32>
    %o = mulf %lw, %wide rounding<nearest_even> : tile<1x8192xf32>
    %s = store_view_tko weak %o, %ty[%i, %c0] : tile<1x8192xf32>, partition_view<tile=(1x8192), tensor_view<64x8192xf32, strides=[8192,1]>>, tile<i32> -> token
    continue
  }
  return
}
