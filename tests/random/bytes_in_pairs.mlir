// Matmuls of bytes whose K is not contiguous: of the right operand in a loop; of both, the left one as the transpose of what is
// loaded.
// grid: 1,1,1
// arg: buffer i8 8192 any seed 1
// arg: buffer i8 8192 any seed 2
// arg: buffer i32 4096 whole 0 0 seed 0
// arg: buffer f8E4M3FN 8192 whole -4 4 seed 3
// arg: buffer f8E4M3FN 8192 whole -4 4 seed 4
// arg: buffer f32 4096 whole 0 0 seed 0
entry @main(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>, %d: tile<ptr<f8E4M3FN>>, %e: tile<ptr<f8E4M3FN>>, %f: tile<ptr<f32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %pa = assume div_by<16>, %a : tile<ptr<i8>>
  %va = make_tensor_view %pa, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xi8, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<64x128xi8, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<i8>>
  %vb = make_tensor_view %pb, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xi8, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<128x64xi8, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<i32>>
  %vc = make_tensor_view %pc, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xi32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<64x64xi32, strides=[64,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f8E4M3FN>>
  %vd = make_tensor_view %pd, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf8E4M3FN, strides=[64,1]>
  %td = make_partition_view %vd : partition_view<tile=(64x64), tensor_view<128x64xf8E4M3FN, strides=[64,1]>>
  %pe = assume div_by<16>, %e : tile<ptr<f8E4M3FN>>
  %ve = make_tensor_view %pe, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf8E4M3FN, strides=[64,1]>
  %te = make_partition_view %ve : partition_view<tile=(64x64), tensor_view<128x64xf8E4M3FN, strides=[64,1]>>
  %pf = assume div_by<16>, %f : tile<ptr<f32>>
  %vf = make_tensor_view %pf, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tf = make_partition_view %vf : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %zi = constant <i32: 0> : tile<64x64xi32>
  %zf = constant <f32: 0.0> : tile<64x64xf32>
  %i = for %k in (%c0 to %c2, step %c1) : tile<i32> iter_values(%acc = %zi) -> (tile<64x64xi32>) {
    %x, %n0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(64x64), tensor_view<64x128xi8, strides=[128,1]>>, tile<i32> -> tile<64x64xi8>, token
    %y, %n1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x64), tensor_view<128x64xi8, strides=[64,1]>>, tile<i32> -> tile<64x64xi8>, token
    %s = mmai %x, %y, %acc signed unsigned : tile<64x64xi8>, tile<64x64xi8>, tile<64x64xi32>
    continue %s : tile<64x64xi32>
  }
  %n2 = store_view_tko weak %i, %tc[%c0, %c0] : tile<64x64xi32>, partition_view<tile=(64x64), tensor_view<64x64xi32, strides=[64,1]>>, tile<i32> -> token
  %j = for %k in (%c0 to %c2, step %c1) : tile<i32> iter_values(%acc = %zf) -> (tile<64x64xf32>) {
    %x, %n3 = load_view_tko weak %td[%k, %c0] : partition_view<tile=(64x64), tensor_view<128x64xf8E4M3FN, strides=[64,1]>>, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %xt = permute %x [1, 0] : tile<64x64xf8E4M3FN> -> tile<64x64xf8E4M3FN>
    %y, %n4 = load_view_tko weak %te[%k, %c0] : partition_view<tile=(64x64), tensor_view<128x64xf8E4M3FN, strides=[64,1]>>, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %s = mmaf %xt, %y, %acc : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %n5 = store_view_tko weak %j, %tf[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
