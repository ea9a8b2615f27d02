// Streams in which every thread reads its own copies: in place, and to another tensor.
// grid: 1,1,1
// arg: buffer f32 8192 whole -2 2 seed 0
// arg: buffer f32 8192 whole -2 2 seed 1
// arg: buffer f32 8192 whole 7 7 seed 0
entry @main(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) optimization_hints=<default = {occupancy = 1}> {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [8, 1024], strides = [1024, 1] : tensor_view<8x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [8, 1024], strides = [1024, 1] : tensor_view<8x1024xf32, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(2x1024), tensor_view<8x1024xf32, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [8, 1024], strides = [1024, 1] : tensor_view<8x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(2x1024), tensor_view<8x1024xf32, strides=[1024,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %h = constant <i32: 4> : tile<i32>
  for %i in (%c0 to %n, step %c1) : tile<i32> {
    %x, %t1 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<1x1024xf32>, token
    %y = exp2 %x : tile<1x1024xf32>
    %t2 = store_view_tko weak %y, %ta[%i, %c0] token = %t1 : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
    continue
  }
  for %j in (%c0 to %h, step %c1) : tile<i32> {
    %z, %t3 = load_view_tko weak %tb[%j, %c0] : partition_view<tile=(2x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<2x1024xf32>, token
    %w = exp2 %z : tile<2x1024xf32>
    %t4 = store_view_tko weak %w, %tc[%j, %c0] : tile<2x1024xf32>, partition_view<tile=(2x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
    continue
  }
  return
}
