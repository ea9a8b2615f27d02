// A thread has 64 elements to load, compute and store. Registers are limited so that two blocks share a multiprocessor:
// one loads while the other computes. Where it has sixteen, blocks find room by themselves.
// run: explain --gpu-name sm_90a
// show: kernel | registers for
// run: compile --gpu-name sm_90a
// show: .maxnreg | .minnctapersm | .reqntid
entry @large(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1048576], strides = [1] : tensor_view<1048576xf16, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(16384), tensor_view<1048576xf16, strides=[1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1048576], strides = [1] : tensor_view<1048576xf16, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(16384), tensor_view<1048576xf16, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1048576], strides = [1] : tensor_view<1048576xf16, strides=[1]>
  %tc = make_partition_view %vc : partition_view<tile=(16384), tensor_view<1048576xf16, strides=[1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i] : partition_view<tile=(16384), tensor_view<1048576xf16, strides=[1]>>, tile<i32> -> tile<16384xf16>, token
  %y, %t1 = load_view_tko weak %tb[%i] : partition_view<tile=(16384), tensor_view<1048576xf16, strides=[1]>>, tile<i32> -> tile<16384xf16>, token
  %xf = ftof %x : tile<16384xf16> -> tile<16384xf32>
  %e = exp %xf : tile<16384xf32>
  %d = ftof %e : tile<16384xf32> -> tile<16384xf16>
  %s = mulf %d, %y rounding<nearest_even> : tile<16384xf16>
  %t2 = store_view_tko weak %s, %tc[%i] : tile<16384xf16>, partition_view<tile=(16384), tensor_view<1048576xf16, strides=[1]>>, tile<i32> -> token
  return
}
entry @small(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1048576], strides = [1] : tensor_view<1048576xf16, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(2048), tensor_view<1048576xf16, strides=[1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1048576], strides = [1] : tensor_view<1048576xf16, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(2048), tensor_view<1048576xf16, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1048576], strides = [1] : tensor_view<1048576xf16, strides=[1]>
  %tc = make_partition_view %vc : partition_view<tile=(2048), tensor_view<1048576xf16, strides=[1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i] : partition_view<tile=(2048), tensor_view<1048576xf16, strides=[1]>>, tile<i32> -> tile<2048xf16>, token
  %y, %t1 = load_view_tko weak %tb[%i] : partition_view<tile=(2048), tensor_view<1048576xf16, strides=[1]>>, tile<i32> -> tile<2048xf16>, token
  %xf = ftof %x : tile<2048xf16> -> tile<2048xf32>
  %e = exp %xf : tile<2048xf32>
  %d = ftof %e : tile<2048xf32> -> tile<2048xf16>
  %s = mulf %d, %y rounding<nearest_even> : tile<2048xf16>
  %t2 = store_view_tko weak %s, %tc[%i] : tile<2048xf16>, partition_view<tile=(2048), tensor_view<1048576xf16, strides=[1]>>, tile<i32> -> token
  return
}
