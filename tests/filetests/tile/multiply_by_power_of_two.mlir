// Multiplication by 2^k is a shift.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {
  %c16 = constant <i32: 16> : tile<i32>
  %r = muli %x, %c16 : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
