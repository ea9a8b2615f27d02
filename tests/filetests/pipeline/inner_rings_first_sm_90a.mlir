// An outer loop loads rows of the left operand, an inner one the right operand's columns. Shared memory holds three stages of
// 64 KiB, not four: the ring that the inner loop fills gets two of them.
// run: explain --gpu-name sm_90a
// show: pipeline of | warp roles | shared buffer
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf16, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x256), tensor_view<4096x256xf16, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [256, 4096], strides = [4096, 1] : tensor_view<256x4096xf16, strides=[4096,1]>
  %tb = make_partition_view %vb : partition_view<tile=(256x128), tensor_view<256x4096xf16, strides=[4096,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf16, strides=[4096,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<4096x4096xf16, strides=[4096,1]>>
  %i, %y, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %step = constant <i32: 8> : tile<i32>
  %n = constant <i32: 32> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  for %t in (%i to %n, step %step) : tile<i32> {
    %l, %t0 = load_view_tko weak %ta[%t, %c0] : partition_view<tile=(128x256), tensor_view<4096x256xf16, strides=[256,1]>>, tile<i32> -> tile<128x256xf16>, token
    for %j in (%c0 to %n, step %c1) : tile<i32> {
      %r, %t1 = load_view_tko weak %tb[%c0, %j] : partition_view<tile=(256x128), tensor_view<256x4096xf16, strides=[4096,1]>>, tile<i32> -> tile<256x128xf16>, token
      %s = mmaf %l, %r, %zero : tile<128x256xf16>, tile<256x128xf16>, tile<128x128xf32>
      %half = ftof %s rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
      %t2 = store_view_tko weak %half, %tc[%t, %j] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<4096x4096xf16, strides=[4096,1]>>, tile<i32> -> token
      continue
    }
    continue
  }
  return
}
