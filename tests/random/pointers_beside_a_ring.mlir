// A ring of tensor copies around a loop of matmuls whose operands come through carried pointers: the producer, which has
// no inner loop, and the consumers must be followed for as many iterations as each other.
// grid: 1,1,1
// arg: buffer f16 16384 whole -2 2 seed 1
// arg: buffer f16 4096 whole -2 2 seed 2
// arg: buffer f16 4096 whole -2 2 seed 3
// arg: buffer f16 512 whole -2 2 seed 4
// arg: buffer f32 1024 whole 0 0 seed 0
// arg: buffer f32 2048 whole 0 0 seed 0
// arg: i32 16
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %zx = constant <f32: 0.0> : tile<64x16xf32>
  %zy = constant <f32: 0.0> : tile<128x16xf32>
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %ta = make_tensor_view %pa, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf16, strides=[256,1]>
  %va = make_partition_view %ta : partition_view<tile=(64x64), tensor_view<64x256xf16, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %tb = make_tensor_view %pb, shape = [256, 16], strides = [16, 1] : tensor_view<256x16xf16, strides=[16,1]>
  %vb = make_partition_view %tb : partition_view<tile=(64x16), tensor_view<256x16xf16, strides=[16,1]>>
  // The elements of 128 rows of 32, and of 32 rows of 16.
  %i = iota : tile<128xi32>
  %i1 = reshape %i : tile<128xi32> -> tile<128x1xi32>
  %c32 = constant <i32: 32> : tile<128x1xi32>
  %row = muli %i1, %c32 : tile<128x1xi32>
  %rows = broadcast %row : tile<128x1xi32> -> tile<128x16xi32>
  %j = iota : tile<16xi32>
  %j1 = reshape %j : tile<16xi32> -> tile<1x16xi32>
  %cols = broadcast %j1 : tile<1x16xi32> -> tile<128x16xi32>
  %at = addi %rows, %cols : tile<128x16xi32>
  %p1 = reshape %p : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %pt = broadcast %p1 : tile<1x1xptr<f16>> -> tile<128x16xptr<f16>>
  %ps = offset %pt, %at : tile<128x16xptr<f16>>, tile<128x16xi32> -> tile<128x16xptr<f16>>
  %k1 = reshape %j : tile<16xi32> -> tile<16x1xi32>
  %n1 = reshape %n : tile<i32> -> tile<1x1xi32>
  %ns = broadcast %n1 : tile<1x1xi32> -> tile<16x1xi32>
  %krow = muli %k1, %ns : tile<16x1xi32>
  %krows = broadcast %krow : tile<16x1xi32> -> tile<16x16xi32>
  %kcols = broadcast %j1 : tile<1x16xi32> -> tile<16x16xi32>
  %kat = addi %krows, %kcols : tile<16x16xi32>
  %q1 = reshape %q : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %qt = broadcast %q1 : tile<1x1xptr<f16>> -> tile<16x16xptr<f16>>
  %qs = offset %qt, %kat : tile<16x16xptr<f16>>, tile<16x16xi32> -> tile<16x16xptr<f16>>
  %pstep = constant <i32: 16> : tile<128x16xi32>
  %c16 = constant <i32: 16> : tile<i32>
  %n16 = muli %n, %c16 : tile<i32>
  %m1 = reshape %n16 : tile<i32> -> tile<1x1xi32>
  %qstep = broadcast %m1 : tile<1x1xi32> -> tile<16x16xi32>
  %rx, %ry = for %o in (%c0 to %c4, step %c1) : tile<i32> iter_values(%sx = %zx, %sy = %zy) -> (tile<64x16xf32>, tile<128x16xf32>) {
    %la, %t1 = load_view_tko weak %va[%c0, %o] : partition_view<tile=(64x64), tensor_view<64x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
    %lb, %t2 = load_view_tko weak %vb[%o, %c0] : partition_view<tile=(64x16), tensor_view<256x16xf16, strides=[16,1]>>, tile<i32> -> tile<64x16xf16>, token
    %ri, %rp, %rq = for %u in (%c0 to %c2, step %c1) : tile<i32> iter_values(%si = %sy, %up = %ps, %uq = %qs) -> (tile<128x16xf32>, tile<128x16xptr<f16>>, tile<16x16xptr<f16>>) {
      %lp, %t3 = load_ptr_tko weak %up : tile<128x16xptr<f16>> -> tile<128x16xf16>, token
      %lq, %t4 = load_ptr_tko weak %uq : tile<16x16xptr<f16>> -> tile<16x16xf16>, token
      %mi = mmaf %lp, %lq, %si : tile<128x16xf16>, tile<16x16xf16>, tile<128x16xf32>
      %np = offset %up, %pstep : tile<128x16xptr<f16>>, tile<128x16xi32> -> tile<128x16xptr<f16>>
      %nq = offset %uq, %qstep : tile<16x16xptr<f16>>, tile<16x16xi32> -> tile<16x16xptr<f16>>
      continue %mi, %np, %nq : tile<128x16xf32>, tile<128x16xptr<f16>>, tile<16x16xptr<f16>>
    }
    %mo = mmaf %la, %lb, %sx : tile<64x64xf16>, tile<64x16xf16>, tile<64x16xf32>
    continue %mo, %ri : tile<64x16xf32>, tile<128x16xf32>
  }
  %ox = make_tensor_view %x, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
  %wx = make_partition_view %ox : partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>
  %t5 = store_view_tko weak %rx, %wx[%c0, %c0] : tile<64x16xf32>, partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>, tile<i32> -> token
  %oy = make_tensor_view %y, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf32, strides=[16,1]>
  %wy = make_partition_view %oy : partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>
  %t6 = store_view_tko weak %ry, %wy[%c0, %c0] : tile<128x16xf32>, partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
