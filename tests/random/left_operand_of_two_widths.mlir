// A computed left operand that two matmuls read, the second with more columns: it stays in tensor memory until the second has
// read it, beside that one's sum.
// grid: 1,1,1
// arg: buffer f16 8192 whole -1 1 seed 1
// arg: buffer f16 8192 whole -1 1 seed 2
// arg: buffer f16 16384 whole -1 1 seed 3
// arg: buffer f32 4096 whole 0 0 seed 0
// arg: buffer f32 8192 whole 0 0 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x128), tensor_view<64x128xf16, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf16, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[128,1]>>
  %px = assume div_by<16>, %x : tile<ptr<f32>>
  %vx = make_tensor_view %px, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tx = make_partition_view %vx : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f32>>
  %vy = make_tensor_view %py, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
  %ty = make_partition_view %vy : partition_view<tile=(64x128), tensor_view<64x128xf32, strides=[128,1]>>
  %narrow = constant <f32: 0.0> : tile<64x64xf32>
  %wide = constant <f32: 0.0> : tile<64x128xf32>
  %la, %tok_a = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(64x128), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
  %l = addf %la, %la : tile<64x128xf16>
  %rb, %tok_b = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(128x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %rc, %tok_c = load_view_tko weak %tc[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x128xf16>, token
  %s = mmaf %l, %rb, %narrow : tile<64x128xf16>, tile<128x64xf16>, tile<64x64xf32>
  %t = mmaf %l, %rc, %wide : tile<64x128xf16>, tile<128x128xf16>, tile<64x128xf32>
  %n1 = store_view_tko weak %s, %tx[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %n2 = store_view_tko weak %t, %ty[%c0, %c0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
