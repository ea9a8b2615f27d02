// Signed division rounded to negative infinity by 2^k is an arithmetic shift.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {
  %c8 = constant <i32: 8> : tile<i32>
  %r = divi %x, %c8 signed rounding<negative_inf> : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
