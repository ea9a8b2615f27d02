// Multiply-adds read for each k the rows and columns of a thread's elements of the product: elements lie in squares of four by
// four, and a thread's squares are apart. What is loaded and stored lies in rows.
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: #layout | _load" | _store" | .dot"
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [32, 128], strides = [128, 1] : tensor_view<32x128xf32, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x128), tensor_view<32x128xf32, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x128), tensor_view<64x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x128xf32>
  %x, %k1 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<64x32xf32>, token
  %y, %k2 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(32x128), tensor_view<32x128xf32, strides=[128,1]>>, tile<i32> -> tile<32x128xf32>, token
  %p = mmaf %x, %y, %zero : tile<64x32xf32>, tile<32x128xf32>, tile<64x128xf32>
  %k3 = store_view_tko weak %p, %tc[%c0, %c0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
