// A comparison that the bounds decide is a constant, and the select on it is gone.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {
  %n = assume bounded<0, 100>, %x : tile<i32>
  %c200 = constant <i32: 200> : tile<i32>
  %b = cmpi less_than %n, %c200, signed : tile<i32> -> tile<i1>
  %r = select %b, %n, %y : tile<i1>, tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
