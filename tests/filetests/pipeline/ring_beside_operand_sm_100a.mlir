// Where TMA is forbidden, copies of three stages would leave no shared memory for the left operand, which is loaded once:
// the ring has two, and both matmuls read their operands where tensor memory's instructions do.
// run: compile --emit nv_tileas --gpu-name sm_100a
// run: explain --gpu-name sm_100a
// show: alloc_tensor" | pipeline.create | tensor_dot | .dot" | no tcgen05 | cp.async pipeline
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %d: tile<ptr<f16>>, %c: tile<ptr<f16>>, %e: tile<ptr<f16>>, %n: tile<i32>) {
  %ma = offset %a, %n : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %pa = assume div_by<16>, %ma : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %mb = offset %b, %n : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %pb = assume div_by<16>, %mb : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %md = offset %d, %n : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %pd = assume div_by<16>, %md : tile<ptr<f16>>
  %vd = make_tensor_view %pd, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %td = make_partition_view %vd : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %mc = offset %c, %n : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %pc = assume div_by<16>, %mc : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %me = offset %e, %n : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %pe = assume div_by<16>, %me : tile<ptr<f16>>
  %ve = make_tensor_view %pe, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %te = make_partition_view %ve : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %l, %t0 = load_view_tko weak %ta[%i, %c0] optimization_hints = <default = {allow_tma = false}> : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x128xf16>, token
  %sum, %other = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%f = %zero, %g = %zero) -> (tile<128x128xf32>, tile<128x128xf32>) {
    %r, %t1 = load_view_tko weak %tb[%k, %j] optimization_hints = <default = {allow_tma = false}> : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x128xf16>, token
    %q, %t2 = load_view_tko weak %td[%k, %j] optimization_hints = <default = {allow_tma = false}> : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x128xf16>, token
    %s = mmaf %l, %r, %f : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
    %u = mmaf %l, %q, %g : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
    continue %s, %u : tile<128x128xf32>, tile<128x128xf32>
  }
  %half = ftof %sum rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %t4 = store_view_tko weak %half, %tc[%i, %j] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  %h2 = ftof %other rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %t5 = store_view_tko weak %h2, %te[%i, %j] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
