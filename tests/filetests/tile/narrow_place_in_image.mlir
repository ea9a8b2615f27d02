// Numbers of pixels, in 64 bits, fit in 32: a quotient of 64 bits is some seventy instructions. What is added to them last
// need not fit, so that the sum has 64.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<f32>>, %row: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %side = constant <i32: 64> : tile<i32>
  %first = muli %y, %side : tile<i32>
  %wide = exti %first signed : tile<i32> -> tile<i64>
  %at = reshape %wide : tile<i64> -> tile<1xi64>
  %base = broadcast %at : tile<1xi64> -> tile<64xi64>
  %i = iota : tile<64xi64>
  %pixel = addi %i, %base : tile<64xi64>
  %width = constant <i64: 7> : tile<64xi64>
  %line = divi %pixel, %width signed rounding<negative_inf> : tile<64xi64>
  %lines = muli %line, %width : tile<64xi64>
  %column = subi %pixel, %lines : tile<64xi64>
  %pixels = constant <i64: 2304> : tile<64xi64>
  %inside = cmpi less_than %pixel, %pixels, signed : tile<64xi64> -> tile<64xi1>
  %zero = constant <i64: 0> : tile<64xi64>
  %shown = select %inside, %column, %zero : tile<64xi1>, tile<64xi64>
  %pitch = constant <i64: 48> : tile<64xi64>
  %place = muli %shown, %pitch : tile<64xi64>
  %factor = constant <i32: 112896> : tile<i32>
  %image = muli %row, %factor : tile<i32>
  %any = exti %image signed : tile<i32> -> tile<i64>
  %one = reshape %any : tile<i64> -> tile<1xi64>
  %images = broadcast %one : tile<1xi64> -> tile<64xi64>
  %offset = addi %place, %images : tile<64xi64>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %pointers = offset %ps, %offset : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
  %value = constant <f32: 1.0> : tile<64xf32>
  %t = store_ptr_tko weak %pointers, %value, %inside : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
  return
}
