// Two loads of one tile of a loop, the second of which waits for the first as reads that a program orders do, are one: a
// ring brings it once. What would be loaded behind a write is loaded again.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: one load | pipeline of | stages of | nv_tileas.async.tiled_copy | nv_tileas.tiled_load
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %q, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %lt = permute %l [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %q, %lt, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %p = ftof %s rounding<nearest_even> : tile<64x64xf32> -> tile<64x64xf16>
    %v, %t3 = load_view_tko weak %tb[%k, %c0] token = %t1 : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %o = mmaf %p, %v, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %o : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %again, %t4 = load_view_tko weak %tc[%c0, %c0] token = %t2 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
  %back, %t5 = load_view_tko weak %tc[%c0, %c0] token = %t2 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x64xf32>, token
  %double = addf %again, %back rounding<nearest_even> : tile<64x64xf32>
  %t6 = store_view_tko weak %double, %tc[%c0, %c0] token = %t5 : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
