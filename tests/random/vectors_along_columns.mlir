// Matmuls of elements of 32 and 64 bits whose K is not contiguous: on sm_80 vectors along N are columns of neighbouring
// instructions.
// grid: 1,1,1
// arg: buffer f32 4096 whole -4 4 seed 1
// arg: buffer f32 8192 whole -4 4 seed 2
// arg: buffer f32 8192 whole 0 0 seed 0
// arg: buffer f64 2048 whole -4 4 seed 3
// arg: buffer f64 2048 whole -4 4 seed 4
// arg: buffer f64 4096 whole 0 0 seed 0
entry @main(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %d: tile<ptr<f64>>, %e: tile<ptr<f64>>, %f: tile<ptr<f64>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), tensor_view<64x64xf32, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x128), tensor_view<64x128xf32, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x128), tensor_view<64x128xf32, strides=[128,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f64>>
  %vd = make_tensor_view %pd, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf64, strides=[32,1]>
  %td = make_partition_view %vd : partition_view<tile=(64x16), tensor_view<64x32xf64, strides=[32,1]>>
  %pe = assume div_by<16>, %e : tile<ptr<f64>>
  %ve = make_tensor_view %pe, shape = [32, 64], strides = [64, 1] : tensor_view<32x64xf64, strides=[64,1]>
  %te = make_partition_view %ve : partition_view<tile=(16x64), tensor_view<32x64xf64, strides=[64,1]>>
  %pf = assume div_by<16>, %f : tile<ptr<f64>>
  %vf = make_tensor_view %pf, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf64, strides=[64,1]>
  %tf = make_partition_view %vf : partition_view<tile=(64x64), tensor_view<64x64xf64, strides=[64,1]>>
  %zs = constant <f32: 0.0> : tile<64x128xf32>
  %zd = constant <f64: 0.0> : tile<64x64xf64>
  %i = for %k in (%c0 to %c2, step %c1) : tile<i32> iter_values(%acc = %zs) -> (tile<64x128xf32>) {
    %x, %n0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(64x32), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<64x32xf32>, token
    %y, %n1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(32x128), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> tile<32x128xf32>, token
    %xt = ftof %x : tile<64x32xf32> -> tile<64x32xtf32>
    %yt = ftof %y : tile<32x128xf32> -> tile<32x128xtf32>
    %s = mmaf %xt, %yt, %acc : tile<64x32xtf32>, tile<32x128xtf32>, tile<64x128xf32>
    continue %s : tile<64x128xf32>
  }
  %n2 = store_view_tko weak %i, %tc[%c0, %c0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
  %j = for %k in (%c0 to %c2, step %c1) : tile<i32> iter_values(%acc = %zd) -> (tile<64x64xf64>) {
    %x, %n3 = load_view_tko weak %td[%c0, %k] : partition_view<tile=(64x16), tensor_view<64x32xf64, strides=[32,1]>>, tile<i32> -> tile<64x16xf64>, token
    %y, %n4 = load_view_tko weak %te[%k, %c0] : partition_view<tile=(16x64), tensor_view<32x64xf64, strides=[64,1]>>, tile<i32> -> tile<16x64xf64>, token
    %s = mmaf %x, %y, %acc : tile<64x16xf64>, tile<16x64xf64>, tile<64x64xf64>
    continue %s : tile<64x64xf64>
  }
  %n5 = store_view_tko weak %j, %tf[%c0, %c0] : tile<64x64xf64>, partition_view<tile=(64x64), tensor_view<64x64xf64, strides=[64,1]>>, tile<i32> -> token
  return
}
