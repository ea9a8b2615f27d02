// Matmuls in front of a loop and behind it, and one in it: the block that reads the operands of the first two goes on behind the
// loop.
// grid: 1,1,1
// arg: buffer f16 1024 whole -1 1 seed 1
// arg: buffer f16 1024 whole -1 1 seed 2
// arg: buffer f16 4096 whole -1 1 seed 3
// arg: buffer f16 1024 whole -1 1 seed 4
// arg: buffer f16 1024 whole -1 1 seed 5
// arg: buffer f16 4096 whole -1 1 seed 6
// arg: buffer f32 1024 whole 0 0 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %d: tile<ptr<f16>>, %e: tile<ptr<f16>>, %f: tile<ptr<f16>>, %x: tile<ptr<f32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf16, strides=[32,1]>
  %tc = make_partition_view %vc : partition_view<tile=(32x32), tensor_view<128x32xf16, strides=[32,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f16>>
  %vd = make_tensor_view %pd, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
  %td = make_partition_view %vd : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>
  %pe = assume div_by<16>, %e : tile<ptr<f16>>
  %ve = make_tensor_view %pe, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
  %te = make_partition_view %ve : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>
  %pf = assume div_by<16>, %f : tile<ptr<f16>>
  %vf = make_tensor_view %pf, shape = [128, 32], strides = [32, 1] : tensor_view<128x32xf16, strides=[32,1]>
  %tf = make_partition_view %vf : partition_view<tile=(32x32), tensor_view<128x32xf16, strides=[32,1]>>
  %zero = constant <f32: 0.0> : tile<32x32xf32>
  %l0, %tok_l0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
  %r0, %tok_r0 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
  %s0 = mmaf %l0, %r0, %zero : tile<32x32xf16>, tile<32x32xf16>, tile<32x32xf32>
  %s1 = for %k in (%c0 to %c4, step %c1) : tile<i32> iter_values(%acc = %s0) -> (tile<32x32xf32>) {
    %l1, %tok_l1 = load_view_tko weak %tc[%k, %c0] : partition_view<tile=(32x32), tensor_view<128x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
    %r1, %tok_r1 = load_view_tko weak %tf[%k, %c0] : partition_view<tile=(32x32), tensor_view<128x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
    %s = mmaf %l1, %r1, %acc : tile<32x32xf16>, tile<32x32xf16>, tile<32x32xf32>
    continue %s : tile<32x32xf32>
  }
  %l2, %tok_l2 = load_view_tko weak %td[%c0, %c0] : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
  %r2, %tok_r2 = load_view_tko weak %te[%c0, %c0] : partition_view<tile=(32x32), tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
  %s2 = mmaf %l2, %r2, %s1 : tile<32x32xf16>, tile<32x32xf16>, tile<32x32xf32>
  %px = assume div_by<16>, %x : tile<ptr<f32>>
  %vx = make_tensor_view %px, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf32, strides=[32,1]>
  %tx = make_partition_view %vx : partition_view<tile=(32x32), tensor_view<32x32xf32, strides=[32,1]>>
  %n = store_view_tko weak %s2, %tx[%c0, %c0] : tile<32x32xf32>, partition_view<tile=(32x32), tensor_view<32x32xf32, strides=[32,1]>>, tile<i32> -> token
  return
}
