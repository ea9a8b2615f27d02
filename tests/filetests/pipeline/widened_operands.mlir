// Both operands are widened to f32: warpgroups multiply them as f16, the right one transposed by its descriptor. Of the
// second matmul only the right operand is: the left one is the sum of three parts in bf16. Smaller than an
// instruction, the third one is a matmul of multiply-adds.
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_80
// show: dot | permute | ftof
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<bf16>>, %d: tile<ptr<f32>>, %e: tile<ptr<f32>>) {
  %va = make_tensor_view %a, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %vb = make_tensor_view %b, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %vc = make_tensor_view %c, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xbf16, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>
  %vd = make_tensor_view %d, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %td = make_partition_view %vd : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %ve = make_tensor_view %e, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xf32, strides=[64,1]>
  %te = make_partition_view %ve : partition_view<tile=(8x64), tensor_view<8x64xf32, strides=[64,1]>>
  %i = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %none = constant <f32: 0.0> : tile<8x64xf32>
  %l, %t0 = load_view_tko weak %ta[%i, %i] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %r, %t1 = load_view_tko weak %tb[%i, %i] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %v, %t2 = load_view_tko weak %tc[%i, %i] : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>, tile<i32> -> tile<64x64xbf16>, token
  %few, %t3 = load_view_tko weak %te[%i, %i] : partition_view<tile=(8x64), tensor_view<8x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x64xf32>, token
  %wl = ftof %l : tile<64x64xf16> -> tile<64x64xf32>
  %wr = ftof %r : tile<64x64xf16> -> tile<64x64xf32>
  %wv = ftof %v : tile<64x64xbf16> -> tile<64x64xf32>
  %turned = permute %wr [1, 0] : tile<64x64xf32> -> tile<64x64xf32>
  %s = mmaf %wl, %turned, %zero : tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>
  %p = exp2 %s : tile<64x64xf32>
  %o = mmaf %p, %wv, %zero : tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>
  %small = mmaf %few, %wv, %none : tile<8x64xf32>, tile<64x64xf32>, tile<8x64xf32>
  %t4 = store_view_tko weak %o, %td[%i, %i] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %t5 = store_view_tko weak %small, %te[%i, %i] : tile<8x64xf32>, partition_view<tile=(8x64), tensor_view<8x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
