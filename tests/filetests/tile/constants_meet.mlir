// Constants of a chain of sums become one.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>) {
  %c3 = constant <i32: 3> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %s = addi %x, %c3 : tile<i32>
  %u = addi %s, %c4 : tile<i32>
  %r = subi %u, %c3 : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
