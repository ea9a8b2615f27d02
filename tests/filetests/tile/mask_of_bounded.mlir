// A mask that covers all values that a number may have is dropped.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {
  %n = assume bounded<0, 100>, %x : tile<i32>
  %c127 = constant <i32: 127> : tile<i32>
  %r = andi %n, %c127 : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
