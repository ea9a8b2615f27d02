// Unsigned division by 2^k is a logical shift.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {
  %c8 = constant <i32: 8> : tile<i32>
  %r = divi %x, %c8 unsigned : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
