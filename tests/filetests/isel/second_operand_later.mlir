// Multiply-adds read both operands in shared memory. Of operands that take many registers, the second one is loaded when the
// first one has been stored there and a barrier says that the matmul before has read its own.
// run: compile --emit nvvm --gpu-name sm_90a
// show: "nvvm.ld" | "nvvm.st" | nvvm.bar | nvvm.for
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %d: tile<ptr<f32>>, %e: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %td = make_partition_view %vd : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %pe = assume div_by<16>, %e : tile<ptr<f32>>
  %ve = make_tensor_view %pe, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %te = make_partition_view %ve : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %x, %k1 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> tile<128x128xf32>, token
  %y, %k2 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> tile<128x128xf32>, token
  %p = mmaf %x, %y, %zero : tile<128x128xf32>, tile<128x128xf32>, tile<128x128xf32>
  %v, %k3 = load_view_tko weak %td[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> tile<128x128xf32>, token
  %w, %k4 = load_view_tko weak %te[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> tile<128x128xf32>, token
  %q = mmaf %v, %w, %zero : tile<128x128xf32>, tile<128x128xf32>, tile<128x128xf32>
  %o = mulf %p, %q rounding<nearest_even> : tile<128x128xf32>
  %k5 = store_view_tko weak %o, %tc[%c0, %c0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
