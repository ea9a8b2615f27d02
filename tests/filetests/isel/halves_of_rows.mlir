// The halves of rows that a rotary embedding reads have one address for each row and thread: the distance between them, and
// between the columns of a thread, are immediate offsets.
// run: compile --gpu-name sm_80
// show: cvt | mul | mad | add.s64 | shl.b64 | global
entry @k(%a: tile<ptr<f16>>, %o: tile<ptr<f16>>, %stride: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %c16 = constant <i32: 16> : tile<i32>
  %first = muli %x, %c16 : tile<i32>
  %rows = iota : tile<16xi32>
  %f = reshape %first : tile<i32> -> tile<1xi32>
  %fb = broadcast %f : tile<1xi32> -> tile<16xi32>
  %row = addi %rows, %fb : tile<16xi32>
  %row64 = exti %row signed : tile<16xi32> -> tile<16xi64>
  %s64 = exti %stride signed : tile<i32> -> tile<i64>
  %s1 = reshape %s64 : tile<i64> -> tile<1xi64>
  %sb = broadcast %s1 : tile<1xi64> -> tile<16xi64>
  %start = muli %row64, %sb : tile<16xi64>
  %start1 = reshape %start : tile<16xi64> -> tile<16x1xi64>
  %starts = broadcast %start1 : tile<16x1xi64> -> tile<16x128xi64>
  %cols = iota : tile<128xi32>
  %h = constant <i32: 500> : tile<128xi32>
  %other = addi %cols, %h : tile<128xi32>
  %cols64 = exti %cols signed : tile<128xi32> -> tile<128xi64>
  %other64 = exti %other signed : tile<128xi32> -> tile<128xi64>
  %cols1 = reshape %cols64 : tile<128xi64> -> tile<1x128xi64>
  %other1 = reshape %other64 : tile<128xi64> -> tile<1x128xi64>
  %colsb = broadcast %cols1 : tile<1x128xi64> -> tile<16x128xi64>
  %otherb = broadcast %other1 : tile<1x128xi64> -> tile<16x128xi64>
  %iu = addi %starts, %colsb : tile<16x128xi64>
  %iv = addi %starts, %otherb : tile<16x128xi64>
  %p = reshape %a : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %pb = broadcast %p : tile<1x1xptr<f16>> -> tile<16x128xptr<f16>>
  %q = reshape %o : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %qb = broadcast %q : tile<1x1xptr<f16>> -> tile<16x128xptr<f16>>
  %pu = offset %pb, %iu : tile<16x128xptr<f16>>, tile<16x128xi64> -> tile<16x128xptr<f16>>
  %pv = offset %pb, %iv : tile<16x128xptr<f16>>, tile<16x128xi64> -> tile<16x128xptr<f16>>
  %qu = offset %qb, %iu : tile<16x128xptr<f16>>, tile<16x128xi64> -> tile<16x128xptr<f16>>
  %u, %tu = load_ptr_tko weak %pu : tile<16x128xptr<f16>> -> tile<16x128xf16>, token
  %v, %tv = load_ptr_tko weak %pv : tile<16x128xptr<f16>> -> tile<16x128xf16>, token
  %d = subf %u, %v rounding<nearest_even> : tile<16x128xf16>
  %ts = store_ptr_tko weak %qu, %d : tile<16x128xptr<f16>>, tile<16x128xf16> -> token
  return
}
