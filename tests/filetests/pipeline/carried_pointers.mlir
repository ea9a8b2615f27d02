// The pointers of both operands are carried by the loop, which moves them on by a constant and by a parameter. They follow
// from its counter alone: loads are started iterations ahead.
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | kernel k
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>, %depth: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %wide = assume div_by<16>, %n : tile<i32>
  %k = assume div_by<16>, %depth : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c32 = constant <i32: 32> : tile<i32>
  %row = iota : tile<64xi32>
  %row1 = reshape %row : tile<64xi32> -> tile<64x1xi32>
  %col1 = reshape %row : tile<64xi32> -> tile<1x64xi32>
  %deep = iota : tile<32xi32>
  %deep1 = reshape %deep : tile<32xi32> -> tile<1x32xi32>
  %deep2 = reshape %deep : tile<32xi32> -> tile<32x1xi32>
  %k1 = reshape %k : tile<i32> -> tile<1x1xi32>
  %k2 = broadcast %k1 : tile<1x1xi32> -> tile<64x1xi32>
  %down = muli %row1, %k2 : tile<64x1xi32>
  %da = broadcast %down : tile<64x1xi32> -> tile<64x32xi32>
  %ra = broadcast %deep1 : tile<1x32xi32> -> tile<64x32xi32>
  %ia = addi %da, %ra : tile<64x32xi32>
  %a1 = reshape %pa : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %a2 = broadcast %a1 : tile<1x1xptr<f16>> -> tile<64x32xptr<f16>>
  %first_a = offset %a2, %ia : tile<64x32xptr<f16>>, tile<64x32xi32> -> tile<64x32xptr<f16>>
  %w1 = reshape %wide : tile<i32> -> tile<1x1xi32>
  %w2 = broadcast %w1 : tile<1x1xi32> -> tile<32x1xi32>
  %w3 = broadcast %w1 : tile<1x1xi32> -> tile<64x1xi32>
  %drow = muli %deep2, %w2 : tile<32x1xi32>
  %db = broadcast %drow : tile<32x1xi32> -> tile<32x64xi32>
  %rb = broadcast %col1 : tile<1x64xi32> -> tile<32x64xi32>
  %ib = addi %db, %rb : tile<32x64xi32>
  %b1 = reshape %pb : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %b2 = broadcast %b1 : tile<1x1xptr<f16>> -> tile<32x64xptr<f16>>
  %first_b = offset %b2, %ib : tile<32x64xptr<f16>>, tile<32x64xi32> -> tile<32x64xptr<f16>>
  %steps = divi %k, %c32 signed : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum, %last_a, %last_b = for %i in (%c0 to %steps, step %c1) : tile<i32> iter_values(%acc = %zero, %qa = %first_a, %qb = %first_b) -> (tile<64x64xf32>, tile<64x32xptr<f16>>, tile<32x64xptr<f16>>) {
    %l, %t0 = load_ptr_tko weak %qa : tile<64x32xptr<f16>> -> tile<64x32xf16>, token
    %r, %t1 = load_ptr_tko weak %qb : tile<32x64xptr<f16>> -> tile<32x64xf16>, token
    %next = mmaf %l, %r, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    %on_a = constant <i32: 32> : tile<64x32xi32>
    %na = offset %qa, %on_a : tile<64x32xptr<f16>>, tile<64x32xi32> -> tile<64x32xptr<f16>>
    %by = muli %wide, %c32 : tile<i32>
    %by1 = reshape %by : tile<i32> -> tile<1x1xi32>
    %on_b = broadcast %by1 : tile<1x1xi32> -> tile<32x64xi32>
    %nb = offset %qb, %on_b : tile<32x64xptr<f16>>, tile<32x64xi32> -> tile<32x64xptr<f16>>
    continue %next, %na, %nb : tile<64x64xf32>, tile<64x32xptr<f16>>, tile<32x64xptr<f16>>
  }
  %dc = muli %row1, %w3 : tile<64x1xi32>
  %ec = broadcast %dc : tile<64x1xi32> -> tile<64x64xi32>
  %fc = broadcast %col1 : tile<1x64xi32> -> tile<64x64xi32>
  %ic = addi %ec, %fc : tile<64x64xi32>
  %o1 = reshape %c : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %o2 = broadcast %o1 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
  %po = offset %o2, %ic : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
  %t2 = store_ptr_tko weak %po, %sum : tile<64x64xptr<f32>>, tile<64x64xf32> -> token
  return
}
