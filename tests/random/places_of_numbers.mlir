// Rows and columns computed of consecutive numbers, as CUDA Tile C++ does it: quotients and remainders by the length of a row and
// by other numbers, of the numbers themselves and of numbers from a multiple on; rows of constant length, masked.
// grid: 3,1,1
// arg: buffer i32 8192 whole -100 100 seed 1
// arg: buffer i32 20480 whole 7 7 seed 0
// arg: i64 37
entry @main(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %rows: tile<i64>) {
  %i, %j, %z = get_tile_block_id : tile<i32>
  %n = iota : tile<1024xi64>
  %x = reshape %n : tile<1024xi64> -> tile<16x64xi64>
  %c64 = constant <i64: 64> : tile<16x64xi64>
  %row = divi %x, %c64 signed rounding<zero> : tile<16x64xi64>
  %column = remi %x, %c64 signed : tile<16x64xi64>
  %half = constant <i64: 32> : tile<16x64xi64>
  %part = divi %x, %half signed rounding<zero> : tile<16x64xi64>
  %inPart = remi %x, %half signed : tile<16x64xi64>
  %i64 = exti %i unsigned : tile<i32> -> tile<i64>
  %sixteen = constant <i64: 16> : tile<i64>
  %first = muli %i64, %sixteen overflow<no_signed_wrap> : tile<i64>
  %first1 = reshape %first : tile<i64> -> tile<1x1xi64>
  %firsts = broadcast %first1 : tile<1x1xi64> -> tile<16x64xi64>
  %r = addi %firsts, %row overflow<no_signed_wrap> : tile<16x64xi64>
  %rows1 = reshape %rows : tile<i64> -> tile<1x1xi64>
  %rowsT = broadcast %rows1 : tile<1x1xi64> -> tile<16x64xi64>
  %inside = cmpi less_than %r, %rowsT, signed : tile<16x64xi64> -> tile<16x64xi1>
  %long = constant <i64: 128> : tile<16x64xi64>
  %at0 = muli %r, %long overflow<no_signed_wrap> : tile<16x64xi64>
  %at = addi %at0, %column overflow<no_signed_wrap> : tile<16x64xi64>
  %p1 = reshape %a : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %p2 = broadcast %p1 : tile<1x1xptr<i32>> -> tile<16x64xptr<i32>>
  %p = offset %p2, %at : tile<16x64xptr<i32>>, tile<16x64xi64> -> tile<16x64xptr<i32>>
  %v, %t = load_ptr_tko weak %p, %inside : tile<16x64xptr<i32>>, tile<16x64xi1> -> tile<16x64xi32>, token
  %c1024 = constant <i64: 1024> : tile<i64>
  %base = muli %i64, %c1024 overflow<no_signed_wrap> : tile<i64>
  %base1 = reshape %base : tile<i64> -> tile<1x1xi64>
  %bases = broadcast %base1 : tile<1x1xi64> -> tile<16x64xi64>
  %lin = addi %bases, %x overflow<no_signed_wrap> : tile<16x64xi64>
  %row2 = divi %lin, %c64 signed rounding<zero> : tile<16x64xi64>
  %column2 = remi %lin, %c64 signed : tile<16x64xi64>
  %five = constant <i64: 5> : tile<16x64xi64>
  %odd = remi %lin, %five signed : tile<16x64xi64>
  %oddq = divi %lin, %five signed rounding<zero> : tile<16x64xi64>
  %s1 = addi %part, %inPart : tile<16x64xi64>
  %s2 = muli %odd, %oddq : tile<16x64xi64>
  %s3 = addi %s1, %s2 : tile<16x64xi64>
  %s4 = addi %s3, %row2 : tile<16x64xi64>
  %s5 = trunci %s4 : tile<16x64xi64> -> tile<16x64xi32>
  %w = select %inside, %v, %s5 : tile<16x64xi1>, tile<16x64xi32>
  %u = addi %w, %s5 : tile<16x64xi32>
  %long2 = constant <i64: 320> : tile<16x64xi64>
  %o0 = muli %row2, %long2 overflow<no_signed_wrap> : tile<16x64xi64>
  %four = constant <i64: 4> : tile<16x64xi64>
  %o1 = muli %column2, %four overflow<no_signed_wrap> : tile<16x64xi64>
  %o = addi %o0, %o1 overflow<no_signed_wrap> : tile<16x64xi64>
  %q1 = reshape %b : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %q2 = broadcast %q1 : tile<1x1xptr<i32>> -> tile<16x64xptr<i32>>
  %q3 = offset %q2, %o : tile<16x64xptr<i32>>, tile<16x64xi64> -> tile<16x64xptr<i32>>
  %three = constant <i64: 3> : tile<16x64xi64>
  %q = offset %q3, %three : tile<16x64xptr<i32>>, tile<16x64xi64> -> tile<16x64xptr<i32>>
  %t2 = store_ptr_tko weak %q, %u : tile<16x64xptr<i32>>, tile<16x64xi32> -> token
  return
}
