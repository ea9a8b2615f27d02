// A product and a sum are one mad.
// run: compile --gpu-name sm_80
// show: mad.lo | mul.lo | add.s
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) {
  %m = muli %x, %y : tile<i32>
  %r = addi %m, %z : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
