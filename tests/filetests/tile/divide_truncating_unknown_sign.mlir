// The same division where the sign is unknown is no plain shift: -1 / 8 = 0, but -1 >> 3 = -1.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {
  %c8 = constant <i32: 8> : tile<i32>
  %r = divi %x, %c8 signed : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
